"""Traces as data: those of several texts in a row, and as an xarray.Dataset with named axes."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from jaxtyping import Int
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.models.config import optional
from ffnviz.models.encoder.attention import AttentionStages
from ffnviz.models.encoder.feed_forward import FeedForwardRecord, GatedFeedForwardRecord
from ffnviz.models.encoder.tokenizer import Token
from ffnviz.models.network import NotForThisNetwork
from ffnviz.models.trace import BlockTrace, LazyValue, StreamTrace, Trace
from ffnviz.models.trace_file import MADE_BY, STREAMS


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class JoinedTrace(StreamTrace):
    """The tokens of several texts in a row, for what is counted or averaged over all of them.

    Shapes are as in StreamTrace, with T the tokens of all. An attention is that of one text: it is
    found in `traces`.

    Attributes:
        traces: those that were joined.
        texts: for each token, the place of its text among them, (T,). Each text keeps the edits
            that were made in it, `traces[…].edits`.
        places: for each token, its place in its text, (T,).

    Examples:
        >>> row = ffnviz.Trace.cat(ffnviz.load("relu").traces(["It was late.", "It rained."]))
        >>> row.blocks[0].ffn.hidden.shape, row.texts.tolist(), row.tokens[4].text
        (torch.Size([8, 2048]), [0, 0, 0, 0, 1, 1, 1, 1], 'It')
    """

    traces: tuple[Trace, ...]
    texts: Int[Tensor, "tokens"]
    places: Int[Tensor, "tokens"]

    def __repr__(self) -> str:
        n_edited = sum(bool(trace.edits) for trace in self.traces)
        edited = f", {n_edited} with edits" * bool(n_edited)
        return f"JoinedTrace({len(self.traces)} texts, {len(self.ids)} tokens{edited})"

    @property
    def tokens(self) -> tuple[Token, ...]:
        """The token of each row, with its stretch of its own text, `traces[texts[row]].text`."""
        return tuple(token for trace in self.traces for token in trace.tokens)

    def to_xarray(self, logits: bool = False) -> Any:
        """See Trace.to_xarray; `text` and `place` are further coordinates of each token."""
        table = dataset(self, self.tokens, logits)
        text, place = ("token", self.texts.numpy()), ("token", self.places.numpy())
        return table.assign_coords(text=text, place=place)

    def to_pandas(self) -> Any:
        """See Trace.to_pandas; `text` and `place` are further columns."""
        table = frame(self, self.tokens)
        at = table.index.get_level_values("token")
        return table.assign(text=self.texts.numpy()[at], place=self.places.numpy()[at])


def joined(traces: Iterable[Trace]) -> JoinedTrace:
    """The tokens of several traces in a row; see Trace.cat."""
    if isinstance(traces, StreamTrace | str) or not isinstance(traces, Iterable):
        raise TypeError("Give traces in a list, even a single one: [trace].")
    given: tuple[object, ...] = tuple(traces)
    parts = tuple(part for part in given if isinstance(part, Trace))
    if other := [part for part in given if not isinstance(part, Trace)]:
        raise TypeError(f"There is a {type(other[0]).__name__} among them: give traces of texts.")
    if not parts:
        raise ValueError("There are no traces to be joined.")
    widths = {(len(trace.blocks), trace.embedding.shape[-1]) for trace in parts}
    if len(widths) > 1:
        raise ValueError(f"These traces are of networks of different sizes: {sorted(widths)}.")
    made_by = {vars(trace).get(MADE_BY) for trace in parts} - {None}
    if len(made_by) > 1 or any(trace.network is not parts[0].network for trace in parts):
        raise ValueError(
            "These traces are of different networks, or some were saved and have none: join those "
            "of one network."
        )
    lengths = [len(trace.tokens) for trace in parts]
    return JoinedTrace(
        torch.cat([trace.ids for trace in parts]),
        torch.cat([trace.embedding for trace in parts]),
        tuple(_joined_block(parts, number) for number in range(len(parts[0].blocks))),
        torch.cat([trace.final for trace in parts]),
        parts[0].unembed,
        traces=parts,
        texts=torch.repeat_interleave(torch.arange(len(parts)), torch.tensor(lengths)),
        places=torch.cat([torch.arange(n) for n in lengths]),
    )


def _joined_block(traces: tuple[Trace, ...], number: int) -> BlockTrace:
    blocks = [trace.blocks[number] for trace in traces]
    behind = [block.behind_ffn for block in blocks if block.behind_ffn is not None]
    return BlockTrace(
        torch.cat([block.input for block in blocks]),
        torch.cat([block.middle for block in blocks]),
        torch.cat([block.output for block in blocks]),
        LazyValue[AttentionStages](_no_attention),
        LazyValue[FeedForwardRecord](partial(_joined_ffn_stages, traces, number)),
        torch.cat(behind) if behind else None,
    )


def _joined_ffn_stages(traces: tuple[Trace, ...], number: int) -> FeedForwardRecord:
    """A block's FFN stages of all traces; what a trace holds is not computed again."""
    stages = []
    for trace in traces:
        lazy = trace.blocks[number].ffn_stages
        held = lazy.held
        stages.append(lazy.get())
        if held is None:
            lazy.forget()  # here it is kept once, for all
    kind = type(stages[0])
    return kind(**{name: torch.cat([getattr(s, name) for s in stages]) for name in vars(stages[0])})


def _no_attention() -> AttentionStages:
    raise NotForThisNetwork("Attention is within a text: see the blocks of `traces`.")


def dataset(trace: StreamTrace, tokens: Iterable[Any], logits: bool) -> Any:
    """The streams and FFNs' stages of a trace without a batch dimension; see Trace.to_xarray."""
    xarray = optional("xarray", "to_xarray")
    streams = ("block", "token", "component")
    columns: dict[str, Any] = {
        name: (streams, _stacked([getattr(block, name) for block in trace.blocks]))
        for name in STREAMS
    }
    if any(block.behind_ffn is not None for block in trace.blocks):
        behind = [b.output if b.behind_ffn is None else b.behind_ffn for b in trace.blocks]
        columns["behind_ffn"] = (streams, _stacked(behind))
    records = [block.ffn for block in trace.blocks]
    columns["ffn_input"] = (streams, _stacked([record.input for record in records]))
    columns["ffn_output"] = (streams, _stacked([record.output for record in records]))
    neurons = ("block", "token", "neuron")
    columns |= {name: (neurons, values) for name, values in _neuron_values(records).items()}
    columns["embedding"] = (streams[1:], trace.embedding.cpu().numpy())
    columns["final"] = (streams[1:], trace.final.cpu().numpy())
    if logits:
        columns["logits"] = (("token", "word"), trace.logits.float().cpu().numpy())
    ids = ("token", trace.ids.cpu().numpy())
    return xarray.Dataset(columns, {"word_typed": ("token", _words(tokens)), "id": ids})


def frame(trace: StreamTrace, tokens: Iterable[Any]) -> Any:
    """The FFNs' neurons of a trace without a batch dimension; see Trace.to_pandas."""
    pandas = optional("pandas", "to_pandas")
    columns = _neuron_values([block.ffn for block in trace.blocks])
    shape = columns["hidden"].shape
    places = pandas.MultiIndex.from_product(map(range, shape), names=["block", "token", "neuron"])
    table = pandas.DataFrame({name: column.reshape(-1) for name, column in columns.items()}, places)
    table.insert(0, "word", np.array(_words(tokens), dtype=object)[places.codes[1]])
    return table


def _neuron_values(records: list[FeedForwardRecord]) -> dict[str, NDArray[np.float32]]:
    """What the FFNs' neurons computed, by its name, (n_blocks, T, d_ff) each."""
    is_gated = isinstance(records[0], GatedFeedForwardRecord)
    names = ["pre_activation", "hidden", *(["value"] if is_gated else [])]
    return {name: _stacked([getattr(record, name) for record in records]) for name in names}


def _words(tokens: Iterable[Any]) -> list[str]:
    return [token.special or token.text for token in tokens]


def _stacked(values: list[Tensor]) -> NDArray[np.float32]:
    stacked: NDArray[np.float32] = torch.stack(values).float().cpu().numpy()
    return stacked
