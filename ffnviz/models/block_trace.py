"""What one block computed in a pass: the streams are kept, the stages are computed on demand."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from jaxtyping import Float
from torch import Tensor

from ffnviz.models.encoder.attention import AttentionStages
from ffnviz.models.encoder.feed_forward import FeedForwardRecord
from ffnviz.models.lazy_values import LazyValue, compact


@dataclass(frozen=True, eq=False, repr=False)
class BlockTrace:
    """A block's part of a pass: the streams, and its stages on demand.

    Attributes:
        input: the residual stream before the block, (*batch, T, d_model).
        middle: the stream between attention and FFN, (*batch, T, d_model).
        output: the stream after the block, (*batch, T, d_model).
        attention_stages: computes `attention`.
        ffn_stages: computes `ffn`, with the edits of this pass.

    Examples:
        >>> model = ffnviz.load("relu")
        >>> trace = model.trace("How [MASK] they know?")
        >>> block = trace.blocks[1]
        >>> torch.equal(block.input, trace.blocks[0].output)
        True
        >>> torch.allclose(block.input + block.attention.output, block.middle, atol=1e-5)
        True
        >>> torch.allclose(block.middle + block.ffn.output, block.output, atol=1e-5)
        True
    """

    input: Float[Tensor, "*batch tokens d_model"]
    middle: Float[Tensor, "*batch tokens d_model"]
    output: Float[Tensor, "*batch tokens d_model"]
    attention_stages: LazyValue[AttentionStages] = field(repr=False)
    ffn_stages: LazyValue[FeedForwardRecord] = field(repr=False)

    def __repr__(self) -> str:
        return f"BlockTrace(streams {tuple(self.output.shape)})"

    @property
    def attention(self) -> AttentionStages:
        """The attention's stages; of others' networks, one second pass has all blocks'."""
        return self.attention_stages.get()

    @property
    def ffn(self) -> FeedForwardRecord:
        """The FFN's stages, to the bit what the pass had."""
        return self.ffn_stages.get()

    def __getstate__(self) -> dict[str, Any]:
        return {name: compact(value) for name, value in vars(self).items()}

    def forget(self) -> None:
        """Let go of the stages; the streams stay."""
        self.attention_stages.forget()
        self.ffn_stages.forget()

    def tensors(self) -> Iterator[Tensor]:
        """All tensors that are held now; computes nothing."""
        yield from (self.input, self.middle, self.output)
        yield from self.attention_stages.tensors()
        yield from self.ffn_stages.tensors()
