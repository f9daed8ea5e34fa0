"""Multi-head self-attention, the only place where tokens exchange information."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F

from ffnviz.models.edit import Edit, edited
from ffnviz.models.encoder.linear import Linear

Stream = Float[Tensor, "*batch tokens d_model"]
Heads = Float[Tensor, "*batch heads tokens d_head"]
Sources = Float[Tensor, "*batch heads sources d_head"]


@dataclass(frozen=True)
class AttentionRecord:
    """Every stage of one pass through self-attention.

    Attributes:
        input: x, (*batch, T, d_model).
        queries, keys, values: (*batch, n_heads, T, d_head).
        output: (*batch, T, d_model), before the residual is added.
        causal: True if a token attends only to itself and what came before it.
        edits: those that were made in z.

    Examples:
        >>> trace = ffnviz.load("relu").trace("How [MASK] they know?")
        >>> attention = trace.blocks[0].attention
        >>> attention.weights.shape, attention.z.shape, attention.output.shape
        (torch.Size([8, 5, 5]), torch.Size([8, 5, 64]), torch.Size([5, 512]))
    """

    input: Float[Tensor, "*batch tokens d_model"]
    queries: Float[Tensor, "*batch heads tokens d_head"]
    keys: Float[Tensor, "*batch heads tokens d_head"]
    values: Float[Tensor, "*batch heads tokens d_head"]
    output: Float[Tensor, "*batch tokens d_model"]
    causal: bool
    edits: tuple[Edit, ...] = ()

    @property
    def weights(self) -> Float[Tensor, "*batch heads tokens tokens"]:
        """softmax(Q Kᵀ / √d_head), (*batch, n_heads, T, T); each row sums to 1.

        Vaswani et al. 2017, eq. 1. Computed when asked for: the forward pass itself uses a fused
        kernel that never holds it.
        """
        return attention_weights(self.queries, self.keys, self.causal)

    @property
    def z(self) -> Float[Tensor, "*batch heads tokens d_head"]:
        """What each head gathers: weights · values, (*batch, n_heads, T, d_head); after edits."""
        return gathered(self.weights @ self.values, self.edits)


@dataclass(frozen=True)
class AttentionPatterns:
    """What was recorded of a self-attention whose scores are not queries times keys alone.

    It may rotate, cap or shift them, and heads may share values; these are repeated here.

    Attributes:
        input: x, (*batch, T, d_model).
        weights: each row sums to 1, (*batch, n_heads, T, T).
        values: (*batch, n_heads, T, d_head).
        output: what it adds to the residual stream, (*batch, T, d_model).
        causal: True if a token attends only to itself and what came before it.
        edits: those that were made in z.

    Examples:
        >>> trace = ffnviz.from_module(gpt2, tokenizer).trace("the cat sat")
        >>> attention = trace.blocks[0].attention
        >>> attention.weights.shape, attention.causal
        (torch.Size([4, 3, 3]), True)
    """

    input: Float[Tensor, "*batch tokens d_model"]
    weights: Float[Tensor, "*batch heads tokens tokens"]
    values: Float[Tensor, "*batch heads tokens d_head"]
    output: Float[Tensor, "*batch tokens d_model"]
    causal: bool
    edits: tuple[Edit, ...] = ()

    @property
    def z(self) -> Float[Tensor, "*batch heads tokens d_head"]:
        """What each head gathers: weights · values, (*batch, n_heads, T, d_head); after edits."""
        return gathered(self.weights.to(self.values) @ self.values, self.edits)

    if not TYPE_CHECKING:  # a type checker knows what there is

        def __getattr__(self, name: str) -> Any:
            """Say why there are no queries and keys."""
            if name in ("queries", "keys"):
                raise AttributeError(
                    f"There are no {name} here: a network may rotate, cap or shift its scores, so "
                    "its patterns are recorded instead. See weights and values."
                )
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


AttentionStages = AttentionRecord | AttentionPatterns


def gathered(z: Heads, edits: tuple[Edit, ...]) -> Heads:
    """z with edits made, (*batch, n_heads, T, d_head); they name components of the heads' row."""
    if not edits:
        return z
    row = edited(z.transpose(-3, -2).flatten(-2), edits, "heads")
    return torch.unflatten(row, -1, (z.shape[-3], -1)).transpose(-3, -2)


def attention_weights(
    queries: Heads, keys: Sources, causal: bool
) -> Float[Tensor, "*batch heads tokens sources"]:
    """softmax(Q Kᵀ / √d_head), each row summing to 1; causal, without later tokens."""
    scores = queries @ keys.mT / math.sqrt(queries.shape[-1])
    if causal:
        future = torch.ones_like(scores, dtype=torch.bool).triu(1)
        scores = scores.masked_fill(future, float("-inf"))
    return scores.softmax(dim=-1)


class SelfAttention(nn.Module):
    """MultiHead(x) = Concat(head_1, …, head_h) W_O, Vaswani et al. 2017, section 3.2.2."""

    def __init__(
        self, d_model: int, n_heads: int, causal: bool, dropout: float = 0.0, bias: bool = True
    ) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.causal = causal
        self.dropout = dropout
        self.project_in = Linear(d_model, 3 * d_model, bias)  # W_Q, W_K, W_V side by side
        self.project_out = Linear(d_model, d_model, bias)  # W_O

    def forward(
        self,
        x: Stream,
        attention_mask: Bool[Tensor, "*batch tokens"] | None = None,
        edits: Sequence[Edit] = (),
    ) -> AttentionRecord:
        """One pass over x, (*batch, T, d_model); edits are made of whatever block they name.

        `attention_mask`, (*batch, T), is False at padding, to which no token attends; causal
        attention does without it, as padding comes last.
        """
        attn_mask = None
        if attention_mask is not None and not self.causal:
            attn_mask = attention_mask[..., None, None, :]
        # (*batch, T, 3 d_model) -> 3 of (*batch, n_heads, T, d_head)
        split = self.project_in(x).unflatten(-1, (3, self.n_heads, -1))
        queries, keys, values = (part.transpose(-3, -2) for part in split.unbind(-3))
        mixed = F.scaled_dot_product_attention(
            queries,
            keys,
            values,
            attn_mask=attn_mask,
            dropout_p=self.dropout if self.training else 0.0,
            is_causal=self.causal,
        )
        # (*batch, n_heads, T, d_head) -> (*batch, T, d_model)
        own = tuple(edit for edit in edits if edit.at == "heads")
        row = edited(mixed.transpose(-3, -2).flatten(-2), own, "heads")
        output = edited(self.project_out(row), edits, "attention")
        return AttentionRecord(x, queries, keys, values, output, self.causal, own)
