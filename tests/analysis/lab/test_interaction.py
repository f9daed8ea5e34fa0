"""Interaction of two directions: 0 without φ, 0 before a kink, and φ″ where φ is smooth."""

import numpy as np
import pytest
import torch
from torch import Tensor

from ffnviz.analysis.lab.local_map import terms_of
from ffnviz.models.encoder.model import Model, load
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.parts.lab.influence import PAIRS, Interaction, direction, interaction
from tests.analysis.networks import ours


def found_in(model: Model, step: float = 1.0) -> tuple[Interaction, Tensor, Tensor, Tensor]:
    x = model.trace("The cat sat on the mat.").blocks[0].ffn.input[2]
    u, v = (direction(model, 0, name) for name in list(PAIRS)[:2])
    return interaction(terms_of(model.ffn(0)), x, u, v, step), x, u, v


@pytest.mark.parametrize("name", ["relu", "gelu"])
def test_it_is_what_four_passes_of_the_ffn_give(name: str) -> None:
    model = load(name)
    found, x, u, v = found_in(model)
    ffn = model.encoder.blocks[0].ffn
    four = torch.stack([x, x + u, x + v, x + u + v]).float()
    plain, one, other, both = ffn(four).output.double()
    expected = (both - one - other + plain).norm() / plain.norm()
    assert found.chosen == pytest.approx(float(expected), rel=1e-3)
    assert found.chosen > 0.001
    assert found.chosen_without < 1e-13
    assert found.without.max() < 1e-12


def test_with_relu_it_is_nothing_until_the_first_neuron_switches() -> None:
    model = load("relu")
    found, *_ = found_in(model)
    before = found.steps < found.until
    assert before.any()
    assert found.with_phi[before].max() < 1e-13
    assert found.with_phi[found.steps > 10 * found.until].min() > 1e-6
    assert found.second.max() == 0


def test_with_gelu_it_begins_as_the_sum_over_second_derivatives_says() -> None:
    model = load("gelu")
    found, x, u, v = found_in(model)
    ffn, x = model.encoder.blocks[0].ffn, x.double()
    w1, w2 = ffn.expand.weight.double(), ffn.compress.weight.double()
    z = w1 @ x + ffn.expand.bias.double()
    density = torch.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    second = density * (2 - z**2)  # of z Φ(z)
    written = w2 @ (second * (w1 @ u) * (w1 @ v))
    size = (w2 @ torch.nn.functional.gelu(z) + ffn.compress.bias.double()).norm()
    expected = found.steps**2 * float(written.norm() / size)
    np.testing.assert_allclose(found.second, expected, rtol=1e-6)
    small = (found.steps > 1e-3) & (found.steps < 1e-2)
    np.testing.assert_allclose(found.with_phi[small], expected[small], rtol=0.05)


def test_a_gated_ffn_multiplies_even_without_phi(tokenizer: Tokenizer) -> None:
    found, *_ = found_in(ours(tokenizer, activation="geglu"))
    assert found.chosen_without > 1e-6
