"""A pass over a batch of texts that keeps the stream, a trace a text."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from ffnviz.models.block_trace import BlockTrace
from ffnviz.models.edit import Edit, edits_of
from ffnviz.models.encoder.attention import AttentionStages
from ffnviz.models.encoder.block import Block
from ffnviz.models.encoder.encoder import Encoder
from ffnviz.models.encoder.feed_forward import FeedForwardRecord
from ffnviz.models.lazy_values import LazyValue
from ffnviz.models.trace import StreamTrace
from ffnviz.models.weights import AsThen, WeightsWatch


@torch.no_grad()
def batch_pass(
    encoder: Encoder,
    watch: WeightsWatch,
    ids: Tensor,
    attention_mask: Tensor | None,
    edits: Sequence[Edit],
) -> Iterator[StreamTrace]:
    """The traces of a batch's texts, without their padding.

    Args:
        encoder: computes them.
        watch: of its weights.
        ids: (B, T).
        attention_mask: False at padding, (B, T); None if all texts are as long.
        edits: made in each text.
    """
    guard = partial(AsThen, watch, watch.state())
    embedding = x = encoder.embed(ids)
    streams = []
    for number, module in enumerate(encoder.blocks):
        streams.append(module.stream(x, edits_of(edits, number), attention_mask))
        x = streams[-1][-1]
    final = encoder.final_norm(streams[-1][-1])
    lengths = (
        [ids.shape[1]] * len(ids) if attention_mask is None else attention_mask.sum(1).tolist()
    )
    for row, n in enumerate(lengths):
        blocks = []
        for number, (before, middle, after) in enumerate(streams):
            stream = (before[row, :n], middle[row, :n], after[row, :n])
            own = edits_of(edits, number)
            blocks.append(block_trace(encoder.blocks[number], stream, own, guard))
        yield StreamTrace(
            ids[row, :n], embedding[row, :n], tuple(blocks), final[row, :n],
            guard(encoder.unembed),
        )  # fmt: skip


def block_trace(
    block: Block,
    stream: tuple[Tensor, Tensor, Tensor],
    edits: tuple[Edit, ...],
    guard: Callable[[Callable[..., Any]], Callable[..., Any]],
    ffn_stages: FeedForwardRecord | None = None,
    attention_stages: AttentionStages | None = None,
) -> BlockTrace:
    """A block's part of a trace.

    Args:
        block: computes the stages when they are asked for.
        stream: before, in and after it.
        edits: of this block.
        guard: makes sure that the weights are those of the pass.
        ffn_stages: the FFN's stages, if they are kept from the pass.
        attention_stages: the attention's, likewise.
    """
    attend, feed = partial(block.attend, stream[0], edits), partial(block.feed, stream[1], edits)
    attention = LazyValue[AttentionStages](guard(attend), attention_stages)
    return BlockTrace(*stream, attention, LazyValue(guard(feed), ffn_stages))
