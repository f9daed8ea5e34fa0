"""One encoder block: attention, then the FFN, each added to the residual stream."""

from collections.abc import Sequence
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor, nn

from ffnviz.model.attention import AttentionRecord, SelfAttention
from ffnviz.model.config import EncoderConfig
from ffnviz.model.edit import Edit
from ffnviz.model.feed_forward import FeedForwardRecord, feed_forward


@dataclass(frozen=True)
class BlockRecord:
    """Every stage of one pass through a block.

    Attributes:
        input: the residual stream before the block, (*batch, T, d_model).
        attention: the attention's stages.
        middle: the stream between attention and FFN, (*batch, T, d_model).
        ffn: the FFN's stages.
        output: the stream after the block, (*batch, T, d_model).
    """

    input: Float[Tensor, "*batch tokens d_model"]
    attention: AttentionRecord
    middle: Float[Tensor, "*batch tokens d_model"]
    ffn: FeedForwardRecord
    output: Float[Tensor, "*batch tokens d_model"]


class Block(nn.Module):
    """What both kinds of block share: the sub-layers and their LayerNorms."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(config.d_model, config.layer_norm_eps)
        self.attention = SelfAttention(
            config.d_model, config.n_heads, config.causal, config.dropout
        )
        self.ffn_norm = nn.LayerNorm(config.d_model, config.layer_norm_eps)
        self.ffn = feed_forward(config.d_model, config.d_ff, config.activation, config.dropout)
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self, x: Float[Tensor, "*batch tokens d_model"], edits: Sequence[Edit] = ()
    ) -> BlockRecord:
        """One pass over the stream x, (*batch, T, d_model), with all stages recorded.

        The edits are made in its FFN.
        """
        raise NotImplementedError("choose PreNormBlock or PostNormBlock")

    def add_attention(
        self,
        x: Float[Tensor, "*batch tokens d_model"],
        output: Float[Tensor, "*batch tokens d_model"],
    ) -> Float[Tensor, "*batch tokens d_model"]:
        """The stream between the two: what the attention wrote, added to the block's input."""
        raise NotImplementedError("choose PreNormBlock or PostNormBlock")

    def add_ffn(
        self,
        middle: Float[Tensor, "*batch tokens d_model"],
        output: Float[Tensor, "*batch tokens d_model"],
    ) -> Float[Tensor, "*batch tokens d_model"]:
        """The stream after the block: what its FFN wrote, added to the stream before it."""
        raise NotImplementedError("choose PreNormBlock or PostNormBlock")


class PreNormBlock(Block):
    """m = x + Attention(LN(x)); y = m + FFN(LN(m)). Xiong et al. 2020, figure 1 (b)."""

    def forward(
        self, x: Float[Tensor, "*batch tokens d_model"], edits: Sequence[Edit] = ()
    ) -> BlockRecord:
        """One pass over the stream x, (*batch, T, d_model), with all stages recorded.

        The edits are made in its FFN.
        """
        attention = self.attention(self.attention_norm(x))
        middle = self.add_attention(x, attention.output)
        ffn = self.ffn(self.ffn_norm(middle), edits)
        return BlockRecord(x, attention, middle, ffn, self.add_ffn(middle, ffn.output))

    def add_attention(
        self,
        x: Float[Tensor, "*batch tokens d_model"],
        output: Float[Tensor, "*batch tokens d_model"],
    ) -> Float[Tensor, "*batch tokens d_model"]:
        """m = x + output."""
        stream: Tensor = x + self.dropout(output)
        return stream

    def add_ffn(
        self,
        middle: Float[Tensor, "*batch tokens d_model"],
        output: Float[Tensor, "*batch tokens d_model"],
    ) -> Float[Tensor, "*batch tokens d_model"]:
        """y = m + output."""
        stream: Tensor = middle + self.dropout(output)
        return stream


class PostNormBlock(Block):
    """m = LN(x + Attention(x)); y = LN(m + FFN(m)). Vaswani et al. 2017, section 3.1."""

    def forward(
        self, x: Float[Tensor, "*batch tokens d_model"], edits: Sequence[Edit] = ()
    ) -> BlockRecord:
        """One pass over the stream x, (*batch, T, d_model), with all stages recorded.

        The edits are made in its FFN.
        """
        attention = self.attention(x)
        middle = self.add_attention(x, attention.output)
        ffn = self.ffn(middle, edits)
        return BlockRecord(x, attention, middle, ffn, self.add_ffn(middle, ffn.output))

    def add_attention(
        self,
        x: Float[Tensor, "*batch tokens d_model"],
        output: Float[Tensor, "*batch tokens d_model"],
    ) -> Float[Tensor, "*batch tokens d_model"]:
        """m = LN(x + output)."""
        stream: Tensor = self.attention_norm(x + self.dropout(output))
        return stream

    def add_ffn(
        self,
        middle: Float[Tensor, "*batch tokens d_model"],
        output: Float[Tensor, "*batch tokens d_model"],
    ) -> Float[Tensor, "*batch tokens d_model"]:
        """y = LN(m + output)."""
        stream: Tensor = self.ffn_norm(middle + self.dropout(output))
        return stream


def block(config: EncoderConfig) -> Block:
    """The block for a configuration."""
    return PreNormBlock(config) if config.norm == "pre" else PostNormBlock(config)
