"""The Lab's parts as functions: what they test, say and ask for."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch

from ffnviz.analysis.lab import trained as analysis
from ffnviz.analysis.lab.bend_deleted import WITHOUT_PHI, remove_phi
from ffnviz.analysis.lab.experiment import Finding
from ffnviz.analysis.lab.fitting import FUNCTIONS, WIDTHS, Approximation, approximate
from ffnviz.analysis.lab.influence import input_influence
from ffnviz.analysis.lab.linearity import try_linearity
from ffnviz.analysis.lab.positions import try_positions, try_sharing
from ffnviz.analysis.lab.residual import try_dropout, try_residual
from ffnviz.analysis.lab.trained import QUESTIONS
from ffnviz.analysis.lab.width import SHARES, try_width
from ffnviz.analysis.number_format import short
from ffnviz.analysis.trainings import FAMILIES, SEEDS, Row
from ffnviz.parts.experiments import experiment_subject
from ffnviz.parts.lab import fit, influence
from ffnviz.parts.sheet import Measured, Measurement, cells_of
from ffnviz.pictures.cell import Cell
from ffnviz.state.actions import Set
from ffnviz.state.settings import Values
from tests.analysis.trainings.rows import ROW
from tests.parts.sheets import Drawn, drawn, words

SENTENCE = "The cat sat on the mat."


def lab(part: str, measure: bool = True, **query: str) -> Drawn:
    return drawn("lab", part, measure, text=SENTENCE, token="3", **query)


def verdicts(cells: dict[str, Cell], note: str) -> list[tuple[str, str]]:
    groups = cells[f"verdicts-lab-{note}"].data["groups"]
    return [(each["claim"], each["verdict"]) for _, claims in groups for each in claims]


def expected(findings: Sequence[Finding]) -> list[tuple[str, str]]:
    return [(each.claim, each.verdict_text) for each in findings]


def after(measurement: Any, result: Any, setup: tuple[object, ...]) -> dict[str, Cell]:
    """What is shown of a result that was measured for a setup."""
    assert isinstance(measurement, Measurement)
    rows = measurement.after(Measured(setup, result, "12:00:00", "a CPU"))
    return {cell.key: cell for cell in cells_of(rows)}


@pytest.mark.parametrize(("way", "stop"), [("change", 0), ("delete", 1), ("shuffle", 2)])
def test_positions_are_tried_in_three_ways(way: str, stop: int) -> None:
    part = lab("positions", way=way)
    findings = try_positions(experiment_subject(part.run), way).findings
    assert verdicts(part.cells, "positions") == expected(findings)
    assert part.controls["What is done"]["stop"] == stop
    if way == "change":
        sentence = words(part.cells["lab-positions"])
        assert "the FFN changes 0 outputs of other tokens, attention 42." in sentence


@pytest.mark.parametrize(("a", "stop"), [("2", 9), ("-3", 0)])
def test_the_factor_of_the_linear_parts_moves(a: str, stop: int) -> None:
    part = lab("linear", a=a)
    result = try_linearity(experiment_subject(part.run), float(a))
    assert verdicts(part.cells, "linear") == expected(result.findings)
    assert words(part.cells["lab-linear"]).startswith("4 of 8 parts are linear")
    assert f"f({a} x) = {a} f(x)" in words(part.cells["lab-linear"])
    (norm,) = [each for each in result.tried if each.name == "LayerNorm"]
    last = part.cells["verdicts-lab-linear"].data["groups"][0][1][-1]
    assert f"scaling by {short(norm.scaling)}" in last["measured"]
    assert part.moved("a", stop) == (Set({"a": a}), True)
    assert part.controls["factor a of f(a x) = a f(x)"]["stop"] == stop


def test_of_a_word_that_stands_twice_the_places_and_the_blocks_are_compared() -> None:
    part = drawn("lab", "sharing", text=SENTENCE, token="5")
    findings = try_sharing(experiment_subject(part.run)).findings
    assert verdicts(part.cells, "sharing") == expected(findings)
    assert "“the” at token 5 and at its other places" in words(part.cells["lab-word"])
    assert "Blocks 2 and 1" in words(part.cells["lab-blocks"])


def test_stacks_are_as_deep_and_networks_as_narrow_as_asked() -> None:
    part = lab("residual", layers="4")
    result = try_residual(experiment_subject(part.run), 4)
    assert verdicts(part.cells, "residual") == expected(result.findings)
    gradients = words(part.cells["lab-gradients"])
    assert "the gradient at block 4 is" in gradients
    assert f"{result.gradients['post-LN'][:, -1].mean():.2f} with post-LN" in gradients
    assert "at “sat”" in words(part.cells["lab-norms"])
    assert part.moved("layers", 2) == (Set({"layers": "4"}), True)

    part = lab("width", left=f"{100 * SHARES[-1]:g}")
    found = try_width(experiment_subject(part.run))
    assert verdicts(part.cells, "width") == expected(found.findings)
    last = found.important[-1]
    assert f"With {last.d_ff:,} neurons" in words(part.cells["lab-width"])
    assert f"left it is “{last.prediction.words[0]}”." in words(part.cells["lab-width-words"])
    parameters, *_ = part.cells["lab-saved"].data["rows"]
    assert parameters[2] == f"{found.parameters[-1]:,}"
    assert part.controls["neurons left in every block"]["stop"] == 0


def test_the_zoo_has_a_gate_of_each_kind() -> None:
    part = lab("zoo")  # where it was once
    assert part.run.state.page == "sparsity"
    assert "x = −0.75: −0.1700" in words(part.cells["lab-curves"])
    for gate in ("GEGLU", "SwiGLU", "GLU", "ReGLU"):
        part = drawn("sparsity", "bend", text=SENTENCE, phi_view="gated", gate=gate)
        sentence = words(part.cells["lab-gate"])
        assert f"Of the 1,365 gates of an untrained {gate}" in sentence
    plain, _ = part.cells["lab-parameters"].data["rows"]
    assert plain[2] == "2,099,712"


def test_convolution_and_the_bend_deleted_say_what_changes() -> None:
    part = lab("convolution")
    assert "differ by at most" in words(part.cells["lab-convolution"])
    assert "(1, 512, 7) → (1, 2048, 7)" in part.cells["code"].data["code"]
    assert "to have 512 channels" in words(part.cells["verdicts-lab-convolution"])
    ((claim, verdict),) = verdicts(part.cells, "convolution")
    assert "two convolutions" in claim
    assert verdict.startswith("holds by construction: ")
    part = lab("bend")
    result = remove_phi(experiment_subject(part.run))
    assert verdicts(part.cells, "bend") == expected(result.findings)
    sentence = words(part.cells["lab-without"])
    assert f"predicts “{result.predictions[WITHOUT_PHI].words[0]}” at “sat”" in sentence
    assert f"{short(result.divergences[WITHOUT_PHI])} nats" in sentence
    assert "rank 512 of 512" in words(part.cells["lab-folded"])


def test_dropout_moves_with_p_and_can_be_drawn_again() -> None:
    part = lab("dropout")
    findings = try_dropout(experiment_subject(part.run), 0.1, seed=1).findings
    assert verdicts(part.cells, "dropout") == expected(findings)
    assert part.pressed("Draw again") == Set({"draw": "2"})
    assert part.moved("p", 0) == (
        Set({"p": "0"}), True,
    )  # fmt: skip
    again, none = lab("dropout", draw="2"), lab("dropout", p="0")
    assert words(again.cells["lab-settling"]) != words(part.cells["lab-settling"])
    # One row and eight may be added up in another order: rounding, not dropout.
    assert re.search("One pass is off by (0|<0.1)%", words(none.cells["lab-settling"]))
    assert none.controls["dropout p"]["stop"] == 0

    assert lab("dropout", draw="9999").pressed("Draw again") == Set({"draw": "1"})


@pytest.fixture(scope="module")
def absolute() -> Approximation:
    return approximate(FUNCTIONS["|x|"], "relu")


@pytest.mark.parametrize(("units", "place"), [("2", 1), ("9", 5), ("22", 8), ("400", 16)])
def test_the_widths_of_a_fit_are_walked(absolute: Approximation, units: str, place: int) -> None:
    part = drawn("lab", "fit", measure=False, function="|x|", phi="relu", units=units)
    query = {"function": "|x|", "phi": "relu", "units": units}
    (measurement,) = fit.sheet(part.run, Values(query)).rows
    cells = after(measurement, absolute, ("|x|", "relu", None))
    assert list(cells) == ["lab-fit", "lab-errors", "verdicts-lab-fit"]
    assert verdicts(cells, "fit") == expected(absolute.findings)
    sentence = f"{WIDTHS[place]} ReLU neurons are off by {short(absolute.fits[place].error)}"
    assert words(cells["lab-fit"]).startswith(sentence)
    assert words(cells["lab-errors"]).startswith("From 1 neuron to 512")
    assert part.controls["neurons n"]["stop"] == place


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ({}, ("wave", "relu")),
        ({"twin": "gelu"}, ("wave", "gelu")),
        ({"phi": "identity", "function": "step"}, ("step", "identity")),
        ({"phi": "square", "function": "my drawing"}, ("my drawing", "square")),
        ({"phi": "?", "function": "?", "curve": "\0"}, ("wave", "relu")),
    ],
)
def test_what_is_chosen_is_fitted(query: dict[str, str], asked: tuple[str, str]) -> None:
    run = drawn("lab", "fit", measure=False, **query).run
    (measurement,) = fit.sheet(run, Values(query)).rows
    assert isinstance(measurement, Measurement)
    assert measurement.setup[:2] == asked
    name, curve, phi = measurement.args
    assert (name, phi) == asked
    assert curve == fit.START


def test_a_polynomial_fits_nothing_but_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def quick(function: Any, phi: str, **more: Any) -> Approximation:
        return approximate(function, phi, WIDTHS[:9], **more)

    monkeypatch.setattr(fit, "approximate", quick)
    claims = verdicts(lab("fit", phi="identity").cells, "fit")
    assert len(claims) == 2
    assert all("does not hold" in verdict for _, verdict in claims)


def test_a_curve_that_is_drawn_stands_in_the_link_and_is_fitted() -> None:
    part = lab("fit", function="my drawing", measure=False)
    assert list(part.cells) == ["lab-drawing", "soon-lab-pieces", "soon-lab-errors", "soon-lab-fit"]
    draw = part.cells["lab-drawing"].events["curve"]
    curve = "0" + 31 * "k" + "u"
    assert draw([-1.0, *[0.0] * 31, 0.52]) == Set({"curve": curve})
    (measurement,) = fit.sheet(part.run, Values({"function": "my drawing", "curve": curve})).rows
    assert isinstance(measurement, Measurement)
    assert measurement.setup[2] == (-1.0, *[0.0] * 31, 0.5)
    assert [draw(sent) for sent in (None, [0.5], ["x"] * 33, [float("nan")] * 33)] == [None] * 4


def test_who_hears_whom_at_any_length_and_depth() -> None:
    part = lab("hears", length="4", depth="2")
    result = input_influence(experiment_subject(part.run), 4, 2)
    claimed = verdicts(part.cells, "hears")
    assert claimed == expected(result.findings)[: len(claimed)]
    assert (
        "Over 4 tokens in 2 layers an RNN takes 5 sequential steps; attention takes 2, one for each"
        in words(part.cells["lab-hears"])
    )
    gradients = lab("positions", positions_view="gradients", length="4", depth="2")
    assert claimed + verdicts(gradients.cells, "hears") == expected(result.findings)
    assert "with recurrent weights × 8 by " in words(gradients.cells["lab-decay"])
    for shown, settings in ((part, influence.SETTINGS), (gradients, influence.GRADIENT_SETTINGS)):
        stops = [shown.controls[each.label]["stop"] for each in settings]
        assert stops == [1, 1, 4][: len(settings)]


@pytest.mark.parametrize(
    ("part", "query", "shown"),
    [
        ("dropout", "p=7", {"dropout p": 10}),
        ("dropout", "p=nan", {"dropout p": 2}),
        ("dropout", "draw=-1", {"dropout p": 2}),
        ("fit", "units=x", {"neurons n": 5}),
        ("fit", "curve=%00", {"neurons n": 5}),
        ("hears", "n=1e9", {"tokens, at most": 8}),
        ("hears", "depth=x", {"layers": 2}),
        ("linear", "a=0", {"factor a of f(a x) = a f(x)": 4}),
        ("positions", "way=paint", {"What is done": 0}),
    ],
)
def test_a_garbled_link_opens_the_nearest(part: str, query: str, shown: dict[str, int]) -> None:
    name, value = query.split("=")
    controls = drawn("lab", part, measure=False, **{name: value}).controls
    assert {label: controls[label]["stop"] for label in shown} == shown


def test_one_token_is_one_matrix_which_changes_on_the_way_to_another_or_to_zero() -> None:
    part = lab("linear", linear_view="token", way_to="6", way_share="0.25")
    assert "To token" in part.controls
    inputs = part.run.trace.blocks[1].ffn.input
    first, last = (part.run.trace.blocks[1].ffn.pre_activation[at] > 0 for at in (2, 5))
    switched = int((first != last).sum())
    assert words(part.cells["local-switches"]).startswith(
        f"From “sat” to “mat” {switched:,} of 2,048 neurons switch: near one place"
    )
    ffn = part.run.model.ffn(1)
    assert ffn.key_bias is not None
    x = torch.lerp(inputs[2], inputs[5], 0.25).double()
    active = (x @ ffn.keys.double().mT + ffn.key_bias.double() > 0).sum()
    assert f"{int(active)} neurons have a slope" in words(part.cells["local-rank"])
    curved = lab("linear", linear_view="token", twin="gelu")
    assert "but none abruptly" in words(curved.cells["local-switches"])

    part = drawn("lab", "linear", text="cat", linear_view="token")
    assert words(part.cells["local-switches"]).startswith("From “cat” to “0”")
    assert "To token" not in part.controls


def test_a_frozen_stack_is_one_matrix_and_two_changes_act_together_through_phi() -> None:
    part = lab("linear", linear_view="frozen")
    assert re.search(r"only φ bends: the 2 blocks are 0\.\d+ from linear", part.said)
    shape = f"{7 * 512:,} × 512"
    assert f"without φ fold into one matrix of {shape}" in words(part.cells["folded-stack"])
    names = part.cells["folded-stack"].data["panels"][0]["names"]
    assert names == part.run.labels

    part = lab("linear", linear_view="together")
    assert "At “sat” the two changes together add a vector that neither adds alone" in part.said
    assert "this vector is almost zero: no neuron has switched yet" in part.said
    assert re.search(r"without φ, \d(\.\d)? × 10⁻¹[⁴⁵]", part.said)
    names = [t["name"] for t in part.cells["interaction"].data["figure"]["data"]]
    assert names == ["with ReLU", "without φ"]
    curved = lab("linear", linear_view="together", twin="gelu", change_u="he", change="0.01")
    names = [t["name"] for t in curved.cells["interaction"].data["figure"]["data"]]
    assert names == ["with GELU", "φ″ says", "without φ"]
    assert curved.cells["interaction-neurons"].events["point"] is not None


def test_a_line_by_hand_says_how_far_it_is_off_and_survives_any_link() -> None:
    part = lab("fit", fit_view="hand", function="|x|", hand_units="2", corners="0YuuYY")
    assert part.cells["hand"].data["corners"] == [[0, 60], [30, 30], [60, 60]]
    assert "your 2 neurons are off by 0" in words(part.cells["hand"])
    move = part.cells["hand"].events["corners"]
    assert move([0, 60, 29, 30, 60, 60]) == Set({"corners": "0YtuYY"})
    more = lab("fit", fit_view="hand", function="|x|", hand_units="4", corners="0YuuYY")
    assert more.cells["hand"].data["corners"][1::2] == [[15, 45], [45, 45]]
    for text in ("0Y", "YY0Y", "0Yuu", "é", "0YuuuYYY"):
        flat = lab("fit", fit_view="hand", hand_units="1", corners=text)
        assert flat.cells["hand"].data["corners"] == [[0, 30], [60, 30]]


def shown(monkeypatch: pytest.MonkeyPatch, rows: Sequence[Row]) -> Drawn:
    monkeypatch.setattr(analysis, "trainings", lambda: tuple(rows))
    return drawn("lab", "trained", text="The cat sat.")


def trainings_of(seeds: int, no_ffn: float) -> list[Row]:
    """All variants alike but for those without FFNs, which lose more by so much."""
    return [
        replace(ROW, variant=name, seed=seed, loss=2.5 + 0.001 * (seed + place) % 0.003
                + no_ffn * (name == "no-ffn"))
        for place, name in enumerate(FAMILIES[0]) for seed in range(seeds)
    ]  # fmt: skip


def test_with_some_seeds_it_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    found = shown(monkeypatch, trainings_of(3, 0.2))
    assert f"3 of {SEEDS} seeds done, too few to decide" in words(found.cells["lab-trainings"])
    verdicts = found.cells["verdicts-lab-trained"].data["groups"][0][1]
    assert len(verdicts) == sum(q.variant in FAMILIES[0] for q in QUESTIONS)
    assert {each["kind"] for each in verdicts} == {"undecided"}


@pytest.mark.parametrize(("no_ffn", "says", "kind"), [
    (0.2, "0.200 nats higher", "holds"), (-0.2, "0.200 nats lower", "fails"),
])  # fmt: skip
def test_with_all_seeds_it_says_which_way_and_where(
    monkeypatch: pytest.MonkeyPatch, no_ffn: float, says: str, kind: str
) -> None:
    found = shown(monkeypatch, trainings_of(SEEDS, no_ffn))
    sentence = words(found.cells["lab-trainings"])
    assert f"Without FFNs: the loss is {says} than with the usual network" in sentence
    assert "at d_model 64 on everyday sentences, after 16,000 steps, with 8 seeds" in sentence
    first = found.cells["verdicts-lab-trained"].data["groups"][0][1][0]
    assert (first["claim"], first["kind"]) == (QUESTIONS[0].claim, kind)
