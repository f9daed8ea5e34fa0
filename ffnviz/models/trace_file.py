"""A trace as a file: safetensors, with the text, its tokens and the edits in its metadata."""

import json
from collections.abc import Iterator
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from ffnviz.models.arguments import path_of
from ffnviz.models.card import Sizes
from ffnviz.models.edit import Edit, edits_of
from ffnviz.models.encoder.atomic import replace_file
from ffnviz.models.encoder.attention import AttentionPatterns, AttentionRecord, AttentionStages
from ffnviz.models.encoder.feed_forward import FeedForwardRecord, GatedFeedForwardRecord
from ffnviz.models.encoder.tokenizer import Token
from ffnviz.models.token_slice import full_trace
from ffnviz.models.trace import BlockTrace, LazyValue, Trace, network_is_gone

FORMAT = "ffnviz trace 1"
MADE_BY = "_made_by"  # the fingerprint of the network of a trace that was saved
STREAMS = ("input", "middle", "output")


class TraceFileError(ValueError):
    """A file is not a trace: the message says which and why.

    Examples:
        >>> ffnviz.Trace.load("not-there")
        Traceback (most recent call last):
            ...
        ffnviz.models.trace_file.TraceFileError: not-there: there is no such file.
    """


def save_trace(trace: Trace, path: str | Path) -> None:
    """Write what a trace holds; see Trace.save."""
    whole = full_trace(trace)
    tensors = dict(_named(whole)) | {
        f"edits.{place}.{name}": value
        for place, edit in enumerate(whole.edits)
        for name in ("value", "add")
        if isinstance(value := getattr(edit, name), Tensor)
    }
    network = whole.network
    attention = [block.attention_stages.held for block in whole.blocks]
    header = {
        "format": FORMAT,
        "text": whole.text,
        "tokens": [asdict(token) for token in whole.tokens],
        "n_left_out": whole.n_left_out,
        "network": None if network is None else network.card.label,
        "fingerprint": vars(whole).get(MADE_BY) if network is None else network.fingerprint,
        "edits": [_edit_values(edit) for edit in whole.edits],
        "causal": [each.causal for each in attention if each is not None],
    }
    # Clones, as safetensors takes no two tensors that share a storage.
    clones = {name: value.contiguous().clone() for name, value in tensors.items()}
    replace_file(path_of(path), save(clones, {"trace": json.dumps(header)}))


def load_trace(path: str | Path) -> Trace:
    """The trace in a file; see Trace.load."""
    if path_of(path).is_dir():
        raise TraceFileError(f"{str(path)!r} is a folder, and a trace is a file.")
    try:
        with safe_open(str(path), framework="pt") as file:
            header = json.loads((file.metadata() or {})["trace"])
            # Into memory of its own: where a file's bytes begin decides a kernel's last bits.
            tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118
        return _trace(header, tensors)
    except FileNotFoundError as error:
        raise TraceFileError(f"{path}: there is no such file.") from error
    except (OSError, SafetensorError, ValueError, LookupError, TypeError) as error:
        raise TraceFileError(f"{path} is not a trace saved by ffnviz ({error}).") from error


def _named(trace: Trace) -> Iterator[tuple[str, Tensor]]:
    yield from (("ids", trace.ids), ("embedding", trace.embedding), ("final", trace.final))
    for number, block in enumerate(trace.blocks):
        for name in STREAMS:
            if name != "input" or not number or block.input is not trace.blocks[number - 1].output:
                yield f"blocks.{number}.{name}", getattr(block, name)
        if block.behind_ffn is not None:
            yield f"blocks.{number}.behind_ffn", block.behind_ffn
        for part, stages in (("attention", block.attention_stages), ("ffn", block.ffn_stages)):
            if stages.held is not None:
                for name, value in vars(stages.held).items():
                    if isinstance(value, Tensor):
                        yield f"blocks.{number}.{part}.{name}", value
    if trace.logits_held is not None:
        yield "logits", trace.logits_held


def _edit_values(edit: Edit) -> dict[str, Any]:
    """An edit's fields as JSON, without its tensors."""
    values = {each.name: getattr(edit, each.name) for each in fields(edit)}
    return {name: None if isinstance(x, Tensor) else x for name, x in values.items()}


def _trace(header: dict[str, Any], tensors: dict[str, Tensor]) -> Trace:
    if header["format"] != FORMAT:
        raise ValueError(f"its format is {header['format']!r}, and this version reads {FORMAT!r}")
    edits = []
    for place, values in enumerate(header["edits"]):
        edits.append(Edit(**values | _under(tensors, f"edits.{place}.")))
    n_blocks = sum(name.endswith(".output") and name.count(".") == 2 for name in tensors)
    causal, blocks = iter(header["causal"]), list[BlockTrace]()
    for number in range(n_blocks):
        own = _under(tensors, f"blocks.{number}.")
        before = own["input"] if "input" in own else blocks[-1].output
        attention, ffn = _under(own, "attention."), _under(own, "ffn.")
        ffn_kind = GatedFeedForwardRecord if "value" in ffn else FeedForwardRecord
        attention_kind = AttentionPatterns if "weights" in attention else AttentionRecord
        attention_stages = None
        if attention:
            own_edits = _of_heads(edits, number, n_blocks, attention["values"])
            attention_stages = attention_kind(**attention, causal=next(causal), edits=own_edits)
        ffn_stages = ffn_kind(**ffn) if ffn else None
        blocks.append(
            BlockTrace(
                before,
                own["middle"],
                own["output"],
                LazyValue[AttentionStages](network_is_gone, attention_stages),
                LazyValue[FeedForwardRecord](network_is_gone, ffn_stages),
                own.get("behind_ffn"),
            )
        )
    trace = Trace(
        tensors["ids"],
        tensors["embedding"],
        tuple(blocks),
        tensors["final"],
        network_is_gone,
        text=header["text"],
        tokens=tuple(Token(**token) for token in header["tokens"]),
        n_left_out=header["n_left_out"],
        network=None,
        edits=tuple(edits),
    )
    vars(trace)[MADE_BY] = header.get("fingerprint")
    if "logits" in tensors:
        object.__setattr__(trace, "_logits", LazyValue(network_is_gone, tensors["logits"]))
    return trace


def _of_heads(edits: list[Edit], number: int, n_blocks: int, values: Tensor) -> tuple[Edit, ...]:
    """The edits that were made in a block's z, with heads as their components."""
    n_heads, n_tokens, d_head = values.shape
    sizes = Sizes(n_heads * d_head, 0, n_blocks, 0, n_tokens)
    shape = n_heads, d_head
    at_heads = [e.settled(sizes, n_tokens, lambda _: shape) for e in edits if e.at == "heads"]
    return edits_of(at_heads, number)


def _under(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The tensors whose names begin so, by the rest of their names."""
    return {
        name.removeprefix(prefix): value
        for name, value in tensors.items()
        if name.startswith(prefix)
    }
