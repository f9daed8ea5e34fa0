"""Claims on fits, norms, activations, widths and dropout flip when broken on purpose."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from ffnviz.analysis.cost import PRESETS
from ffnviz.analysis.lab import fitting, residual, width, zoo
from ffnviz.analysis.lab.experiment import Subject, Verdict
from ffnviz.models.activations import ACTIVATIONS, Activation
from ffnviz.models.encoder.model import load
from ffnviz.models.encoder.tokenizer import Tokenizer
from tests.analysis.lab.broken import bending, finding, subject
from tests.analysis.networks import ours

HOLDS, FAILS, ONLY_IF = Verdict.HOLDS, Verdict.FAILS, Verdict.ONLY_IF


@pytest.fixture(scope="module")
def tried(model_folder: Path) -> Subject:
    return subject(model_folder)


def test_a_layer_without_a_bend_fits_no_curve() -> None:
    wave = fitting.FUNCTIONS["wave"]
    curved, flat = (
        fitting.approximate(wave, name, (1, 2, 3, 4, 6, 8, 12, 16, 24))
        for name in ("relu", "identity")
    )
    for claim in ("One hidden layer", "A wider layer"):
        assert finding(curved, claim).verdict is HOLDS
        assert finding(flat, claim).verdict is FAILS


@pytest.mark.parametrize("name", fitting.JUMPS)
def test_where_a_function_jumps_no_network_is_nearer_than_half_the_jump(name: str) -> None:
    function, jumps = fitting.FUNCTIONS[name], fitting.JUMPS[name]
    for place in jumps:  # it does jump there, by 2
        before, after = function(torch.tensor([place - 1e-9, place + 1e-9], dtype=torch.float64))
        assert abs(after - before) == pytest.approx(2, abs=1e-6)
    found = fitting.approximate(function, "relu", (64,), jumps=jumps)
    assert found.fits[0].largest >= 1 - 1e-3
    one = finding(found, "One hidden layer")
    assert one.verdict is ONLY_IF
    assert "jumps" in one.verdict_text
    flat = fitting.approximate(function, "identity", (64,), jumps=jumps)
    assert finding(flat, "One hidden layer").verdict is FAILS


def test_who_learned_the_points_by_heart_fits_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    wave, step = fitting.FUNCTIONS["wave"], 4 / (fitting.POINTS - 1)
    sound = fitting.approximate(wave, "relu", (64,))
    ours = fitting.fit_to

    def comb(x: Tensor, y: Tensor, name: str, n: int, at: Tensor, expected: Tensor) -> object:
        """What is between the points is off by 1, and the points are as they were."""
        return ours(x, y, name, n, at, expected + torch.sin(math.pi * at / step))

    monkeypatch.setattr(fitting, "fit_to", comb)
    broken = fitting.approximate(wave, "relu", (64,))
    assert finding(sound, "One hidden layer").verdict is HOLDS
    assert finding(broken, "One hidden layer").verdict is Verdict.UNDECIDED
    assert broken.fits[0].error > 0.5


def test_a_fit_that_was_not_found_disproves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting, "STEPS", 8)
    monkeypatch.setattr(fitting, "least_squares", lambda columns, y: (
        torch.zeros(columns.shape[1], dtype=y.dtype), float(y.square().mean().sqrt())
    ))  # fmt: skip
    found = fitting.approximate(fitting.FUNCTIONS["wave"], "gelu", (16,))
    one = finding(found, "One hidden layer")
    assert one.verdict is Verdict.UNDECIDED
    assert "does not prove that there is none" in one.verdict_text


def test_errors_that_go_up_and_down_are_no_trend() -> None:
    widths = fitting.WIDTHS
    falling = [1 / n for n in widths]
    wandering = [2.0 + (-1) ** k + 0.01 * k for k in range(len(widths))]
    lucky = [*wandering[:-1], 0.1]  # the best of all, and the widest: and yet no trend

    def verdict(errors: list[float]) -> Verdict:
        return fitting._wider(errors, widths, 1.0).verdict

    assert verdict(falling) is HOLDS
    assert fitting._wider([3.0, 2.0, 1.0], (1, 2, 4), 1.0).verdict is Verdict.UNDECIDED
    assert verdict(wandering) is verdict(lucky) is verdict(falling[::-1]) is FAILS
    line = fitting.approximate(fitting.FUNCTIONS["straight line"], "relu", (1, 8))
    assert finding(line, "A wider layer").verdict is Verdict.UNDECIDED  # nothing to gain


def test_phi_may_be_no_polynomial(tried: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting, "FEW", (16,))
    identity = ACTIVATIONS["identity"]

    def verdict() -> Verdict:
        found = fitting.three_phis(tried)
        (one,) = {finding(found, claim).verdict for claim in ("With any φ", "A wide enough")}
        return one

    assert verdict() is ONLY_IF
    monkeypatch.setattr(fitting, "SQUARE", replace(ACTIVATIONS["silu"], name="square"))
    monkeypatch.setitem(ACTIVATIONS, "identity", ACTIVATIONS["relu"])
    # Whatever fits one function proves nothing of any other.
    assert verdict() is Verdict.UNDECIDED
    monkeypatch.setitem(ACTIVATIONS, "relu", identity)
    assert verdict() is FAILS


def test_x_squared_fits_the_best_parabola_and_no_more() -> None:
    found = fitting.approximate(fitting.FUNCTIONS["bump"], "square", (32,))
    at = torch.linspace(-2, 2, fitting.POINTS, dtype=torch.float64)
    parabola = np.polynomial.Polynomial.fit(at, fitting.FUNCTIONS["bump"](at), 2)
    expected = np.sqrt(((parabola(found.x) - found.y) ** 2).mean())
    assert found.fits[0].error == pytest.approx(expected, rel=1e-6)


def test_a_normalised_stream_is_no_sum(tried: Subject, tokenizer: Tokenizer) -> None:
    def verdict(tried: Subject, claim: str) -> Verdict:
        return finding(residual.try_residual(tried, depth=2), claim).verdict

    def other(**changes: object) -> Subject:
        model = ours(tokenizer, **changes)
        return Subject(model, model.trace("The cat sat."), 0, 1)

    assert verdict(tried, "Nothing in the stream") is HOLDS
    assert verdict(other(norm="post"), "Nothing in the stream") is FAILS
    assert verdict(other(d_ff=8), "An FFN is built") is HOLDS
    assert verdict(other(d_ff=64), "An FFN is built") is ONLY_IF


def test_a_bottleneck_as_wide_as_the_stream_has_the_weights_of_pytorchs_layers(
    tried: Subject,
) -> None:
    wide = tried.ours.encoder.config.d_model
    widths = (wide, wide // 4, wide // 4, wide)
    kernels = zip(widths[:-1], widths[1:], (1, 3, 1), strict=True)
    layers = [nn.Conv2d(*sizes, bias=False) for sizes in kernels]
    weights = sum(layer.weight.numel() for layer in layers)
    told = residual._bottleneck(tried).measured
    assert f"{' → '.join(map(str, widths))} with {weights:,};" in told


def test_pre_and_post_ln_taken_for_each_other_turn_the_verdict(tried: Subject) -> None:
    drawn = residual.try_residual(tried, 12).gradients
    swapped = {"pre-LN": drawn["post-LN"], "post-LN": drawn["pre-LN"]}
    for before, after in zip(*map(residual._norm_findings, (drawn, swapped)), strict=True):
        assert {before.verdict, after.verdict} == {HOLDS, FAILS}


def test_draws_that_disagree_decide_nothing() -> None:
    pre, post = np.ones((10, 3)), np.full((10, 3), 2.0)
    pre[:, 0] = 3.0  # less even than post-LN
    mixed = post.copy()
    mixed[4, -1], mixed[4, 0] = 0.5, 8.0

    def verdicts(after: np.ndarray) -> list[Verdict]:
        return [f.verdict for f in residual._norm_findings({"pre-LN": pre, "post-LN": after})]

    assert verdicts(post) == [HOLDS, FAILS]
    assert verdicts(mixed) == [Verdict.UNDECIDED, Verdict.UNDECIDED]


def test_times_are_no_magnitudes(monkeypatch: pytest.MonkeyPatch) -> None:
    for ratio, verdict in ((4, ONLY_IF), (1, FAILS), (9, FAILS), (100, FAILS)):
        found = width._magnitudes(ratio)
        assert found.verdict is verdict
        assert "64 times in T5-11B" in found.measured

    def widen(name: str, times: int) -> None:
        shape = replace(PRESETS[name].shape, d_ff=times * PRESETS[name].shape.d_model)
        monkeypatch.setitem(PRESETS, name, replace(PRESETS[name], shape=shape))

    # A published network outside of two to eight times refutes it, wider ones would prove it.
    widen("bert", 16)
    assert width._magnitudes(4).verdict is FAILS
    monkeypatch.setattr(width, "T5_11B", 128.0)
    for times, verdict in ((99, FAILS), (100, HOLDS)):
        for name in PRESETS:
            widen(name, times)
        assert width._magnitudes(times).verdict is verdict


def test_claims_on_gelu_and_gates_flip(tried: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    def verdict(claim: str, **others: Activation) -> Verdict:
        with monkeypatch.context() as patch:
            for name, phi in others.items():
                patch.setitem(ACTIVATIONS, name, phi)
            return finding(zoo.visit_zoo(tried), claim).verdict

    assert verdict("GELU, like ReLU") is FAILS
    assert verdict("GELU, like ReLU", gelu=ACTIVATIONS["relu"]) is HOLDS
    wild = Activation("gelu_tanh", "wild", "", lambda x: 30 * (50 * x).sin(), "nowhere")
    assert verdict("GELU and its tanh") is ONLY_IF
    assert verdict("GELU and its tanh", gelu_tanh=ACTIVATIONS["gelu"]) is HOLDS
    assert verdict("GELU and its tanh", gelu_tanh=wild) is FAILS
    assert verdict("A gated FFN") is HOLDS
    monkeypatch.setattr(zoo, "SHARE", 1.0)  # without the two thirds it is larger
    assert verdict("A gated FFN") is FAILS

    def used_by_all(**phis: str) -> Verdict:
        for name in ("bert", "gpt2", "t5", "t5v11"):
            phi = phis.get(name, PRESETS[name].phi)
            monkeypatch.setitem(PRESETS, name, replace(PRESETS[name], phi=phi))
        return verdict("BERT, GPT and T5")

    assert used_by_all() is ONLY_IF
    assert used_by_all(t5="gelu") is HOLDS
    assert used_by_all(t5="relu", t5v11="reglu") is FAILS
    assert used_by_all(t5v11="geglu", bert="relu") is FAILS


def test_dropout_that_forgets_to_divide_or_is_in_front_of_a_bend_is_biased(
    tried: Subject, model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = "On average, dropout leaves the FFN"
    bends = subject(model_folder, bending("ffn.compress"))  # behind the dropout
    for p in (0.0, 0.1, 0.3, 0.9):
        one = finding(residual.try_dropout(tried, p), claim)
        assert one.verdict is HOLDS
        assert "4,096 masks of the 12 neurons" in one.measured
    assert finding(residual.try_dropout(bends, 0.3), claim).verdict is FAILS
    divided = residual._dropped
    monkeypatch.setattr(
        residual, "_dropped", lambda hidden, kept, p: (1 - p) * divided(hidden, kept, p)
    )
    assert finding(residual.try_dropout(tried, 0.3), claim).verdict is FAILS


def test_passes_refute_what_much_dropout_does_and_never_prove_the_contrary() -> None:
    claim, model = "On average, dropout leaves the prediction", load("relu")
    trained = Subject(model, model.trace("She opened the [MASK]."), 1, 3)
    without, little, much = (
        finding(residual.try_dropout(trained, p), claim) for p in (0.0, 1e-6, 0.5)
    )
    assert without.verdict is little.verdict is Verdict.UNDECIDED
    assert math.isfinite(without.check.value)
    assert "nothing is dropped" in without.verdict_text
    assert "does not prove that there is none" in little.verdict_text
    assert much.verdict is FAILS


@pytest.mark.parametrize("p", [0.1, 0.5])
def test_drawing_again_draws_other_passes_and_the_same_verdicts(tried: Subject, p: float) -> None:
    first, second, third = (
        residual.try_dropout(tried, p, residual.SEED + k, judged=judged)
        for k, judged in ((0, None), (1, None), (2, residual.passes(tried, p)))
    )
    assert not np.array_equal(first.outputs, second.outputs)
    for other in (second, third):
        for one, again in zip(first.findings, other.findings, strict=True):
            assert (one.verdict, one.check) == (again.verdict, again.check)
