"""Curves, landings, thresholds, neurons never reached: each against NumPy or a closed form."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ffnviz.analysis.sparsity import awake, record_of, share_against_threshold
from ffnviz.models.activations import ACTIVATIONS
from ffnviz.models.encoder.encoder import initial_encoder
from ffnviz.models.encoder.model import Model, load
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.trace import Trace
from ffnviz.parts.sparsity.activations import curve, landing, value_range
from ffnviz.parts.sparsity.awake import reached
from tests.analysis.networks import small_model

TEXT = "The cat sat on the [MASK]."


@pytest.fixture(params=["relu", "gelu"])
def model(request: pytest.FixtureRequest, tokenizer: Tokenizer) -> Model:
    return small_model(tokenizer, "pre", request.param)


@pytest.fixture
def trace(model: Model) -> Trace:
    return model.trace(TEXT)


def test_relu_and_its_slope_are_those_of_the_textbook() -> None:
    drawn = curve(ACTIVATIONS["relu"], -2, 2, n=41)
    np.testing.assert_array_equal(drawn.value, np.maximum(drawn.x, 0))
    away = np.abs(drawn.x) > 1e-6
    np.testing.assert_array_equal(drawn.slope[away], (drawn.x > 0)[away])


def test_gelu_and_its_slope_follow_from_the_normal_distribution() -> None:
    drawn = curve(ACTIVATIONS["gelu"], -4, 4, n=81)
    for x, value, slope in zip(drawn.x.astype(float), drawn.value, drawn.slope, strict=True):
        phi = 0.5 * (1 + math.erf(x / math.sqrt(2)))
        density = math.exp(-x * x / 2) / math.sqrt(2 * math.pi)
        assert value == pytest.approx(x * phi, abs=1e-6)
        assert slope == pytest.approx(phi + x * density, abs=1e-6)


def test_every_pre_activation_lands_in_a_bin(trace: Trace) -> None:
    low, high = value_range(trace, 1)
    edges = np.linspace(low, high, 12)
    landed = landing(trace, 1, 2, edges, 0.1)
    assert landed.shares.sum() == pytest.approx(1)
    assert landed.token_shares.sum() == pytest.approx(1)
    values = trace.blocks[1].ffn.pre_activation.numpy()
    for left, right, share in zip(edges[:-1], edges[1:], landed.shares, strict=True):
        assert share == pytest.approx(((values >= left) & (values < right)).mean())
    assert landed.below_zero == pytest.approx((values < 0).mean())
    hidden = trace.blocks[1].ffn.hidden.numpy()
    assert landed.near_zero == pytest.approx((np.abs(hidden) <= 0.1).mean())
    assert landed.exactly_zero == pytest.approx((hidden == 0).mean())


@given(threshold=st.floats(0, 3))
def test_a_point_of_the_threshold_curve_is_what_counting_gives(
    tokenizer: Tokenizer, threshold: float
) -> None:
    trace = small_model(tokenizer, "pre", "gelu").trace(TEXT)
    hidden = trace.blocks[0].ffn.hidden.double()
    shares = share_against_threshold(trace, 0, np.array([threshold, 5.0]))
    assert shares[0] == pytest.approx(float((hidden.abs() > threshold).double().mean()))


def test_the_threshold_curve_meets_the_share_the_page_shows(trace: Trace) -> None:
    thresholds = np.array([0.0, 0.125, 0.5])
    shares = share_against_threshold(trace, 2, thresholds)
    for threshold, share in zip(thresholds, shares, strict=True):
        assert share == pytest.approx(awake(trace, 2, float(threshold)).share)


def test_a_neuron_once_reached_stays_reached(trace: Trace) -> None:
    hidden = trace.blocks[1].ffn.hidden.numpy()
    shares, never = reached(trace, 1)
    for n, share in enumerate(shares, start=1):
        assert share == pytest.approx((hidden[:n] > 0).any(axis=0).mean())
    assert never.tolist() == [i for i in range(32) if not (hidden[:, i] > 0).any()]


@pytest.mark.parametrize("twin", ["relu", "gelu"])
def test_the_training_record_runs_from_chance_to_the_end(twin: str) -> None:
    record = record_of(load(twin))
    n, n_blocks = len(record.tokens), load(twin).encoder.config.n_blocks
    assert record.tokens[0] == 0
    assert (np.diff(record.tokens) > 0).all()
    assert record.loss.shape == (n,)
    for shares in (record.above_zero, record.never):
        assert shares.shape == (n, n_blocks)
        assert ((shares >= 0) & (shares <= 1)).all()
    # Without a preference, a guess among 8,192 words costs ln 8,192 nats.
    assert record.loss[0] == pytest.approx(math.log(8_192), abs=0.2)
    assert record.loss[-1] < record.loss[0] / 2
    assert len(record.final_never) == n_blocks


@pytest.mark.parametrize("twin", ["relu", "gelu"])
def test_the_twin_remade_from_its_seed_is_as_often_above_zero_as_the_record_says(twin: str) -> None:
    record = record_of(load(twin))
    model = load(twin)
    with torch.inference_mode():
        trace = initial_encoder(model.encoder.config, record.seed)(
            torch.tensor(model.tokenizer.encode("She opened the door and looked out.", 128).ids)
        )
    for block, share in zip(trace.blocks, record.above_zero[0], strict=True):
        assert float((block.ffn.hidden > 0).float().mean()) == pytest.approx(share, abs=0.03)


def test_far_below_zero_float32_keeps_nothing_of_gelu_as_the_note_says() -> None:
    x = torch.tensor([-5.6, -5.4])
    assert (torch.nn.functional.gelu(x) == 0).tolist() == [True, False]
    assert (torch.nn.functional.gelu(x.double()) != 0).all()
