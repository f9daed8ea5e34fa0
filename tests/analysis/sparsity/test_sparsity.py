"""Awake neurons, orders, curves, neurons left out, random gates: against NumPy and closed forms."""

import copy
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose

from ffnviz.analysis.journey import ORDERS, neuron_order
from ffnviz.analysis.sparsity import record_of, threshold_for, with_activation
from ffnviz.models.activations import ACTIVATIONS
from ffnviz.models.encoder.encoder import initial_encoder
from ffnviz.models.encoder.model import Model, load
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.network import NotForThisNetwork
from ffnviz.parts.sparsity.activations import curve
from ffnviz.parts.sparsity.gate import DRAWS, gate, gated_token
from ffnviz.parts.sparsity.keep import kept_at, random_pass, strengths, strongest_pass
from tests.analysis.networks import network, ours, small_model

TEXT = "The cat sat on the [MASK]."


def test_awake_begins_at_zero_where_zeros_are_exact() -> None:
    for phi in ACTIVATIONS.values():
        exact = bool((phi.function(torch.linspace(-6, -0.1, 60)) == 0).all())
        assert (threshold_for(phi) == 0) == exact, phi.name


def test_curves_and_slopes_are_those_of_the_textbook() -> None:
    drawn = curve(ACTIVATIONS["relu"], -2, 2, n=41)
    np.testing.assert_array_equal(drawn.value, np.maximum(drawn.x, 0))
    away = np.abs(drawn.x) > 1e-6
    np.testing.assert_array_equal(drawn.slope[away], (drawn.x > 0)[away])
    drawn = curve(ACTIVATIONS["gelu"], -4, 4, n=81)
    for x, value, slope in zip(drawn.x.astype(float), drawn.value, drawn.slope, strict=True):
        phi = 0.5 * (1 + math.erf(x / math.sqrt(2)))
        density = math.exp(-x * x / 2) / math.sqrt(2 * math.pi)
        assert value == pytest.approx(x * phi, abs=1e-6)
        assert slope == pytest.approx(phi + x * density, abs=1e-6)


@pytest.mark.parametrize("twin", ["relu", "gelu"])
def test_the_training_record_runs_from_chance_to_the_end(twin: str) -> None:
    model = load(twin)
    record = record_of(model)
    assert record.tokens[0] == 0
    assert (np.diff(record.tokens) > 0).all()
    # Without a preference, a guess among 8,192 words costs ln 8,192 nats.
    assert record.loss[0] == pytest.approx(math.log(8_192), abs=0.2)
    assert record.loss[-1] < record.loss[0] / 2
    # Remade from its seed, the twin is as often above zero as the record says.
    ids = torch.tensor(model.tokenizer.encode("She opened the door and looked out.", 128).ids)
    with torch.inference_mode():
        trace = initial_encoder(model.encoder.config, record.seed)(ids)
    for block, share in zip(trace.blocks, record.above_zero[0], strict=True):
        assert float((block.ffn.hidden > 0).float().mean()) == pytest.approx(share, abs=0.03)


HIDDEN = hnp.arrays(
    np.float32,
    hnp.array_shapes(min_dims=2, max_dims=2, max_side=12),
    elements=st.floats(-4, 4, width=32),
)


@given(hidden=HIDDEN)
def test_each_order_has_every_neuron_once_and_the_strongest_first(hidden: np.ndarray) -> None:
    for by in ORDERS:
        assert sorted(neuron_order(hidden, by)) == list(range(hidden.shape[1]))
    ordered = np.abs(hidden)[:, neuron_order(hidden, "token")]
    strongest = ordered.max(axis=0)
    token = np.where(strongest > 0, ordered.argmax(axis=0), len(hidden))
    assert (np.diff(token) >= 0).all()  # each token's together, silent neurons last
    same = token[1:] == token[:-1]
    assert (np.diff(strongest)[same] <= 0).all()
    by_strength = np.abs(hidden).max(axis=0)[neuron_order(hidden, "strength")]
    assert (np.diff(by_strength) <= 0).all()
    with pytest.raises(ValueError, match=r"'colour'.*token, strength, index"):
        neuron_order(hidden, "colour")


BLOCK, TOKEN = 1, 3


def by_hand(model: Model, hidden: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """FFN output and logits in float64, from a block's hidden values on."""
    trace = model.trace(TEXT)
    encoder = copy.deepcopy(model.encoder).double()
    ffn = encoder.blocks[BLOCK].ffn
    output = hidden.double() @ ffn.compress.weight.T + ffn.compress.bias
    x = trace.blocks[BLOCK].middle.double() + output
    if model.encoder.config.norm == "post":
        x = encoder.blocks[BLOCK].ffn_norm(x)
    for block in encoder.blocks[BLOCK + 1 :]:
        x = block(x).output
    return output, encoder.final_norm(x) @ encoder.token_embedding.weight.T


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("strongest", [True, False])
def test_kept_neurons_write_as_they_did(tokenizer: Tokenizer, norm: str, strongest: bool) -> None:
    model = small_model(tokenizer, norm)
    trace = model.trace(TEXT)
    hidden, full = trace.blocks[BLOCK].ffn.hidden, trace.blocks[BLOCK].ffn.output.double()
    if strongest:
        ranked = strengths(model, trace, BLOCK)
    else:
        ranked = torch.rand(hidden.shape, generator=torch.Generator().manual_seed(0))
        # The active neurons come first: above 0, or further than 0.1 from it.
        ranked[hidden.abs() > (0 if model.card.phi.exact_zeros else 0.1)] += 1
    for n in (1, 5, 31):
        found = (strongest_pass if strongest else random_pass)(model, trace, BLOCK, n)
        best = ranked.argsort(dim=-1, descending=True)[:, :n]
        masked = torch.zeros_like(hidden).scatter(1, best, hidden.gather(1, best))
        output, logits = by_hand(model, masked)
        errors = (output - full).norm(dim=-1) / full.norm(dim=-1)
        np.testing.assert_allclose(found.errors, errors, rtol=1e-4, atol=1e-6)
        kept = kept_at(model, found, TOKEN)
        assert kept.error == float(found.errors[TOKEN])
        expected = logits[TOKEN].softmax(dim=-1)[torch.tensor(kept.prediction.ids)]
        np.testing.assert_allclose(kept.prediction.probabilities, expected.numpy(), rtol=1e-4)
    for n in (0, 33, -1):
        with pytest.raises(ValueError, match="from 1 to d_ff = 32"):
            strongest_pass(model, trace, BLOCK, n)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_another_activation_shares_the_weights(tokenizer: Tokenizer, norm: str) -> None:
    model = small_model(tokenizer, norm)
    other = with_activation(model, "gelu")
    for mine, theirs in zip(other.encoder.parameters(), model.encoder.parameters(), strict=True):
        assert mine is theirs
    assert model.encoder.config.activation == "relu"
    assert model.encoder.blocks[0].ffn.activation.name == "relu"
    expected = small_model(tokenizer, norm, "gelu").trace(TEXT)
    torch.testing.assert_close(other.trace(TEXT).logits, expected.logits)
    with pytest.raises(ValueError, match="gated"):
        with_activation(model, "geglu")


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
    for n in (1, 3):  # few draws are all of their mean
        few, same, other = (gate(n, seed) for seed in (2, 2, 3))
        assert_allclose(few.mean, few.single.mean(axis=0), atol=1e-12)
        assert len(few.single) == n
        assert_allclose(few.mean, same.mean)
        assert not np.allclose(few.mean, other.mean)


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
    assert len(found.errors) == len(DRAWS)
    assert 0 < found.open < 1
    # A single draw leaves each neuron out, or does not: it is a point of that finite set.
    one = found.outputs[0].double() - bias
    kept = torch.linalg.lstsq((z[:, None] * ffn.values.double()).mT, one[:, None]).residuals
    assert kept.numel() == 0 or float(kept) < 1e-6
    gated = network("gated", tokenizer)
    with pytest.raises(NotForThisNetwork):
        gated_token(gated, gated.trace(TEXT), 0, 0, 0)


def test_the_error_falls_as_chance_says(tokenizer: Tokenizer) -> None:
    model = ours(tokenizer, d_ff=512)
    trace = model.trace(TEXT)
    many = np.array([gated_token(model, trace, 0, 2, seed).errors for seed in range(40)])
    expected = gated_token(model, trace, 0, 2, 0).expected
    # The mean of 40 squares has a relative standard error of about √(2/40) at most.
    assert_allclose(np.sqrt((many**2).mean(axis=0)), expected, rtol=0.35)
    assert_allclose(expected[:-1] / expected[1:], math.sqrt(2))
