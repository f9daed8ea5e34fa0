"""Claims on fits, norms, activations, widths and dropout flip when broken on purpose."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ffnviz.analysis.dimensions.presets import PRESETS
from ffnviz.analysis.divergence import divergence
from ffnviz.analysis.lab import (
    approximation,
    dropout,
    residual,
    width,
    zoo,
)
from ffnviz.analysis.lab.experiment import Subject, Verdict, in_double
from ffnviz.model.activations import ACTIVATIONS, Activation
from ffnviz.model.edit import Edit
from ffnviz.model.encoder import Encoder
from ffnviz.model.model import load
from ffnviz.model.tokenizer import Tokenizer
from tests.analysis.lab.broken import Peeking, finding, subject, with_ffn
from tests.analysis.networks import ours

HOLDS, FAILS, ONLY_IF = Verdict.HOLDS, Verdict.FAILS, Verdict.ONLY_IF


def test_a_layer_without_a_bend_fits_no_curve() -> None:
    wave = approximation.FUNCTIONS["wave"]
    curved, flat = (
        approximation.approximate(wave, name, (1, 2, 3, 4, 6, 8, 12, 16, 24))
        for name in ("relu", "identity")
    )
    for claim in ("One hidden layer", "A wider layer"):
        assert finding(curved, claim).verdict is HOLDS
        assert finding(flat, claim).verdict is FAILS


def test_a_straight_line_leaves_nothing_to_gain() -> None:
    line = approximation.approximate(approximation.FUNCTIONS["straight line"], "relu", (1, 8))
    assert finding(line, "A wider layer").verdict is Verdict.UNDECIDED


def test_errors_that_go_up_and_down_are_no_trend() -> None:
    widths = approximation.WIDTHS
    falling = [1 / n for n in widths]
    wandering = [2.0 + (-1) ** k + 0.01 * k for k in range(len(widths))]
    lucky = [*wandering[:-1], 0.1]  # the best of all, and the widest: and yet no trend

    def verdict(errors: list[float]) -> Verdict:
        return approximation._wider(errors, widths, 1.0).verdict

    assert verdict(falling) is HOLDS
    assert approximation._wider([3.0, 2.0, 1.0], (1, 2, 4), 1.0).verdict is Verdict.UNDECIDED
    assert verdict(wandering) is verdict(lucky) is verdict(falling[::-1]) is FAILS


def test_whether_phi_may_be_a_polynomial_depends_on_phi(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(approximation, "FEW", (16,))
    tried, identity = subject(model_folder), ACTIVATIONS["identity"]

    def verdict() -> Verdict:
        found = approximation.three_phis(tried)
        (one,) = {finding(found, claim).verdict for claim in ("With any φ", "A wide enough")}
        return one

    assert verdict() is ONLY_IF
    monkeypatch.setattr(approximation, "SQUARE", replace(ACTIVATIONS["silu"], name="square"))
    monkeypatch.setitem(ACTIVATIONS, "identity", ACTIVATIONS["relu"])
    assert verdict() is HOLDS
    monkeypatch.setitem(ACTIVATIONS, "relu", identity)
    assert verdict() is FAILS


def test_x_squared_fits_the_best_parabola_and_no_more() -> None:
    found = approximation.approximate(approximation.FUNCTIONS["bump"], "square", (32,))
    parabola = np.polynomial.Polynomial.fit(found.x, found.y, 2)
    expected = np.sqrt(((parabola(found.x) - found.y) ** 2).mean())
    assert found.fits[0].error == pytest.approx(expected, rel=1e-6)


def test_a_stream_that_is_normalised_on_the_way_is_no_sum(
    model_folder: Path, tokenizer: Tokenizer
) -> None:
    claim = "Nothing in the stream"
    post = ours(tokenizer, norm="post")
    replaced = Subject(post, post.trace("The cat sat."), 0, 1, in_double(post))
    assert finding(residual.try_residual(subject(model_folder), depth=2), claim).verdict is HOLDS
    assert finding(residual.try_residual(replaced, depth=2), claim).verdict is FAILS


def test_an_ffn_with_a_narrow_waist_is_a_bottleneck(tokenizer: Tokenizer) -> None:
    verdicts = []
    for d_ff in (8, 64):
        model = ours(tokenizer, d_ff=d_ff)
        tried = Subject(model, model.trace("The cat."), 0, 0, in_double(model))
        verdicts.append(finding(residual.try_residual(tried, depth=2), "An FFN is built").verdict)
    assert verdicts == [HOLDS, FAILS]


@pytest.mark.parametrize("claim", ["What a part adds", "A block hardly"])
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
    model_folder: Path, claim: str
) -> None:
    tried = subject(model_folder)
    drawn = residual.stacks(tried, 12)
    other = {"pre-LN": drawn["post-LN"], "post-LN": drawn["pre-LN"]}
    before, after = (
        finding(residual.try_residual(tried, drawn=each), claim).verdict for each in (drawn, other)
    )
    assert {before, after} == {HOLDS, FAILS}


def test_draws_that_disagree_decide_nothing() -> None:
    pre, post = np.ones((10, 3)), np.full((10, 3), 2.0)
    pre[:, 0] = 3.0  # less even than post-LN
    mixed = post.copy()
    mixed[4, -1], mixed[4, 0] = 0.5, 8.0

    def verdicts(after: np.ndarray) -> list[Verdict]:
        return [f.verdict for f in residual._norm_findings({"pre-LN": pre, "post-LN": after})]

    assert verdicts(post) == [HOLDS, FAILS]
    assert verdicts(mixed) == [Verdict.UNDECIDED, Verdict.UNDECIDED]


def test_many_pairs_of_trainings_that_agree_would_decide_and_one_does_not(
    model_folder: Path,
) -> None:
    seen = zoo.visit_zoo(subject(model_folder))
    assert finding(seen, "GELU trains better").verdict is Verdict.UNDECIDED
    relu, gelu = np.full(10, 4.0), np.linspace(3.8, 3.9, 10)
    assert zoo._trains_better(relu, gelu).verdict is HOLDS
    assert zoo._trains_better(gelu, relu).verdict is FAILS
    assert zoo._trains_better(relu, np.append(gelu[1:], 4.1)).verdict is Verdict.UNDECIDED


def test_what_t5_has_follows_from_what_is_known_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def verdict(first: str, later: str) -> Verdict:
        for name, phi in (("t5", first), ("t5v11", later)):
            monkeypatch.setitem(PRESETS, name, replace(PRESETS[name], phi=phi))
        return zoo._in_t5().verdict

    assert verdict(PRESETS["t5"].phi, PRESETS["t5v11"].phi) is ONLY_IF
    assert verdict("gelu", "geglu") is HOLDS
    assert verdict("relu", "reglu") is FAILS


@pytest.mark.parametrize(
    ("ratio", "verdict"), [(4, ONLY_IF), (1, FAILS), (9, FAILS), (99, FAILS), (100, HOLDS)]
)
def test_times_are_no_magnitudes(ratio: float, verdict: Verdict) -> None:
    assert width._magnitudes(ratio).verdict is verdict


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
    monkeypatch.setattr(zoo, "SHARE", 1.0)
    assert finding(zoo.visit_zoo(subject(model_folder)), claim).verdict is FAILS


def test_an_ffn_that_peeks_does_more_than_its_neurons(model_folder: Path) -> None:
    claim = "A neuron set to zero"
    assert finding(width.try_width(subject(model_folder)), claim).verdict is HOLDS
    peeking = width.try_width(subject(model_folder, with_ffn(Peeking)))
    assert finding(peeking, claim).verdict is FAILS


@pytest.mark.parametrize(
    ("important", "random", "least", "verdict"),
    [(True, True, True, HOLDS), (True, True, False, ONLY_IF), (True, False, True, ONLY_IF),
     (False, True, True, FAILS), (False, False, False, FAILS)],
)  # fmt: skip
def test_which_half_may_go_follows_from_all_cuts(
    model_folder: Path, important: bool, random: bool, least: bool, verdict: Verdict
) -> None:
    found = width.try_width(subject(model_folder), (1.0, 0.5))
    d_ff = found.important[0].d_ff
    whole, half = found.important

    def cuts(kept: bool) -> tuple[width.Cut, ...]:
        return whole, replace(half, kept_best=kept)

    got = width._half(cuts(important), cuts(random), replace(half, kept_best=least), d_ff)
    assert got.verdict is verdict


def test_the_least_important_half_is_the_other_half(model_folder: Path) -> None:
    tried = subject(model_folder)
    found, order = width.try_width(tried, (1.0, 0.5)), width.importance(tried)
    edits = [Edit(k, row[: found.least.d_ff].tolist(), scale=0.0) for k, row in enumerate(order)]
    logits = tried.model.trace(tried.trace.text, edits=edits).logits[tried.token]
    expected = divergence(tried.trace.logits_at(tried.token), logits)
    assert found.least.divergence == pytest.approx(expected, rel=1e-3)


def test_dropout_that_forgets_to_divide_is_biased(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = "On average, dropout"
    assert finding(dropout.try_dropout(subject(model_folder), 0.3), claim).verdict is HOLDS
    divided = dropout._dropped
    monkeypatch.setattr(
        dropout, "_dropped", lambda hidden, kept, p: (1 - p) * divided(hidden, kept, p)
    )
    assert finding(dropout.try_dropout(subject(model_folder), 0.3), claim).verdict is FAILS


def test_passes_refute_what_much_dropout_does_and_never_prove_the_contrary() -> None:
    claim, model = "Then it leaves the prediction", load("relu")
    trained = Subject(model, model.trace("She opened the [MASK]."), 1, 3, in_double(model))
    without, little, much = (
        finding(dropout.try_dropout(trained, p), claim) for p in (0.0, 0.01, 0.5)
    )
    assert without.verdict is little.verdict is Verdict.UNDECIDED
    assert math.isfinite(without.check.value)
    assert "nothing is dropped" in without.verdict_text
    assert "proves none" in little.verdict_text
    assert much.verdict is FAILS


@pytest.mark.parametrize("p", [0.1, 0.5])
def test_drawing_again_draws_other_passes_and_the_same_verdicts(
    model_folder: Path, p: float
) -> None:
    tried = subject(model_folder)
    first, second, third = (
        dropout.try_dropout(tried, p, dropout.SEED + k, judged=judged)
        for k, judged in ((0, None), (1, None), (2, dropout.passes(tried, p)))
    )
    assert not np.array_equal(first.outputs, second.outputs)
    for other in (second, third):
        for one, again in zip(first.findings, other.findings, strict=True):
            assert (one.verdict, one.check) == (again.verdict, again.check)
