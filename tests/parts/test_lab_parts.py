"""The Lab's parts as functions: what they test, say and ask for."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch

from ffnviz.analysis.lab import trained as analysis
from ffnviz.analysis.lab.bend_deleted import WITHOUT_PHI, remove_phi
from ffnviz.analysis.lab.experiment import Finding, Subject
from ffnviz.analysis.lab.fitting import FUNCTIONS, WIDTHS, Approximation, approximate
from ffnviz.analysis.lab.influence import input_influence
from ffnviz.analysis.lab.linearity import try_linearity
from ffnviz.analysis.lab.positions import try_convolution, try_positions, try_sharing
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
    return drawn("lab", part, measure, **{"text": SENTENCE, "token": "3", **query})


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


# A part, settings in its link, and what they ask the analysis for.
Try = Callable[[Subject], Sequence[Finding]]
TRIED: list[tuple[str, dict[str, str], Try]] = [
    ("positions", {"way": "change"}, lambda subject: try_positions(subject, "change").findings),
    ("positions", {"way": "shuffle"}, lambda subject: try_positions(subject, "shuffle").findings),
    ("linear", {"a": "-3"}, lambda subject: try_linearity(subject, -3.0).findings),
    ("sharing", {"token": "5"}, lambda subject: try_sharing(subject).findings),
    ("residual", {"layers": "4"}, lambda subject: try_residual(subject, 4).findings),
    ("width", {}, lambda subject: try_width(subject).findings),
    ("bend", {}, lambda subject: remove_phi(subject).findings),
    ("convolution", {}, lambda subject: try_convolution(subject).findings),
    ("dropout", {"p": "0.3", "draw": "2"}, lambda subject: try_dropout(subject, 0.3, 2).findings),
]


@pytest.mark.parametrize(("part", "query", "tried"), TRIED)
def test_the_verdicts_are_those_of_the_experiment_as_it_was_asked_for(
    part: str, query: dict[str, str], tried: Try
) -> None:
    shown = lab(part, True, **query)
    assert verdicts(shown.cells, part) == expected(tried(experiment_subject(shown.run)))


def test_what_was_measured_is_said_in_numbers() -> None:
    positions = words(lab("positions").cells["lab-positions"])
    assert "the FFN changes 0 outputs of other tokens, attention 42." in positions
    residual = lab("residual", layers="4")
    after_ln = try_residual(experiment_subject(residual.run), 4).gradients["post-LN"]
    gradients = words(residual.cells["lab-gradients"])
    assert "the gradient at block 4 is" in gradients
    assert f"{after_ln[:, -1].mean():.2f} with post-LN" in gradients
    bend = lab("bend")
    without = remove_phi(experiment_subject(bend.run))
    sentence = words(bend.cells["lab-without"])
    assert f"predicts “{without.predictions[WITHOUT_PHI].words[0]}” at “sat”" in sentence
    assert f"{short(without.divergences[WITHOUT_PHI])} nats" in sentence


def test_a_network_is_as_narrow_as_asked() -> None:
    part = lab("width", left=f"{100 * SHARES[-1]:g}")
    found = try_width(experiment_subject(part.run))
    last = found.important[-1]
    assert f"With {last.d_ff:,} neurons" in words(part.cells["lab-width"])
    assert f"left it is “{last.prediction.words[0]}”." in words(part.cells["lab-width-words"])
    parameters, *_ = part.cells["lab-saved"].data["rows"]
    assert parameters[2] == f"{found.parameters[-1]:,}"
    assert part.controls["neurons left in every block"]["stop"] == 0


def test_the_zoo_has_a_gate_of_each_kind() -> None:
    assert lab("zoo").run.state.page == "sparsity"  # it was in the Lab once
    for gate in ("GEGLU", "SwiGLU", "GLU", "ReGLU"):
        part = drawn("sparsity", "bend", text=SENTENCE, phi_view="gated", gate=gate)
        sentence = words(part.cells["lab-gate"])
        assert f"Of the 1,365 gates of an untrained {gate}" in sentence
    plain, _ = part.cells["lab-parameters"].data["rows"]
    assert plain[2] == "2,099,712"


def test_dropout_can_be_drawn_again() -> None:
    part = lab("dropout")
    assert part.pressed("Draw again") == Set({"draw": "2"})
    assert lab("dropout", draw="9999").pressed("Draw again") == Set({"draw": "1"})
    again, none = lab("dropout", draw="2"), lab("dropout", p="0")
    assert words(again.cells["lab-settling"]) != words(part.cells["lab-settling"])
    # One row and eight may be added up in another order: rounding, not dropout.
    assert re.search("One pass is off by (0|<0.1)%", words(none.cells["lab-settling"]))


@pytest.mark.parametrize(
    ("part", "setting", "value", "stop"),
    [("linear", "a", "-3", 0), ("residual", "layers", "4", 2), ("dropout", "p", "0", 0)],
)
def test_a_slider_asks_for_the_value_at_its_stop(
    part: str, setting: str, value: str, stop: int
) -> None:
    shown = drawn("lab", part, measure=False, **{setting: value})
    assert shown.moved(setting, stop) == (Set({setting: value}), True)
    (slider,) = (each for each in shown.controls.values() if each["name"] == setting)
    assert slider["stop"] == stop


@pytest.fixture(scope="module")
def absolute() -> Approximation:
    return approximate(FUNCTIONS["|x|"], "relu")


@pytest.mark.parametrize(("units", "place"), [("2", 1), ("400", 16)])
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
    assert f"one matrix of {7 * 512:,} × 512" in words(part.cells["folded-stack"])

    part = lab("linear", linear_view="together")
    assert "this vector is almost zero: no neuron has switched yet" in part.said
    assert re.search(r"without φ, \d(\.\d)? × 10⁻¹[⁴⁵]", part.said)
    curved = lab("linear", linear_view="together", twin="gelu", change_u="he", change="0.01")
    names = [t["name"] for t in curved.cells["interaction"].data["figure"]["data"]]
    assert names == ["with GELU", "φ″ says", "without φ"]


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
