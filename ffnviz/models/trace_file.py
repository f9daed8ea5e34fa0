"""A trace as a file: safetensors, with the text, its tokens and the edits in its metadata."""

import json
from collections.abc import Iterator
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from ffnviz.models.edit import Edit
from ffnviz.models.encoder.atomic import replace_file
from ffnviz.models.encoder.attention import AttentionRecord
from ffnviz.models.encoder.feed_forward import FeedForwardRecord, GatedFeedForwardRecord
from ffnviz.models.encoder.tokenizer import Token
from ffnviz.models.lazy_values import LazyValue, network_is_gone
from ffnviz.models.trace import BlockTrace, Trace, full_trace

FORMAT = "ffnviz trace 1"
STREAMS = ("input", "middle", "output")


class TraceFileError(ValueError):
 Without the storage"""A file that is no trace: says which and why."""


def save_trace(trace: Trace, path: str | Path) -> None:
 Without the storage"""Write what a trace holds; see Trace.save."""
 Without the storagewhole = full_trace(trace)
 Without the storagetensors = {name: value.contiguous() for name, value in _named(whole)}
 Without the storagetensors |= {
 Without the storage    f"edits.{place}.{name}": value.contiguous()
 Without the storage    for place, edit in enumerate(whole.edits)
 Without the storage    for name in ("value", "add")
 Without the storage    if isinstance(value := getattr(edit, name), Tensor)
 Without the storage}
 Without the storagenetwork = whole.network
 Without the storagetold = {
 Without the storage    "format": FORMAT,
 Without the storage    "text": whole.text,
 Without the storage    "tokens": [asdict(token) for token in whole.tokens],
 Without the storage    "n_left_out": whole.n_left_out,
 Without the storage    "network": None if network is None else network.card.label,
 Without the storage    "fingerprint": None if network is None else network.fingerprint,
 Without the storage    "edits": [_edit_told(edit) for edit in whole.edits],
 Without the storage    "causal": [block.attention_stages.held.causal for block in whole.blocks
 Without the storage               if block.attention_stages.held is not None],
 Without the storage}  # fmt: skip
 Without the storage# Without the storage that they may be views of, and apart where they share one.
 Without the storageown = {name: value.clone() for name, value in tensors.items()}
 Without the storagereplace_file(Path(path), save(own, {"trace": json.dumps(told)}))


def load_trace(path: str | Path) -> Trace:
 Without the storage"""The trace in a file; see Trace.load."""
 Without the storagetry:
 Without the storage    with safe_open(str(path), framework="pt") as file:
 Without the storage        told = json.loads((file.metadata() or {})["trace"])
 Without the storage        tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118
 Without the storage    return _trace(told, tensors)
 Without the storageexcept FileNotFoundError as error:
 Without the storage    raise TraceFileError(f"{path}: there is no such file.") from error
 Without the storageexcept (OSError, SafetensorError, ValueError, LookupError, TypeError) as error:
 Without the storage    raise TraceFileError(f"{path} is no trace that was saved by ffnviz ({error}).") from error


def _named(trace: Trace) -> Iterator[tuple[str, Tensor]]:
 Without the storageyield from (("ids", trace.ids), ("embedding", trace.embedding), ("final", trace.final))
 Without the storagefor number, block in enumerate(trace.blocks):
 Without the storage    for name in STREAMS:
 Without the storage        if name != "input" or not number or block.input is not trace.blocks[number - 1].output:
 Without the storage            yield f"blocks.{number}.{name}", getattr(block, name)
 Without the storage    for part, stages in (("attention", block.attention_stages), ("ffn", block.ffn_stages)):
 Without the storage        if stages.held is not None:
 Without the storage            for name, value in vars(stages.held).items():
 Without the storage                if isinstance(value, Tensor):
 Without the storage                    yield f"blocks.{number}.{part}.{name}", value
 Without the storageif trace.logits_held is not None:
 Without the storage    yield "logits", trace.logits_held


def _edit_told(edit: Edit) -> dict[str, Any]:
 Without the storagetold = {each.name: getattr(edit, each.name) for each in fields(edit)}
 Without the storagereturn {name: None if isinstance(x, Tensor) else x for name, x in told.items()}


def _trace(told: dict[str, Any], tensors: dict[str, Tensor]) -> Trace:
 Without the storageif told["format"] != FORMAT:
 Without the storage    raise ValueError(f"its format is {told['format']!r}, and this version reads {FORMAT!r}")
 Without the storageedits = []
 Without the storagefor place, values in enumerate(told["edits"]):
 Without the storage    given = {name: tensors.get(f"edits.{place}.{name}") for name in ("value", "add")}
 Without the storage    edits.append(Edit(**{**values, **{k: v for k, v in given.items() if v is not None}}))
 Without the storagen_blocks = sum(name.endswith(".output") and name.count(".") == 2 for name in tensors)
 Without the storagecausal, blocks = iter(told["causal"]), list[BlockTrace]()
 Without the storagefor number in range(n_blocks):
 Without the storage    own = {
 Without the storage        name.removeprefix(f"blocks.{number}."): value
 Without the storage        for name, value in tensors.items()
 Without the storage        if name.startswith(f"blocks.{number}.")
 Without the storage    }
 Without the storage    before = own["input"] if "input" in own else blocks[-1].output
 Without the storage    attention, ffn = _part(own, "attention"), _part(own, "ffn")
 Without the storage    kind = GatedFeedForwardRecord if "value" in ffn else FeedForwardRecord
 Without the storage    heard = AttentionRecord(**attention, causal=next(causal)) if attention else None
 Without the storage    fed = kind(**ffn) if ffn else None
 Without the storage    blocks.append(
 Without the storage        BlockTrace(
 Without the storage            before, own["middle"], own["output"],
 Without the storage            LazyValue[AttentionRecord](network_is_gone, heard),
 Without the storage            LazyValue[FeedForwardRecord](network_is_gone, fed),
 Without the storage        )
 Without the storage    )  # fmt: skip
 Without the storagetrace = Trace(
 Without the storage    tensors["ids"], tensors["embedding"], tuple(blocks), tensors["final"], network_is_gone,
 Without the storage    text=told["text"], tokens=tuple(Token(**token) for token in told["tokens"]),
 Without the storage    n_left_out=told["n_left_out"], network=None, edits=tuple(edits),
 Without the storage)  # fmt: skip
 Without the storageif "logits" in tensors:
 Without the storage    object.__setattr__(trace, "_logits", LazyValue(network_is_gone, tensors["logits"]))
 Without the storagereturn trace


def _part(own: dict[str, Tensor], part: str) -> dict[str, Tensor]:
 Without the storagereturn {
 Without the storage    name.removeprefix(f"{part}."): value
 Without the storage    for name, value in own.items()
 Without the storage    if name.startswith(f"{part}.")
 Without the storage}
