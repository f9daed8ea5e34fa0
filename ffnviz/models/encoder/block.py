"""One encoder block: attention, then the FFN, each added to the residual stream."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from ffnviz.models.edit import Edit, edited
from ffnviz.models.encoder.attention import AttentionRecord, SelfAttention
from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.models.encoder.feed_forward import FeedForwardRecord, feed_forward

Stream = Float[Tensor, "*batch tokens d_model"]
Mask = Bool[Tensor, "*batch tokens"]


@dataclass(frozen=True)
class BlockRecord:
    """Every stage of one pass through a block."""

    input: Stream  # before the block, (*batch, T, d_model)
    attention: AttentionRecord  # the attention's stages
    middle: Stream  # the stream between attention and FFN, (*batch, T, d_model)
    ffn: FeedForwardRecord  # the FFN's stages
    output: Stream  # the stream after the block, (*batch, T, d_model)
    behind_ffn: ClassVar[None] = None  # as of a BlockTrace: nothing changes `output` once more


class Block(nn.Module):
    """Pre-LN: m = x + Attention(LN(x)); y = m + FFN(LN(m)). Xiong et al. 2020, figure 1 (b).

    Post-LN: m = LN(x + Attention(x)); y = LN(m + FFN(m)). Vaswani et al. 2017, section 3.1.
    """

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        d_model, eps, bias = config.d_model, config.layer_norm_eps, config.bias
        self.norm_first = config.norm == "pre"
        self.attention_norm = nn.LayerNorm(d_model, eps, bias=bias)
        self.attention = SelfAttention(d_model, config.n_heads, config.causal, config.dropout, bias)
        self.ffn_norm = nn.LayerNorm(d_model, eps, bias=bias)
        self.ffn = feed_forward(d_model, config.d_ff, config.activation, config.dropout, bias)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x: Stream, edits: Sequence[Edit] = ()) -> BlockRecord:
        """One pass over the stream x, (*batch, T, d_model), with edits; all stages are recorded."""
        x = edited(x, edits, "input")
        attention = self.attend(x, edits)
        middle = edited(self.add_attention(x, attention.output), edits, "middle")
        ffn = self.feed(middle, edits)
        output = edited(self.add_ffn(middle, ffn.output), edits, "output")
        return BlockRecord(x, attention, middle, ffn, output)

    def stream(
        self, x: Stream, edits: Sequence[Edit] = (), attention_mask: Mask | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The stream before, in and after the block alone, (*batch, T, d_model) each.

        `attention_mask` is as SelfAttention has it. Without edits the FFN skips padding.
        """
        x = edited(x, edits, "input")
        attention = self.attend(x, edits, attention_mask)
        middle = edited(self.add_attention(x, attention.output), edits, "middle")
        if attention_mask is None or edits:
            written = self.feed(middle, edits).output
        else:
            written = torch.zeros_like(middle)
            written[attention_mask] = self.feed(middle[attention_mask]).output
        return x, middle, edited(self.add_ffn(middle, written), edits, "output")

    def attend(
        self, x: Stream, edits: Sequence[Edit] = (), attention_mask: Mask | None = None
    ) -> AttentionRecord:
        """The attention's stages on the block's input, (*batch, T, d_model), with edits made."""
        read = self.attention_norm(x) if self.norm_first else x
        record: AttentionRecord = self.attention(read, attention_mask, edits)
        return record

    def feed(self, middle: Stream, edits: Sequence[Edit] = ()) -> FeedForwardRecord:
        """The FFN's stages on the stream before it, (*batch, T, d_model), with edits made."""
        record: FeedForwardRecord = self.ffn(self.ffn_reads(middle), edits)
        return record

    def hidden(self, x: Stream) -> Float[Tensor, "*batch tokens d_ff"]:
        """The FFN's hidden values alone, for the stream x, (*batch, T, d_model)."""
        middle = self.add_attention(x, self.attend(x).output)
        hidden: Tensor = self.ffn.hidden(self.ffn_reads(middle))
        return hidden

    def ffn_reads(self, middle: Stream) -> Stream:
        """The FFN's input for the stream before it: pre-LN, its LayerNorm; post-LN, the stream."""
        read: Tensor = self.ffn_norm(middle) if self.norm_first else middle
        return read

    def add_attention(self, x: Stream, output: Stream) -> Stream:
        """The stream between both: the block's input with the attention's output added."""
        stream: Tensor = x + self.dropout(output)
        return stream if self.norm_first else self.attention_norm(stream)

    def add_ffn(self, middle: Stream, output: Stream) -> Stream:
        """The stream after the block: the stream before the FFN with its output added."""
        stream: Tensor = middle + self.dropout(output)
        return stream if self.norm_first else self.ffn_norm(stream)
