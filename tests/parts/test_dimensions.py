"""Dimensions: shapes and code, costs, points of a person's own, folds, why the FFN is wider."""

import re
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from ffnviz.analysis.cost import PRESETS, Shape, ffn_share, multiply_adds, parameters
from ffnviz.models.activations import ACTIVATIONS
from ffnviz.parts.dimensions import forms
from ffnviz.parts.dimensions.folds import switches
from ffnviz.parts.dimensions.separate import MOST, POINTS, SIDE
from ffnviz.parts.dimensions.warp import warp
from ffnviz.parts.dimensions.wider import DRAWS, TOYS, WIDTHS, Toy, answers, fitted
from ffnviz.pictures.exercises import checked
from ffnviz.pictures.wording import percent
from tests.parts.sheets import Drawn, drawn, words
from tests.parts.test_sparsity_sheets import percents, shown

SENTENCE = "She opened the [MASK] and looked out."
FORMS = {
    "rows": ("(8, 512) → (8, 2,048) → (8, 512)", "torch.relu(z)"),
    "columns": ("(512, 8) → (2,048, 8) → (512, 8)", "W2.T @ torch.relu(z)"),
    "numpy": ("(8, 512) → (8, 2,048) → (8, 512)", "np.maximum(z, 0)"),
    "batch": ("(32, 128, 512) → (32, 128, 2,048) → (32, 128, 512)", "torch.randn(32"),
}
SIZES = {"d_model": "d_model", "d_ff": "d_ff", "n_tokens": "n_tokens", "vocabulary": "vocab_size"}
ONE = st.tuples(st.integers(0, SIDE - 1), st.integers(0, SIDE - 1), st.booleans())


def dimensions(part: str, **query: str) -> Drawn:
    return drawn("dimensions", part, True, text=SENTENCE, **query)


def test_the_live_shapes_stand_beside_code_that_runs_in_every_form(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    part = dimensions("flow", twin="gelu")
    assert "(8, 512) → (8, 2,048) → (8, 512)" in words(part.cells["flow"])
    exec(part.cells["code"].data["code"], {})  # what a student would paste
    printed = capsys.readouterr().out
    assert "torch.Size([8, 512]) -> torch.Size([8, 512])" in printed
    assert float(re.findall(r"tensor\(([^)]+)\)", printed)[0]) < 1e-4, "the difference"
    all_forms = forms.forms
    measured: list[Any] = []

    def measured_once(*given: Any) -> Any:
        if not measured:
            measured.append(all_forms(*given))
        return measured[0]

    monkeypatch.setattr(forms, "RUNS", 1)
    monkeypatch.setattr(forms, "forms", measured_once)
    for form, (shapes, code) in FORMS.items():
        part = dimensions("forms", form=form)  # an old link
        assert shapes in words(part.cells["forms"])
        assert code in part.cells["code"].data["code"]


def shares(shape: Shape) -> list[float]:
    """What the sentence above the bars must say."""
    return [
        shown(counts["FFN"] / sum(counts.values()))
        for counts in (parameters(shape), multiply_adds(shape))
    ]


def test_presets_sizes_heads_and_a_gate_are_counted() -> None:
    def costs(part: Drawn) -> list[float]:
        return percents(words(part.cells["costs"]).partition("\n")[0])

    part = dimensions("cost")
    assert costs(part) == shares(PRESETS["twins"].shape)
    one_head = dimensions("cost", heads="1")
    assert costs(one_head) == shares(PRESETS["twins"].shape), "heads change no count"
    assert "each head is 512 wide" in one_head.said
    assert costs(dimensions("cost", gated="gated")) == shares(Shape(gated=True))
    asked: dict[str, str] = {}
    shape = Shape()
    for setting, name in SIZES.items():
        (slider,) = (each for each in part.controls.values() if each["name"] == setting)
        value = int(slider["stops"][-1].replace(",", ""))
        assert value != getattr(shape, name)
        asked[setting], shape = str(value), Shape(**{**vars(shape), name: value})
        moved = dimensions("cost", **asked)
        assert costs(moved) == shares(shape), name
        overtaking = percents(words(moved.cells["share-against-length"]))
        assert overtaking[-1] == shown(ffn_share(shape, shape.n_tokens)), name
    llama = dimensions("cost", preset="llama")
    assert "27 GB in float32" in llama.said
    assert costs(llama) == shares(PRESETS["llama"].shape)
    equal = words(dimensions("cost", length="1024").cells["share-against-length"])
    assert "1,024 tokens" in equal
    assert percents(equal) == [50]


def test_one_ffn_for_all_tokens_is_measured() -> None:
    part = dimensions("same")
    assert "8 tokens, one set of 2,099,712 parameters" in words(part.cells["same"])
    differences = [row[-1] for row in part.cells["batch"].data["rows"]]
    assert len(differences) == 3
    for each in differences:
        assert re.fullmatch(r"0|\d(\.\d)? × 10⁻[⁵-⁹]", each), differences


def test_a_plane_is_folded_and_unfolded() -> None:
    def folded(**more: str) -> Drawn:
        return dimensions("warp", warp_second="1", warp_third="5", **more)

    def is_drawn(part: Drawn, points: NDArray[np.float32]) -> None:
        cell, expected = part.cells["warp"], points[::3].reshape(-1, 2)[:, 0]
        grids = [each for each in cell.data["figure"]["data"] if each["name"] == "grid"]
        sent = cell.arrays[grids[2]["x"]["array"]]  # of the last panel
        sent = sent[~np.isnan(sent)][: len(expected)]
        np.testing.assert_allclose(sent, expected, rtol=1e-4, atol=1e-3)

    part = folded()
    model = part.run.model
    inputs = part.run.trace.blocks[1].ffn.input[[3, 0, 4]]
    found = warp(model, 1, inputs, model.card.phi, 8)
    assert f"{len(found.lines)} straight lines" in words(part.cells["warp"])
    assert f"{found.n_pieces} flat pieces" in words(part.cells["warp"])
    is_drawn(part, found.output.bent)
    is_drawn(folded(warp="0.4"), found.output.at(0.4)[0])
    assert "stays 1 flat piece" in words(folded(warp="0").cells["warp"])
    assert "ReLU with 2,048 neurons" in words(folded(warp_neurons="2048").cells["warp"])


@given(st.lists(ONE, max_size=MOST))
def test_points_survive_a_link(points: list[tuple[int, int, bool]]) -> None:
    text = POINTS.text(tuple(points))
    assert len(text) <= 2 * MOST + 1
    assert sorted(POINTS.parse(text)) == sorted(points)
    assert POINTS.text(POINTS.parse(text)) == text


def test_a_persons_own_points_are_separated_or_asked_for() -> None:
    none = dimensions("separate", shape="mine", points="")
    assert "There are no points yet" in none.said
    two = ((5, 5, True), (60, 60, False))
    xor = ((5, 5, True), (60, 60, True), (5, 60, False), (60, 5, False))
    for own, says in [(two, "a straight line in the plane can do it too"), (xor, "no d_ff up to")]:
        link = {"shape": "mine", "points": POINTS.text(own), "lift_phi": "identity"}
        said = dimensions("separate", **link).said
        assert f"of {len(own)} points" in said
        assert says in said


def test_what_is_no_point_of_the_square_is_refused_with_all_others() -> None:
    wrong = ([1, 2], [1, 2, 3], [-1, 0, 1], [0, SIDE, 1], [0.5, 0, 1], [True, 0, 1], ["0", 0, 1])
    assert [checked([[5, 5, 0], each], SIDE, MOST) for each in wrong] == [None] * len(wrong)
    assert checked([[0, 0, 1]] * (MOST + 1), SIDE, MOST) is None
    assert checked(None, SIDE, MOST) is None
    assert checked([], SIDE, MOST) == [], "all were taken away"
    assert checked([[0, 63, 1], [5, 5, 0]], SIDE, MOST) == [(0, 63, True), (5, 5, False)]


def test_it_says_how_many_pieces_and_units_a_line_needs() -> None:
    asked = {"text": "The cat sat on the mat.", "warp_view": "line", "token": "2"}
    part = drawn("dimensions", "warp", True, **asked, folds="6", fold_units="48")
    assert "make 64 pieces; one layer of 48 neurons matches 48, and needs 64" in part.said
    assert "12 neurons fold the line into 64 pieces; in one layer they make at most 13" in part.said
    said = words(part.cells["folds-network"])
    other = next(at for at, label in enumerate(part.run.labels) if f"to “{label}” block" in said)
    first, both = switches(part.run.model, part.run.trace, 0, (1, other))
    assert f"alone makes {1 + first[-1]:,} pieces" in said
    assert f"next block's it makes {1 + both[-1]:,} pieces" in said
    part = drawn("dimensions", "warp", text="a", warp_view="line")
    assert "A line needs at least two tokens." in part.said


PHIS = {
    "relu": lambda x: np.maximum(x, 0),
    "gelu": lambda x: x * (1 + torch.erf(torch.from_numpy(x) / 2**0.5).numpy()) / 2,
}


def by_numpy(toy: Toy, phi: str, d_ff: int, draw: int) -> NDArray[np.float64]:
    """The outputs of one draw, by NumPy's own least squares."""
    x, y = toy.x.numpy(), toy.y.numpy()
    hidden = PHIS[phi](x @ toy.weight[draw, :d_ff].numpy().T + toy.bias[draw, :d_ff].numpy())
    hidden = np.column_stack([hidden, np.ones(len(x))])
    out: NDArray[np.float64] = hidden @ np.linalg.lstsq(hidden, y, rcond=1e-10)[0]
    return out


@pytest.mark.parametrize("phi", PHIS)
@pytest.mark.parametrize("name", TOYS)
def test_each_error_is_that_of_a_least_squares_fit(name: str, phi: str) -> None:
    toy = TOYS[name]()
    for d_ff in WIDTHS:
        errors = fitted(toy, ACTIVATIONS[phi], d_ff).errors
        assert errors.shape == (DRAWS,)
        for draw in (0, 57, 198):
            out, y = by_numpy(toy, phi, d_ff, draw), toy.y.numpy()
            if name == "points":
                expected = np.mean((out > 1e-9) != (y > 0))
            else:
                expected = np.sqrt(np.sum((out - y) ** 2) / np.sum((y - y.mean(axis=0)) ** 2))
            assert errors[draw] == pytest.approx(expected, abs=1e-6), (d_ff, draw)


def test_without_phi_no_width_is_better_than_the_line_of_numpy() -> None:
    for name in TOYS:
        toy = TOYS[name]()
        for d_ff in WIDTHS:
            errors = fitted(toy, ACTIVATIONS["identity"], d_ff).errors
            assert errors.min() >= toy.without - 1e-9
        assert toy.without > 0.25
    for name in ["curve", "pairs"]:
        toy = TOYS[name]()
        x, y = np.column_stack([toy.x.numpy(), np.ones(len(toy.x))]), toy.y.numpy()
        rest = y - x @ np.linalg.lstsq(x, y, rcond=None)[0]
        expected = np.sqrt(np.sum(rest**2) / np.sum((y - y.mean(axis=0)) ** 2))
        assert toy.without == pytest.approx(expected)


@pytest.mark.parametrize("phi", PHIS)
def test_wider_is_better_and_the_widest_stores_all_pairs(phi: str) -> None:
    for name, answer in answers(ACTIVATIONS[phi]).items():
        medians = [fit.median for fit in answer.fits]
        assert medians[-1] < 0.1 < medians[0], name
        if name != "points":  # a least squares fit with more columns is no worse
            assert medians == sorted(medians, reverse=True), name
        for fit in answer.fits:
            off = answer.toy.error(fit.middle(answer.toy.x), answer.toy.y)
            assert float(off) == pytest.approx(fit.median, abs=1e-9)
    assert answers(ACTIVATIONS[phi])["pairs"].fits[-1].median < 1e-4  # 16 neurons, 16 pairs


def test_the_page_says_the_errors() -> None:
    said = drawn("dimensions", "wider", twin="gelu", wider="16").said
    found = answers(ACTIVATIONS["gelu"]).values()
    assert all(percent(answer.fits[-1].median) in said for answer in found)
    one, two, three = (percent(answer.toy.without) for answer in found)
    assert f"Without φ these errors are {one}, {two} and {three}." in said
    one, two, three = (percent(answer.fits[1].median) for answer in found)
    assert f"no wider (d_ff = d_model), they are {one}, {two} and {three};" in said
