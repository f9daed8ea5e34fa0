"""Attention(x) = softmax(Q Kᵀ / √d_head) V W_O, the recorded stages against float64 NumPy."""

import math

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from ffnviz.models.encoder.attention import SelfAttention
from tests.models.reference import Array, as_array, linear, randomise, softmax

D_MODEL, N_HEADS, N_TOKENS = 24, 3, 9
D_HEAD = D_MODEL // N_HEADS


def attention(causal: bool, dtype: torch.dtype = torch.float64) -> SelfAttention:
    module: SelfAttention = randomise(SelfAttention(D_MODEL, N_HEADS, causal).to(dtype))
    return module.eval()


def stream(dtype: torch.dtype = torch.float64) -> torch.Tensor:
    generator = torch.Generator().manual_seed(1)
    return torch.randn(2, N_TOKENS, D_MODEL, dtype=dtype, generator=generator)


def heads(x: Array, first_column: int) -> list[Array]:
    """The part of a projection from a column on, one array a head."""
    starts = range(first_column, first_column + D_MODEL, D_HEAD)
    return [x[..., start : start + D_HEAD] for start in starts]


@pytest.mark.parametrize("causal", [False, True], ids=["bidirectional", "causal"])
@pytest.mark.parametrize(("dtype", "rounding"), [(torch.float64, 1e-12), (torch.float32, 1e-6)])
def test_weights_and_output_follow_the_equation(
    causal: bool, dtype: torch.dtype, rounding: float
) -> None:
    """Head by head, as the paper writes it; the output is that of the fused kernel."""
    module, x = attention(causal, dtype), stream(dtype)
    record = module(x)
    projected = linear(as_array(x), module.project_in)
    future = np.triu(np.full((N_TOKENS, N_TOKENS), -np.inf), k=1) if causal else 0.0
    scores = [
        queries @ keys.swapaxes(-1, -2) / math.sqrt(D_HEAD) + future
        for queries, keys in zip(heads(projected, 0), heads(projected, D_MODEL), strict=True)
    ]
    weights, values = softmax(np.stack(scores, axis=1)), heads(projected, 2 * D_MODEL)
    assert_allclose(as_array(record.weights), weights, atol=rounding)
    mixed = [weights[:, head] @ values[head] for head in range(N_HEADS)]
    output = linear(np.concatenate(mixed, axis=-1), module.project_out)
    assert_allclose(as_array(record.output), output, atol=rounding)


def test_causal_weights_are_exactly_zero_above_the_diagonal_and_nowhere_else() -> None:
    weights = attention(causal=True)(stream()).weights
    assert (weights.triu(1) == 0).all()
    assert (weights.tril() != 0).sum() == 2 * N_HEADS * N_TOKENS * (N_TOKENS + 1) / 2
    alone = attention(causal=False)(stream()[:, :1])
    assert (alone.weights == 1).all(), "a single token attends to itself"


def test_dropout_is_for_training_only() -> None:
    module = SelfAttention(D_MODEL, N_HEADS, causal=False, dropout=0.5)
    x = stream(torch.float32)
    assert not torch.equal(module.train()(x).output, module(x).output)
    assert torch.equal(module.eval()(x).output, module(x).output)
