"""A decoder block, to compare with: causal attention, attention to another sentence, the FFN."""

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from ffnviz.models.encoder.attention import (
    AttentionRecord,
    Heads,
    SelfAttention,
    Sources,
    attention_weights,
)
from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.models.encoder.feed_forward import FeedForwardRecord, feed_forward

Stream = Float[Tensor, "*batch tokens d_model"]
Memory = Float[Tensor, "*batch sources d_model"]


@dataclass(frozen=True)
class CrossAttentionRecord:
    """Every stage of one pass through cross-attention."""

    input: Stream  # x, (*batch, T, d_model)
    memory: Memory  # (*batch, S, d_model)
    queries: Heads  # (*batch, n_heads, T, d_head)
    keys: Sources  # (*batch, n_heads, S, d_head)
    values: Sources  # likewise
    output: Stream  # before the residual is added, (*batch, T, d_model)

    @property
    def weights(self) -> Float[Tensor, "*batch heads tokens sources"]:
        """softmax(Q Kᵀ / √d_head), (*batch, n_heads, T, S)."""
        return attention_weights(self.queries, self.keys, causal=False)


class CrossAttention(nn.Module):
    """Queries from one sequence, keys and values from another (Vaswani et al. 2017, 3.2.3)."""

    def __init__(self, d_model: int, n_heads: int, bias: bool) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.project_query = nn.Linear(d_model, d_model, bias)  # W_Q
        self.project_memory = nn.Linear(d_model, 2 * d_model, bias)  # W_K, W_V side by side
        self.project_out = nn.Linear(d_model, d_model, bias)  # W_O

    def forward(self, x: Stream, memory: Memory) -> CrossAttentionRecord:
        """One pass: x, (*batch, T, d_model), attends to memory, (*batch, S, d_model)."""
        queries = self.project_query(x).unflatten(-1, (self.n_heads, -1)).transpose(-3, -2)
        split = self.project_memory(memory).unflatten(-1, (2, self.n_heads, -1))
        keys, values = (part.transpose(-3, -2) for part in split.unbind(-3))
        mixed = F.scaled_dot_product_attention(queries, keys, values)
        # (*batch, n_heads, T, d_head) -> (*batch, T, d_model)
        output = self.project_out(mixed.transpose(-3, -2).flatten(-2))
        return CrossAttentionRecord(x, memory, queries, keys, values, output)


@dataclass(frozen=True)
class DecoderBlockRecord:
    """Every stage of one pass through a decoder block."""

    input: Stream  # before the block, (*batch, T, d_model)
    attention: AttentionRecord  # of the causal self-attention
    cross: CrossAttentionRecord
    ffn: FeedForwardRecord
    output: Stream  # after the block, (*batch, T, d_model)


class DecoderBlock(nn.Module):
    """m = x + Causal(LN(x)); n = m + Cross(LN(m), memory); y = n + FFN(LN(n)), without dropout.

    Vaswani et al. 2017, figure 1 (right), with the LayerNorms in front as in Xiong et al. 2020.
    """

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        d_model, eps, bias = config.d_model, config.layer_norm_eps, config.bias
        self.attention_norm = nn.LayerNorm(d_model, eps, bias=bias)
        self.attention = SelfAttention(d_model, config.n_heads, causal=True, bias=bias)
        self.cross_norm = nn.LayerNorm(d_model, eps, bias=bias)
        self.cross = CrossAttention(d_model, config.n_heads, bias)
        self.ffn_norm = nn.LayerNorm(d_model, eps, bias=bias)
        self.ffn = feed_forward(d_model, config.d_ff, config.activation, bias=bias)

    def forward(self, x: Stream, memory: Memory) -> DecoderBlockRecord:
        """One pass over the stream x, (*batch, T, d_model), with memory, (*batch, S, d_model)."""
        attention = self.attention(self.attention_norm(x))
        m = x + attention.output
        cross = self.cross(self.cross_norm(m), memory)
        n = m + cross.output
        ffn = self.ffn(self.ffn_norm(n))
        return DecoderBlockRecord(x, attention, cross, ffn, n + ffn.output)
