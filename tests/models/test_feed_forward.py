"""FFN(x) = φ(x W1 + b1) W2 + b2, each stage against float64 NumPy, and each token by itself."""

from collections.abc import Iterator

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


def test_every_activation_has_a_reference_a_name_and_a_label() -> None:
    assert {name: gated for name, (_, gated) in PHI.items()} == {
        name: activation.gated for name, activation in ACTIVATIONS.items()
    }
    assert all(activation.name == name for name, activation in ACTIVATIONS.items())
    assert len({activation.label for activation in ACTIVATIONS.values()}) == len(ACTIVATIONS)


@pytest.mark.parametrize(
    ("activation", "dtype", "width", "rounding"),
    [
        *((name, torch.float64, 12, 1e-12) for name in sorted(PHI)),
        # At the real size, where a matrix product is cut in tiles.
        *((name, torch.float32, 512, 1e-5) for name in ("relu", "swiglu")),
    ],
)
def test_every_stage_follows_the_equation(
    activation: str, dtype: torch.dtype, width: int, rounding: float
) -> None:
    ffn: FeedForward = randomise(feed_forward(width, 4 * width, activation).to(dtype))
    x = torch.randn(2, 5, width, dtype=dtype, generator=torch.Generator().manual_seed(1))
    record = ffn(x)
    phi, gated = PHI[activation]
    # Never in place: `relu_` would leave φ(x W1 + b1) where x W1 + b1 is recorded.
    pre_activation = linear(as_array(x), ffn.expand)
    hidden = phi(pre_activation)
    assert gated == isinstance(ffn, GatedFeedForward)
    if isinstance(ffn, GatedFeedForward):
        assert isinstance(record, GatedFeedForwardRecord)
        value = linear(as_array(x), ffn.gated_value)
        assert_allclose(as_array(record.value), value, atol=rounding)
        hidden = hidden * value
    assert record.input is x
    assert_allclose(as_array(record.pre_activation), pre_activation, atol=rounding)
    assert_allclose(as_array(record.hidden), hidden, atol=rounding)
    assert_allclose(as_array(record.output), linear(hidden, ffn.compress), atol=rounding)


@pytest.mark.parametrize("activation", sorted(PHI))
def test_a_curve_holds_far_from_zero_and_is_no_steeper_than_it_says(activation: str) -> None:
    phi = ACTIVATIONS[activation]
    xs = np.array([-30.0, -8.0, -3.0, -1e-3, 0.0, 1e-3, 3.0, 8.0, 30.0])
    given = torch.from_numpy(xs.copy())
    assert_allclose(as_array(phi.function(given)), PHI[activation][0](xs), rtol=1e-9, atol=1e-15)
    assert given.tolist() == xs.tolist(), "it leaves its input as it was"
    x = torch.linspace(-12, 12, 24_001, dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(phi.function(x).sum(), x)
    assert slope.abs().max() <= phi.steepest


def test_a_relu_zero_is_exact_and_a_gelu_value_is_none() -> None:
    negative = torch.linspace(-3, -0.01, 100)
    assert (ACTIVATIONS["relu"].function(negative) == 0).all()
    assert (ACTIVATIONS["gelu"].function(negative) != 0).all()


# All tokens are treated alike exactly, as far as the arithmetic goes: a matrix product may sum a
# row's terms in an order that depends on the row's place and the number of threads, and then real
# numbers are rounded differently in the seventh digit. So exactness is tested with numbers that
# need no rounding, and real ones are compared up to rounding. Both at the real size, where a
# matrix product is really cut in tiles, of whose remainders none may matter.
LENGTHS = [2, 7, 128]
ROUNDING = 1e-5  # float32 sums of 2,048 terms, values up to a few units


@pytest.fixture(params=[1, 2], ids=["one thread", "two threads"])
def threads(request: pytest.FixtureRequest) -> Iterator[None]:
    """One thread, as when many use the app, and two, as when one does."""
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module", params=["relu", "reglu"])
def whole_numbers(request: pytest.FixtureRequest) -> FeedForward:
    """Small ones for weights: every product and sum is exact in float32, in any order."""
    module = feed_forward(512, 2_048, request.param).requires_grad_(False)
    generator = torch.Generator().manual_seed(1)
    for parameter in module.parameters():
        whole = torch.randint(-1, 2, parameter.shape, generator=generator)
        kept = torch.rand(parameter.shape, generator=generator) < 0.1
        parameter.copy_((whole * kept).float())
    return module


@pytest.mark.usefixtures("threads")
def test_equal_inputs_give_exactly_equal_outputs(whole_numbers: FeedForward) -> None:
    for n in LENGTHS:
        generator = torch.Generator().manual_seed(n)
        x = torch.randint(-2, 3, (n, 512), generator=generator).float()
        x[-1] = x[n // 2] = x[0]
        record = whole_numbers(x)
        assert record.output.abs().max() < 2**24  # beyond that whole numbers are rounded
        for stage in (record.pre_activation, record.hidden, record.output):
            assert torch.equal(stage[-1], stage[0])
            assert torch.equal(stage[n // 2], stage[0])


@pytest.fixture(scope="module", params=["gelu", "swiglu"])
def ffn(request: pytest.FixtureRequest) -> FeedForward:
    module: FeedForward = randomise(feed_forward(512, 2_048, request.param))
    return module.requires_grad_(False)


@pytest.mark.usefixtures("threads")
def test_neither_a_tokens_place_nor_another_token_matters(ffn: FeedForward) -> None:
    for n in LENGTHS:
        x = torch.randn(n, 512, generator=torch.Generator().manual_seed(n))
        x[-1] = x[n // 2] = x[0]
        before = ffn(x)
        for stage in (before.pre_activation, before.hidden, before.output):
            assert (stage[-1] - stage[0]).abs().max() <= ROUNDING
            assert (stage[n // 2] - stage[0]).abs().max() <= ROUNDING
        assert (ffn(x.flip(0)).output - before.output.flip(0)).abs().max() <= ROUNDING
        changed = x.clone()
        changed[1] += 1
        after, others = ffn(changed), torch.arange(n) != 1
        assert torch.equal(after.hidden[others], before.hidden[others])
        assert torch.equal(after.output[others], before.output[others])
        assert not torch.isclose(after.output[1], before.output[1]).all()
