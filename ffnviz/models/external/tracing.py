"""What a recorded pass becomes: a trace that keeps the stream and computes stages when asked."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from ffnviz.models.edit import Edit
from ffnviz.models.encoder.attention import AttentionPatterns
from ffnviz.models.encoder.feed_forward import FeedForwardRecord
from ffnviz.models.external import views
from ffnviz.models.external.hooks import SeenBlock, heads_seen, there, unwatched
from ffnviz.models.external.proof import ProvedBlock
from ffnviz.models.external.stream_roles import PARALLEL
from ffnviz.models.lazy_values import LazyValue
from ffnviz.models.network import NotForThisNetwork
from ffnviz.models.trace import BlockTrace

UNSEEN = (
    "its attention multiplies patterns with values in no way that is known here, or what comes of "
    "it is not what it writes. Only its FFNs are taken apart."
)


@dataclass(frozen=True, eq=False)
class RecordedPass:
    """One block of a recorded pass."""

    proved: ProvedBlock  # who does what in it
    seen: SeenBlock  # what was recorded
    edits: tuple[Edit, ...]  # that were made in it
    shape: torch.Size  # of the ids, (*batch, T)


@dataclass(frozen=True, eq=False)
class AttentionPass:
    """What tells what a block's heads did, when somebody asks."""

    proved: ProvedBlock  # who does what in it
    block: int  # its place
    ids: Tensor  # (*batch, T)
    edits: tuple[Edit, ...]  # of all blocks
    causal: bool  # whether no token hears what comes later


def block_trace(
    each: RecordedPass, before: Tensor, attention: Callable[[], AttentionPatterns]
) -> BlockTrace:
    """The block's part of a trace.

    Args:
        each: the pass.
        before: the stream that it reads, (*batch, T, d_model).
        attention: computes what its heads did.
    """
    proved, seen, shape = each.proved, each.seen, each.shape
    middle = as_kept(_middle(proved, seen), shape)
    read, edits = _reader(proved, seen, before, middle), each.edits

    def stages() -> FeedForwardRecord:
        return _shaped(views.ffn_stages(proved, edits, read()), shape)

    held = None
    if seen.up is not None and seen.hidden is not None and seen.written is not None:
        x, (pre, value) = there(seen.ffn_input), proved.ffn.split(seen.up, seen.gate)
        record = views.as_record(proved, x, pre, value, seen.hidden, seen.written)
        held = _shaped(record, shape)
    return BlockTrace(
        before,
        middle,
        as_kept(there(seen.output), shape),
        LazyValue(attention),
        LazyValue(stages, held),
    )


def _middle(proved: ProvedBlock, seen: SeenBlock) -> Tensor:
    """The stream between attention and FFN; parallel, what attention alone would have left."""
    stream = proved.stream
    if seen.attention is not None:
        return seen.input + stream.multiplier * seen.attention
    return there(seen.ffn_input if stream.norm_before is None else seen.middle)


def as_kept(values: Tensor, shape: torch.Size) -> Tensor:
    """Values of a pass, (B, T, width), in the shape of the ids and in float32 at least."""
    return views.plain(values).reshape(*shape, values.shape[-1])


def _reader(
    proved: ProvedBlock, seen: SeenBlock, before: Tensor, middle: Tensor
) -> Callable[[], Tensor]:
    """What makes the FFN's input again, from the stream that is kept, by the norm in front of it.

    In the shape and precision of the pass: others might be rounded in another way.
    """
    x, norm, parallel = there(seen.ffn_input), proved.stream.norm_before, proved.stream.kind
    if norm is None and parallel == PARALLEL:
        return lambda: x
    stream, shape, dtype = before if parallel == PARALLEL else middle, x.shape, x.dtype

    @torch.inference_mode()
    def read() -> Tensor:
        same = stream.reshape(shape).to(dtype)
        if norm is None:
            return same
        with unwatched():
            normed: Tensor = norm.module(same)
            return normed

    return read


def _shaped(record: FeedForwardRecord, shape: torch.Size) -> FeedForwardRecord:
    values: dict[str, Any] = {
        name: stage.reshape(*shape, stage.shape[-1]) for name, stage in vars(record).items()
    }
    return type(record)(**values)


def attention_stages(model: nn.Module, each: AttentionPass, label: str) -> AttentionPatterns:
    """What a block's heads did, from a second pass up to there.

    Raises:
        NotForThisNetwork: if no equation holds for what was seen of them.
    """
    proved, shape = each.proved, each.ids.shape
    if proved.attention is None or proved.attention.heads is None:
        raise NotForThisNetwork(f"Not for {label}: {UNSEEN}")
    seen = heads_seen(model, each.ids.reshape(-1, shape[-1]), each.block, each.edits)
    mix = seen.mixes[proved.attention.heads.place]
    weights, values = (
        views.plain(x).reshape(*shape[:-1], -1, *x.shape[-2:]) for x in (mix.weights, mix.values)
    )
    wrote = proved.attention.multiplier * there(seen.heads_wrote)
    return AttentionPatterns(
        as_kept(there(seen.heads_read), shape), weights, values, as_kept(wrote, shape), each.causal
    )
