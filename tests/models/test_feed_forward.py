"""FFN(x) = φ(x W1 + b1) W2 + b2, each stage against float64 NumPy, for every φ."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from ffnviz.models.activations import ACTIVATIONS
from ffnviz.models.encoder.feed_forward import (
    FeedForward,
    GatedFeedForward,
    GatedFeedForwardRecord,
    feed_forward,
)
from tests.models.reference import PHI, as_array, linear, randomise

EVERY_ACTIVATION = pytest.mark.parametrize("activation", sorted(PHI))


def test_every_activation_has_a_reference() -> None:
    assert {name: gated for name, (_, gated) in PHI.items()} == {
        name: activation.gated for name, activation in ACTIVATIONS.items()
    }


@EVERY_ACTIVATION
def test_every_stage_follows_the_equation(activation: str) -> None:
    ffn: FeedForward = randomise(feed_forward(12, 48, activation).double())
    x = 2 * torch.randn(3, 7, 12, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    record = ffn(x)
    phi, gated = PHI[activation]
    pre_activation = linear(as_array(x), ffn.expand)
    hidden = phi(pre_activation)
    if gated:
        assert isinstance(ffn, GatedFeedForward)
        assert isinstance(record, GatedFeedForwardRecord)
        value = linear(as_array(x), ffn.gated_value)
        assert_allclose(as_array(record.value), value, atol=1e-12)
        hidden = hidden * value
    assert record.input is x
    assert_allclose(as_array(record.pre_activation), pre_activation, atol=1e-12)
    assert_allclose(as_array(record.hidden), hidden, atol=1e-12)
    assert_allclose(as_array(record.output), linear(hidden, ffn.compress), atol=1e-12)


@EVERY_ACTIVATION
def test_in_float32_at_the_real_size_it_stays_within_rounding(activation: str) -> None:
    ffn: FeedForward = randomise(feed_forward(512, 2_048, activation))
    x = torch.randn(24, 512, generator=torch.Generator().manual_seed(1))
    phi, gated = PHI[activation]
    hidden = phi(linear(as_array(x), ffn.expand))
    if isinstance(ffn, GatedFeedForward):
        hidden = hidden * linear(as_array(x), ffn.gated_value)
    assert gated == isinstance(ffn, GatedFeedForward)
    assert_allclose(as_array(ffn(x).output), linear(hidden, ffn.compress), atol=1e-5)


@EVERY_ACTIVATION
def test_the_curve_holds_far_from_zero_too(activation: str) -> None:
    xs = np.array([-30.0, -8.0, -3.0, -1e-3, 0.0, 1e-3, 3.0, 8.0, 30.0])
    found = ACTIVATIONS[activation].function(torch.from_numpy(xs))
    assert_allclose(as_array(found), PHI[activation][0](xs), rtol=1e-9, atol=1e-15)


@EVERY_ACTIVATION
def test_an_activation_leaves_its_input_as_it_was(activation: str) -> None:
    x = torch.linspace(-3, 3, 50)
    before = x.clone()
    ACTIVATIONS[activation].function(x)
    assert torch.equal(x, before)


@pytest.mark.parametrize(
    ("activation", "at_one"),
    [
        ("relu", 1.0), ("gelu", 0.841345), ("gelu_tanh", 0.841192), ("silu", 0.731059),
        ("sigmoid", 0.731059), ("tanh", 0.761594),
    ],
)  # fmt: skip
def test_the_value_at_one_is_the_published_one(activation: str, at_one: float) -> None:
    # Φ(1) = 0.841345, σ(1) = 0.731059 and tanh 1 = 0.761594 stand in any table.
    found = ACTIVATIONS[activation].function(torch.tensor([1.0], dtype=torch.float64))
    assert found.item() == pytest.approx(at_one, abs=5e-7)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_no_slope_is_steeper_than_it_says(activation: str) -> None:
    x = torch.linspace(-12, 12, 24_001, dtype=torch.float64, requires_grad=True)
    phi = ACTIVATIONS[activation]
    (slope,) = torch.autograd.grad(phi.function(x).sum(), x)
    assert slope.abs().max() <= phi.steepest


def test_a_relu_zero_is_exact_and_a_gelu_value_is_none() -> None:
    negative = torch.linspace(-3, -0.01, 100)
    assert (ACTIVATIONS["relu"].function(negative) == 0).all()
    assert (ACTIVATIONS["gelu"].function(negative) != 0).all()


def test_one_case_worked_by_hand() -> None:
    ffn = FeedForward(2, 3, "relu")
    with torch.no_grad():
        ffn.expand.weight.copy_(torch.tensor([[1.0, 0], [0, 1], [1, -1]]))
        ffn.expand.bias.copy_(torch.tensor([0.0, 1, 0]))
        ffn.compress.weight.copy_(torch.tensor([[1.0, 1, 1], [0, 2, 5]]))
        ffn.compress.bias.copy_(torch.tensor([0.5, 0]))
    record = ffn(torch.tensor([[1.0, 2.0]]))
    assert record.pre_activation.tolist() == [[1, 3, -1]]
    assert record.hidden.tolist() == [[1, 3, 0]]
    assert record.output.tolist() == [[4.5, 6]]


def test_names_and_labels_tell_the_activations_apart() -> None:
    assert all(activation.name == name for name, activation in ACTIVATIONS.items())
    assert len({activation.label for activation in ACTIVATIONS.values()}) == len(ACTIVATIONS)
