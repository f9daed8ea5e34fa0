"""From a recorded pass to a trace, which keeps the stream and computes stages when asked."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from ffnviz.models.edit import Edit, edits_of
from ffnviz.models.encoder.attention import AttentionPatterns, AttentionStages
from ffnviz.models.encoder.feed_forward import FeedForwardRecord
from ffnviz.models.external import views
from ffnviz.models.external.compare import wide
from ffnviz.models.external.hooks import RecordedBlock, recorded, unrecorded
from ffnviz.models.external.proof import Proof, ProvedBlock
from ffnviz.models.external.roles import PARALLEL, split
from ffnviz.models.external.views import in_shape
from ffnviz.models.external.watch import Mix
from ffnviz.models.network import NotForThisNetwork
from ffnviz.models.trace import BlockTrace, LazyValue, SharedValues

UNSEEN = (
    "ffnviz does not recognise how its attention combines patterns and values, or the result is "
    "not what it writes. Only its FFNs are taken apart."
)


@dataclass(frozen=True, eq=False)
class SeenHeads:
    """What was recorded of one block's heads."""

    read: Tensor  # what they read, (B, T, d_model)
    wrote: Tensor  # what the attention wrote, before any multiplier, (B, T, d_model)
    mix: Mix
    held: tuple[Tensor, ...]  # of the mix


Guard = Callable[[Callable[..., Any]], Callable[..., Any]]  # makes sure of the weights first


def block_trace(
    proved: ProvedBlock,
    block: RecordedBlock,
    edits: tuple[Edit, ...],
    before: Tensor,
    attention: LazyValue[AttentionStages],
    guard: Guard,
) -> BlockTrace:
    """A block's part of a trace; `before` is the stream that it reads, (*batch, T, d_model)."""
    shape, stream = before.shape[:-1], proved.stream
    if block.attention is not None:  # parallel: what attention alone would have left
        between = block.input + stream.multiplier * block.attention
    else:
        between = recorded(block.ffn_input if stream.norm_before is None else block.middle)
    middle = in_shape(between, shape)
    ffn_input = _recomputed_input(proved, block, before, middle)

    def stages() -> FeedForwardRecord:
        return views.ffn_stages(proved, edits, ffn_input(), shape)

    held = None
    if block.up is not None and block.hidden is not None and block.written is not None:
        x, (pre, value) = recorded(block.ffn_input), split(block.up, block.gate, proved.ffn.half)
        held = views.as_record(proved, shape, x, pre, value, block.hidden, block.written)
    after = in_shape(recorded(block.output), shape)
    behind_ffn = None
    if stream.goes_on:
        behind_ffn = in_shape(between + recorded(block.added), shape)
    return BlockTrace(before, middle, after, attention, LazyValue(guard(stages), held), behind_ffn)


def _recomputed_input(
    proved: ProvedBlock, block: RecordedBlock, before: Tensor, middle: Tensor
) -> Callable[[], Tensor]:
    """What computes the FFN's input again, from the stream that is kept and the norm that reads it.

    In the shape and precision of the pass: others might be rounded in another way.
    """
    x, norm = recorded(block.ffn_input), proved.stream.norm_before
    parallel = proved.stream.kind == PARALLEL
    if norm is None and parallel:
        return lambda: x
    stream, shape, dtype = before if parallel else middle, x.shape, x.dtype

    @torch.no_grad()
    def compute() -> Tensor:
        read = stream.reshape(shape).to(dtype)
        with unrecorded():
            return read if norm is None else norm.module(read)

    return compute


def seen_heads(proof: Proof, blocks: Sequence[RecordedBlock]) -> list[SeenHeads | None]:
    """What was recorded of the heads of each block; None where they are not seen."""
    seen: list[SeenHeads | None] = []
    for proved, block in zip(proof.blocks, blocks, strict=True):
        if proved.attention is None or proved.attention.heads is None:
            seen.append(None)
            continue
        mix = block.mixes[proved.attention.heads.place]
        held = (*mix.held, mix.values)
        seen.append(SeenHeads(recorded(block.heads_read), recorded(block.heads_wrote), mix, held))
    return seen


def attention_of(
    proof: Proof,
    label: str,
    source: SharedValues[SeenHeads | None],
    shape: torch.Size,
    edits: Sequence[Edit],
) -> list[LazyValue[AttentionStages]]:
    """Each block's attention on demand: all come from one recording. `shape` is (*batch, T)."""

    def stages(number: int) -> AttentionPatterns:
        attention = proof.blocks[number].attention
        if attention is None or attention.heads is None:
            raise NotForThisNetwork(f"Not for {label}: {UNSEEN}")
        heads = source.take(number)
        if heads is None:
            raise RuntimeError("a tested module did not run")
        mix = heads.mix.weights, heads.mix.values
        weights, values = (wide(x).reshape(*shape[:-1], -1, *x.shape[-2:]) for x in mix)
        read, output = in_shape(heads.read, shape), attention.multiplier * heads.wrote
        own = edits_of(edits, number, "heads")
        return AttentionPatterns(read, weights, values, in_shape(output, shape), proof.causal, own)

    numbers = range(len(proof.blocks))
    return [LazyValue(partial(stages, number), source=source) for number in numbers]
