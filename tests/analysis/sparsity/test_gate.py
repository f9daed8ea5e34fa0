"""A random gate against what probability says of it."""

import math

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.network import NotForThisNetwork
from ffnviz.parts.sparsity.gate import DRAWS, gate, gated_token
from tests.analysis.networks import network, ours

TEXT = "The cat sat on it."


def test_a_draw_is_zero_or_x_and_the_mean_is_gelu() -> None:
    drawn = gate(4_096, seed=1)
    phi = np.array([0.5 * math.erfc(-x / math.sqrt(2)) for x in drawn.x])
    assert_allclose(drawn.gelu, drawn.x * phi, atol=1e-12)
    assert ((drawn.single == 0) | (drawn.single == drawn.x)).all()
    assert_allclose(drawn.error, np.abs(drawn.x) * np.sqrt(phi * (1 - phi) / 4_096), atol=1e-12)
    away = np.abs(drawn.mean - drawn.gelu)
    assert (away <= 5 * drawn.error + 1e-9).all()
    assert (away <= 2 * drawn.error + 1e-9).mean() > 0.9
    assert (away > 0).any()


@pytest.mark.parametrize("n", [1, 3])
def test_few_draws_are_all_of_their_mean(n: int) -> None:
    drawn = gate(n, seed=2)
    assert_allclose(drawn.mean, drawn.single.mean(axis=0), atol=1e-12)
    assert len(drawn.single) == n


def test_another_seed_draws_anew_and_the_same_one_does_not() -> None:
    one, same, other = (gate(8, seed) for seed in (1, 1, 2))
    assert_allclose(one.mean, same.mean)
    assert not np.allclose(one.mean, other.mean)


@pytest.mark.parametrize("kind", ["plain", "no biases", "post-LN"])
def test_an_ffn_of_gates_is_gelus_on_average(tokenizer: Tokenizer, kind: str) -> None:
    model = network(kind, tokenizer)
    trace, ffn = model.trace(TEXT), model.ffn(1)
    z = trace.blocks[1].ffn.pre_activation[3].double()
    found = gated_token(model, trace, 1, 3, seed=0)
    bias = 0 if ffn.output_bias is None else ffn.output_bias.double()
    exact = torch.nn.functional.gelu(z) @ ffn.values.double() + bias
    torch.testing.assert_close(found.exact.double(), exact, atol=1e-5, rtol=1e-5)
    away = (found.outputs.double() - exact).norm(dim=-1) / exact.norm()
    assert_allclose(found.errors, away, atol=1e-5)
    assert list(found.draws) == list(DRAWS)
    assert 0 < found.open < 1
    # A single draw leaves each neuron out, or does not: it is a point of that finite set.
    one = found.outputs[0].double() - bias
    kept = torch.linalg.lstsq((z[:, None] * ffn.values.double()).mT, one[:, None]).residuals
    assert kept.numel() == 0 or float(kept) < 1e-6


def test_the_error_falls_as_chance_says(tokenizer: Tokenizer) -> None:
    model = ours(tokenizer, d_ff=512)
    trace = model.trace(TEXT)
    many = np.array([gated_token(model, trace, 0, 2, seed).errors for seed in range(40)])
    expected = gated_token(model, trace, 0, 2, 0).expected
    # The mean of 40 squares has a relative standard error of about √(2/40) at most.
    assert_allclose(np.sqrt((many**2).mean(axis=0)), expected, rtol=0.35)
    assert_allclose(expected[:-1] / expected[1:], math.sqrt(2))


def test_a_gated_ffn_is_refused(tokenizer: Tokenizer) -> None:
    model = network("gated", tokenizer)
    with pytest.raises(NotForThisNetwork):
        gated_token(model, model.trace(TEXT), 0, 0, 0)
