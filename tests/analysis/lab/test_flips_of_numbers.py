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


def test_a_network_that_learned_the_points_by_heart_fits_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
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


def test_a_fit_that_training_did_not_find_disproves_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fitting, "STEPS", 8)
    monkeypatch.setattr(fitting, "least_squares", lambda columns, y: (
        torch.zeros(columns.shape[1], dtype=y.dtype), float(y.square().mean().sqrt())
    ))  # fmt: skip
    found = fitting.approximate(fitting.FUNCTIONS["wave"], "gelu", (16,))
    one = finding(found, "One hidden layer")
    assert one.verdict is Verdict.UNDECIDED
    assert "does not prove that there is none" in one.verdict_text


def test_a_straight_line_leaves_nothing_to_gain() -> None:
    line = fitting.approximate(fitting.FUNCTIONS["straight line"], "relu", (1, 8))
    assert finding(line, "A wider layer").verdict is Verdict.UNDECIDED


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


def test_whether_phi_may_be_a_polynomial_depends_on_phi(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fitting, "FEW", (16,))
    tried, identity = subject(model_folder), ACTIVATIONS["identity"]

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


def test_a_stream_that_is_normalised_on_the_way_is_no_sum(
    model_folder: Path, tokenizer: Tokenizer
) -> None:
    claim = "Nothing in the stream"
    post = ours(tokenizer, norm="post")
    replaced = Subject(post, post.trace("The cat sat."), 0, 1)
    assert finding(residual.try_residual(subject(model_folder), depth=2), claim).verdict is HOLDS
    assert finding(residual.try_residual(replaced, depth=2), claim).verdict is FAILS


def test_an_ffn_with_a_narrow_waist_is_a_bottleneck(tokenizer: Tokenizer) -> None:
    verdicts = []
    for d_ff in (8, 64):
        model = ours(tokenizer, d_ff=d_ff)
        tried = Subject(model, model.trace("The cat."), 0, 0)
        verdicts.append(finding(residual.try_residual(tried, depth=2), "An FFN is built").verdict)
    assert verdicts == [HOLDS, ONLY_IF]


def test_a_bottleneck_as_wide_as_the_stream_has_the_weights_of_pytorchs_layers() -> None:
    widths = residual.bottleneck(512)
    assert widths == (512, 128, 128, 512)
    kernels = zip(widths[:-1], widths[1:], (1, 3, 1), strict=True)
    layers = [nn.Conv2d(*sizes, bias=False) for sizes in kernels]
    weights = sum(layer.weight.numel() for layer in layers)
    assert residual.bottleneck_weights(widths) == weights == 278_528


@pytest.mark.parametrize("claim", ["Before training, the last", "Before training, gradients"])
def test_pre_and_post_ln_taken_for_each_other_turn_the_verdict(
    model_folder: Path, claim: str
) -> None:
    tried = subject(model_folder)
    drawn = residual.stacks(tried, 12)
    other = {"pre-LN": drawn["post-LN"], "post-LN": drawn["pre-LN"]}
    before, after = (
        finding(residual.try_residual(tried, gradients=each), claim).verdict
        for each in (drawn, other)
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


def test_who_uses_gelu_follows_from_what_is_known_of_each(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = subject(model_folder)

    def verdict(**phis: str) -> Verdict:
        for name in ("bert", "gpt2", "t5", "t5v11"):
            phi = phis.get(name, PRESETS[name].phi)
            monkeypatch.setitem(PRESETS, name, replace(PRESETS[name], phi=phi))
        return finding(zoo.visit_zoo(tried), "BERT, GPT and T5").verdict

    assert verdict() is ONLY_IF
    assert verdict(t5="gelu") is HOLDS
    assert verdict(t5="relu", t5v11="reglu") is FAILS
    assert verdict(t5v11="geglu", bert="relu") is FAILS


@pytest.mark.parametrize(("ratio", "verdict"), [(4, ONLY_IF), (1, FAILS), (9, FAILS), (100, FAILS)])
def test_times_are_no_magnitudes(ratio: float, verdict: Verdict) -> None:
    found = width._magnitudes(ratio)
    assert found.verdict is verdict
    assert "64 times in T5-11B" in found.measured


@pytest.mark.parametrize(("times", "verdict"), [(99, FAILS), (100, HOLDS)])
def test_networks_that_are_magnitudes_wider_would_prove_it(
    times: int, verdict: Verdict, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, preset in PRESETS.items():
        shape = replace(preset.shape, d_ff=times * preset.shape.d_model)
        monkeypatch.setitem(PRESETS, name, replace(preset, shape=shape))
    monkeypatch.setattr(width, "T5_11B", 128.0)
    assert width._magnitudes(times).verdict is verdict


def test_a_published_network_outside_of_two_to_eight_times_refutes_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shape = replace(PRESETS["bert"].shape, d_ff=16 * 768)
    monkeypatch.setitem(PRESETS, "bert", replace(PRESETS["bert"], shape=shape))
    assert width._magnitudes(4).verdict is FAILS


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
    wild = Activation("gelu_tanh", "wild", "", lambda x: 30 * (50 * x).sin(), "nowhere")
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


def test_dropout_that_forgets_to_divide_or_is_in_front_of_a_bend_is_biased(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = "On average, dropout leaves the FFN"
    bends = subject(model_folder, bending("ffn.compress"))  # behind the dropout
    assert finding(residual.try_dropout(subject(model_folder), 0.3), claim).verdict is HOLDS
    assert finding(residual.try_dropout(bends, 0.3), claim).verdict is FAILS
    divided = residual._dropped
    monkeypatch.setattr(
        residual, "_dropped", lambda hidden, kept, p: (1 - p) * divided(hidden, kept, p)
    )
    assert finding(residual.try_dropout(subject(model_folder), 0.3), claim).verdict is FAILS


@pytest.mark.parametrize("p", [0.0, 0.1, 0.9])
def test_the_mean_of_all_masks_is_the_output_at_every_p(model_folder: Path, p: float) -> None:
    one = finding(
        residual.try_dropout(subject(model_folder), p), "On average, dropout leaves the FFN"
    )
    assert one.verdict is HOLDS
    assert "4,096 masks of the 12 neurons" in one.measured


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
def test_drawing_again_draws_other_passes_and_the_same_verdicts(
    model_folder: Path, p: float
) -> None:
    tried = subject(model_folder)
    first, second, third = (
        residual.try_dropout(tried, p, residual.SEED + k, judged=judged)
        for k, judged in ((0, None), (1, None), (2, residual.passes(tried, p)))
    )
    assert not np.array_equal(first.outputs, second.outputs)
    for other in (second, third):
        for one, again in zip(first.findings, other.findings, strict=True):
            assert (one.verdict, one.check) == (again.verdict, again.check)
