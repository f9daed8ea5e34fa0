"""Claims on fits, norms, activations, widths and dropout flip when broken on purpose."""

import math
from pathlib import Path

import pytest

from ffnviz.analysis.lab import (
    approximation,
    dropout,
    residual,
    width,
    zoo,
)
from ffnviz.analysis.lab.experiment import Subject, Verdict, in_double
from ffnviz.model.activations import ACTIVATIONS, Activation
from ffnviz.model.encoder import Encoder
from ffnviz.model.model import load
from tests.analysis.lab.broken import Peeking, finding, subject, with_ffn

HOLDS, FAILS, ONLY_IF = Verdict.HOLDS, Verdict.FAILS, Verdict.ONLY_IF


def test_a_layer_without_a_bend_fits_no_curve() -> None:
    wave = approximation.FUNCTIONS["wave"]
    curved, flat = (
        approximation.approximate(wave, name, (1, 16, 64)) for name in ("relu", "identity")
    )
    for claim in ("One hidden layer", "A wider layer"):
        assert finding(curved, claim).verdict is HOLDS
        assert finding(flat, claim).verdict is FAILS


def test_a_straight_line_leaves_nothing_to_gain() -> None:
    line = approximation.approximate(approximation.FUNCTIONS["straight line"], "relu", (1, 8))
    assert finding(line, "A wider layer").verdict is Verdict.UNDECIDED


def test_whether_phi_must_bend_depends_on_phi(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = "A wide enough"
    assert finding(approximation.bent_and_straight(subject(model_folder)), claim).verdict is ONLY_IF
    identity, relu = ACTIVATIONS["identity"], ACTIVATIONS["relu"]
    monkeypatch.setitem(ACTIVATIONS, "identity", relu)
    assert finding(approximation.bent_and_straight(subject(model_folder)), claim).verdict is HOLDS
    monkeypatch.setitem(ACTIVATIONS, "identity", identity)
    monkeypatch.setitem(ACTIVATIONS, "relu", identity)
    assert finding(approximation.bent_and_straight(subject(model_folder)), claim).verdict is FAILS


@pytest.mark.parametrize("claim", ["What a sub-layer", "A block keeps"])
def test_sub_layers_that_whisper_and_shout_are_told_apart(model_folder: Path, claim: str) -> None:
    def scaled(factor: float) -> Subject:
        def breaks(encoder: Encoder) -> None:
            encoder.token_embedding.weight.data *= 10
            for block in encoder.blocks:
                for layer in (block.ffn.compress, block.attention.project_out):
                    layer.weight.data *= factor
                    layer.bias.data *= factor

        return subject(model_folder, breaks)

    quiet, loud = (residual.try_residual(scaled(factor), depth=2) for factor in (1e-3, 1e3))
    assert finding(quiet, claim).verdict is HOLDS
    assert finding(loud, claim).verdict is FAILS


@pytest.mark.parametrize("claim", ["Before training, the last", "Before training, gradients"])
def test_pre_and_post_ln_taken_for_each_other_turn_the_verdict(
    model_folder: Path, claim: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = residual.try_residual(subject(model_folder), depth=4)
    measure = residual._gradients
    other = {"pre": "post", "post": "pre"}
    monkeypatch.setattr(
        residual, "_gradients", lambda subject, norm, depth: measure(subject, other[norm], depth)
    )
    after = residual.try_residual(subject(model_folder), depth=4)
    assert {finding(before, claim).verdict, finding(after, claim).verdict} == {HOLDS, FAILS}


def test_a_gelu_that_is_relu_never_falls(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = "GELU, like ReLU"
    assert finding(zoo.visit_zoo(subject(model_folder)), claim).verdict is FAILS
    monkeypatch.setitem(ACTIVATIONS, "gelu", ACTIVATIONS["relu"])
    assert finding(zoo.visit_zoo(subject(model_folder)), claim).verdict is HOLDS


@pytest.mark.parametrize(
    ("stand_in", "verdict"), [("gelu_tanh", ONLY_IF), ("gelu", HOLDS), ("wild", FAILS)]
)
def test_two_gelus_are_the_same_only_if_they_are(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch, stand_in: str, verdict: Verdict
) -> None:
    wild = Activation("gelu_tanh", "wild", "", lambda x: 30 * (50 * x).sin(), False, "nowhere")
    monkeypatch.setitem(ACTIVATIONS, "gelu_tanh", {**ACTIVATIONS, "wild": wild}[stand_in])
    seen = zoo.visit_zoo(subject(model_folder))
    assert finding(seen, "GELU and its tanh").verdict is verdict


def test_a_gate_without_the_two_thirds_is_larger(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = "A gated FFN"
    assert finding(zoo.visit_zoo(subject(model_folder)), claim).verdict is HOLDS
    monkeypatch.setattr(zoo, "GATE_SHARE", 1.0)
    assert finding(zoo.visit_zoo(subject(model_folder)), claim).verdict is FAILS


def test_an_ffn_that_peeks_does_more_than_its_neurons(model_folder: Path) -> None:
    claim = "A neuron set to zero"
    assert finding(width.try_width(subject(model_folder)), claim).verdict is HOLDS
    peeking = width.try_width(subject(model_folder, with_ffn(Peeking)))
    assert finding(peeking, claim).verdict is FAILS


@pytest.mark.parametrize(
    ("important", "random", "verdict"),
    [(True, True, HOLDS), (True, False, ONLY_IF), (False, True, FAILS), (False, False, FAILS)],
)
def test_which_half_may_go_follows_from_both_cuts(
    model_folder: Path, important: bool, random: bool, verdict: Verdict
) -> None:
    found = width.try_width(subject(model_folder), (1.0, 0.5))
    d_ff = found.important[0].d_ff

    def cuts(kept: bool) -> tuple[width.Cut, ...]:
        whole, half = found.important
        return whole, width.Cut(half.d_ff, half.divergence, half.prediction, kept)

    assert width._half(cuts(important), cuts(random), d_ff).verdict is verdict


def test_dropout_that_forgets_to_divide_is_biased(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = "On average, dropout"
    assert finding(dropout.try_dropout(subject(model_folder), 0.3), claim).verdict is HOLDS
    divided = dropout._dropped
    monkeypatch.setattr(
        dropout, "_dropped", lambda hidden, p, generator: (1 - p) * divided(hidden, p, generator)
    )
    assert finding(dropout.try_dropout(subject(model_folder), 0.3), claim).verdict is FAILS


def test_the_prediction_moves_with_much_dropout_and_not_without_any() -> None:
    claim, model = "So, on average", load("relu")
    trained = Subject(model, model.trace("She opened the [MASK]."), 1, 3, in_double(model))
    without = finding(dropout.try_dropout(trained, 0.0), claim)
    assert without.verdict is HOLDS
    assert math.isfinite(without.check.value)
    assert finding(dropout.try_dropout(trained, 0.5), claim).verdict is FAILS
