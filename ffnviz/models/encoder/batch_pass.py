"""A pass over a batch of texts that keeps the stream, a trace a text."""

from collections.abc import Iterator, Sequence
from functools import partial

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


@torch.no_grad()
def batch_pass(
    encoder: Encoder, ids: Tensor, attention_mask: Tensor | None, edits: Sequence[Edit]
) -> Iterator[StreamTrace]:
    """The traces of a batch's texts, without their padding.

    Args:
        encoder: computes them.
        ids: (B, T).
        attention_mask: False at padding, (B, T); None if all texts are as long.
        edits: made in each text.
    """
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
            blocks.append(block_trace(encoder.blocks[number], stream, edits_of(edits, number)))
        yield StreamTrace(
            ids[row, :n], embedding[row, :n], tuple(blocks), final[row, :n], encoder.unembed
        )


def block_trace(
    block: Block,
    stream: tuple[Tensor, Tensor, Tensor],
    edits: tuple[Edit, ...],
    ffn_stages: FeedForwardRecord | None = None,
) -> BlockTrace:
    """A block's part of a trace.

    Args:
        block: computes the stages when they are asked for.
        stream: before, in and after it.
        edits: of this block.
        ffn_stages: the FFN's stages, if they are kept from the pass.
    """
    attention = LazyValue[AttentionStages](partial(block.attend, stream[0], edits))
    return BlockTrace(
        *stream, attention, LazyValue(partial(block.feed, stream[1], edits), ffn_stages)
    )
