"""The pages' figures: allowed by plotly, true to their numbers, and typed text stays text."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from ffnviz.analysis.lab.fitting import Approximation, Fit
from ffnviz.analysis.lab.residual import Dropout
from ffnviz.analysis.lab.zoo import Curve, Zoo
from ffnviz.analysis.lens import Reading
from ffnviz.analysis.measuring import Spread
from ffnviz.analysis.prediction import Prediction
from ffnviz.analysis.timing.memory import Memory
from ffnviz.analysis.writing import Distribution, GeneratedToken
from ffnviz.parts.dimensions.cost import costs_figure, share_figure, short
from ffnviz.parts.dimensions.flow import SHOWN, flow, shared_weights
from ffnviz.parts.dimensions.memory import peaks_figure, times_figure
from ffnviz.parts.dimensions.separate import by_width_figure, lifted_figure
from ffnviz.parts.dimensions.warp import TINTS, Panel, warped
from ffnviz.parts.lab.fit import errors, fitted
from ffnviz.parts.lab.linear import off_linear
from ffnviz.parts.lab.positions import Map, ladder, maps
from ffnviz.parts.lab.residual import scattered
from ffnviz.parts.lab.summary import handout
from ffnviz.parts.neurons.compare import Comparison, both_values, differences
from ffnviz.parts.neurons.name import Score, scores
from ffnviz.parts.neurons.switch import changes
from ffnviz.parts.sparsity import gate
from ffnviz.parts.sparsity.activations import (
    BendCurve,
    Landing,
    bend,
    curves_figure,
    surface_figure,
)
from ffnviz.parts.sparsity.awake import (
    PUBLISHED_SHARES,
    awake_by_token,
    birth,
    reached_figure,
    threshold_figure,
)
from ffnviz.parts.sparsity.keep import PERCENTS, concentration_figure
from ffnviz.parts.vocabulary.generate import steps
from ffnviz.parts.vocabulary.lens import early_words_figure
from ffnviz.parts.vocabulary.softmax import distribution_figure
from ffnviz.pictures.neuron_chart import positions, probability, tags, values
from ffnviz.pictures.plot import Figure, token_axis
from ffnviz.pictures.time_charts import growth, products, side_by_side, stages
from ffnviz.pictures.votes import Claim
from tests.pictures.schema import Line, checked

TYPED = "<i>x</i> &amp;"  # in a sentence, or what somebody called a folder
NETWORK = Line(TYPED, "relu")
LABELS = ["The", TYPED, "."]
NONE, ONE = np.zeros(0), np.ones(1)
X = np.arange(3.0)
SIDE = np.linspace(-1, 1, 7)
MB = 1_000_000


def array(*numbers: float) -> Any:
    return np.array(numbers)


EDGES = array(-1.5, -0.5, 0.5, 1.5)
LANDED = Landing(EDGES, array(0.5, 0.3, 0.2), array(0.2, 0.3, 0.5), 0.5, 0.8, 0.8)
BEND = BendCurve(SIDE, np.maximum(SIDE, 0), SIDE)
SHARES = {(NETWORK, trained): np.full((2, 3), 0.1 + 0.2 * trained) for trained in (True, False)}
BY_BLOCK = {(NETWORK, block): array(50, 20, 10) for block in (0, 1)}
PARTS = {"embedding": 10, "attention": 20, "FFN": 60, "LayerNorm": 0, "output": 10}
CUT = Distribution(np.array([1, 2, 0]), array(0.1, 0.6, 0.3), 2, array(0.0, 0.7, 0.3))
WRITTEN = [GeneratedToken(7, TYPED, 0.5, 1.0, 9), GeneratedToken(8, "b", 0.25, 1.0, 9)]
READINGS = [
    Reading(stage, Prediction((TYPED, "b"), np.arange(2), np.array(shares, np.float32)), 0.5, 1)
    for stage, shares in (("s", (0.5, 0.1)), ("t", (0.9, 0.0)))
]
TIMES = {"a": (2.0, 1.0, 4.0), "b": (1.0, 0.5, 1.5), "c": (3.0, 3.0, 3.0)}
APART = np.array([[0.0, -2.0, 1.0], [0.5, 0.0, 0.0]])
BOTH = Comparison(np.zeros((2, 2), int), np.array([5, 9, 2]), 0 * APART, APART)
NOTHING_TO_COMPARE = Comparison(
    np.zeros((0, 2), int), np.zeros(0, int), np.zeros((0, 0)), np.zeros((0, 0))
)
SPREADS = Spread(2.0, 1.0, 4.0, 1.0, 3), Spread(3.0, 3.0, 3.0, 3.0, 3)
MEMORY = Memory(8, (8, 4), (2 * MB, MB), (2 * MB, MB), SPREADS, 0.0, 0, 0)
FITS = [
    Fit(NONE, NONE, NONE, 0.0, NONE, mean, largest) for mean, largest in ((0.5, 0.9), (0.0, 0.1))
]
FITTED = Approximation("relu", NONE, NONE, (1, 4), tuple(FITS), (2.0, 0.5), (), 0.7)
NAMES = ("circles", "squares")
CURVES = Zoo(X, (Curve("relu", X, 0 * X),), {}, X, (-0.75, -0.17), (0.0, 0.0), {}, findings=())
DRAWS = gate.Gate(X - 1, X - 1, X / 2, np.ones(3), np.stack([X - 1, 0 * X]))
N_DRAWS = len(gate.DRAWS)
PASSES = np.array([[0.0, 1.0], [2.0, 3.0]])
DROPOUT = Dropout(4, np.array([7, 9]), PASSES, np.zeros(2), ONE, 0, ONE, 1.0)

# Each figure, with numbers that must be where plotly looks for them.
FIGURES: dict[str, tuple[Figure, dict[str, Any]]] = {
    "bend": (
        bend("relu", "ReLU", BEND, LANDED, 0.0, "cat"),
        {"data[2].y": [50, 30, 0], "data[3].y": [0, 0, 20], "data[3].x": [-1, 0, 1]},
    ),
    "active by token": (
        awake_by_token(SHARES, LABELS, 1, 2_048),
        {"data[0].y": [30] * 3, "data[1].y": [10] * 3, "data[2].yaxis": ["y2"]},
    ),
    "threshold": (
        threshold_figure(array(0.1, 1.0), {NETWORK: array(0.5, 0.2)}, 0.3),
        {"data[0].y": [50, 20], "layout.shapes[0].x0": 0.3},
    ),
    "reached": (
        reached_figure({NETWORK: array(0.1, 0.2, 0.2)}, {NETWORK: 0.9}, LABELS),
        {"data[0].y": [10, 20, 20], "data[1].y": [90, 90]},
    ),
    "birth": (birth(np.arange(3), [("a", BY_BLOCK), ("b", BY_BLOCK)]), {"data[3].y": [50, 20, 10]}),
    "concentration": (concentration_figure({NETWORK: array(0.5, 1.0)}, 0.5), {}),
    "a part off linear": (
        off_linear({"a, b held": (0.1, 0.0)}, 1e-9, ("add", "scale"), "gelu"),
        {"data[1].x": [0], "data[0].y": ["a, held"]},
    ),
    "curves": (
        curves_figure(CURVES),
        {"data[0].y": X, "layout.annotations[2].text": "GELU's minimum<br>−0.1700 at −0.7500"},
    ),
    "a gate's surface": (
        surface_figure(X, np.outer(X - 1, X), "GEGLU", (X[:2], X[1:])),
        {"data[0].zmin": -2, "data[0].zmax": 2, "data[1].x": [0, 1], "data[1].y": [1, 2]},
    ),
    "draws of a gate": (
        gate.draws(DRAWS, 2),
        {"data[0].y": [1, 2, 3, -1, -2, -3], "data[1].y": [-1, 0, 1, 0, 0, 0]},
    ),
    "errors by draws": (
        gate.errors(np.ones(N_DRAWS), 0.4 / np.arange(1, N_DRAWS + 1), 1),
        {"data[2].x": [2], "data[2].y": [20]},
    ),
    "passes with dropout": (
        scattered(DROPOUT, "relu"),
        {"data[1].y": [1, 2], "layout.xaxis.ticktext": ["7", "9"]},
    ),
    "a fit": (  # after 30 of the 60 neurons
        fitted(SIDE, SIDE**2, SIDE, np.ones((60, 7)), "@relu"),
        {"data[30].y": SIDE**2, "data[31].y": SIDE},
    ),
    "errors of fits": (errors(FITTED, 1, "@relu"), {"data[2].y": [0.9, 0.1], "data[4].x": [4]}),
    "costs": (
        costs_figure(PARTS, {**PARTS, "embedding": 0}, "relu"),
        {"data[0].x": [10, 20, 60, 0, 10], "data[1].x": np.array([0, 20, 60, 0, 10]) / 0.9},
    ),
    "distribution": (
        distribution_figure(CUT, [TYPED, "b"], "relu"),
        {"data[0].y": [60, 30, 10], "data[1].y": [70, 30], "layout.shapes[0].x0": 2.5},
    ),
    "written": (steps(WRITTEN, 1, "relu"), {"data[0].y": [50, 25]}),
    "lens": (early_words_figure(READINGS, "relu"), {"data[0].z": [[50, 10], [90, 0]]}),
    "stages": (
        stages(TIMES, {"a": "FFN", "b": "FFN", "c": "FFN"}, "relu"),
        {"data[0].x": [2, 1, 3], "data[0].error_x.array": [2, 0.5, 0],
         "data[0].error_x.arrayminus": [1, 0.5, 0], "layout.yaxis.categoryarray": ["c", "b", "a"]},
    ),
    "devices": (
        side_by_side({"cpu": {"a": 2.0}, "cuda": {"a": 0.5}}, ["@muted", "@relu"]),
        {"data[0].x": [2], "data[1].x": [0.5]},
    ),
    "products": (
        products(["a"], ["(1, 2)"], array(0.25), ["9 a second"], [True], "relu"),
        {"data[0].x": [25]},
    ),
    "growth": (
        growth([8, 16], {"FFN, batch 1": [(2.0, 1.0, 3.0)] * 2}, "tokens T", "relu"),
        {"data[0].y": [2, 2], "data[0].error_y.array": [1, 1]},
    ),
    "by token": (
        values(LABELS, array(0.0, 2.5, -0.17), 1, "gelu", 0.1),
        {"data[0].y": [0, 2.5, -0.17], "data[0].customdata": [0, 1, 2],
         "layout.shapes[0].x0": 0.5, "layout.shapes[1].y0": 0.1},
    ),
    "by position": (
        positions(array(0.5, 0.25), np.array([40, 20]), "relu"),
        {"data[0].x": [1, 2], "data[0].y": [50, 25]},
    ),
    "by four positions": (  # the middles of 1 to 4 and 5 to 8
        positions(array(0.5, 0.25), np.array([40, 20]), "relu", 4),
        {"data[0].x": [2.5, 6.5], "data[0].text": ["1–4", "5–8"]},
    ),
    "tags": (
        tags(["past (9)", TYPED], array(0.8, 0.3), array(0.1, 0.2), [0.001, 0.4], 0.05, "relu"),
        {"data[0].x": [80, 30], "data[1].x": [10, 20]},
    ),
    "differences": (
        differences(["a", TYPED], BOTH, 1),
        {"data[0].zmin": -2, "data[0].zmax": 2, "data[0].customdata": [[5, 9, 2]] * 2,
         "layout.shapes[0].y0": 0.5},
    ),
    "no differences": (differences([], NOTHING_TO_COMPARE, 0), {}),
    "both sentences": (both_values(("dog", TYPED), BOTH, 0, "relu"), {"data[1].x": [0, -2, 1]}),
    "changes": (
        changes(array(0.0, 0.5), array(0.0, 0.25), "relu"),
        {"data[0].x": [0, 50], "data[1].x": [0, 25]},
    ),
    "score": (
        scores(Score(4, 1, 1, 10, (), ()), "relu"),
        {"data[0].y": [25, 100, 10], "data[0].text": ["25%", "100%", "10%"]},
    ),
    "score of nothing": (
        scores(Score(0, 0, 0, 10, (), ()), "relu"),
        {"data[0].y": [0, 0, 0], "data[0].text": ["none named", "never fires", "0%"]},
    ),
    "lifted": (
        lifted_figure(array(-1, 2, 3), array(0, 1, -1), np.array([True, False, False]), NAMES),
        {"data[0].x": [-1], "data[1].x": [2, 3], "layout.shapes[0].x0": 0},
    ),
    "nothing lifted": (lifted_figure(NONE, NONE, np.zeros(0, dtype=bool), NAMES), {}),
    "right by width": (
        by_width_figure((1, 4, 8), np.array([5, 9, 10]), 10, 7, 4, "@relu"),
        {"data[0].y": [70] * 3, "data[1].y": [50, 90, 100], "data[2].x": [4], "data[2].y": [90]},
    ),
    "no points": (by_width_figure((1, 4), np.array([0, 0]), 0, 0, 1, "@relu"), {}),
    "memory": (peaks_figure(MEMORY, 1, "@relu"), {"data[1].y": [2, 1], "data[2].x": [4]}),
    "times of chunks": (
        times_figure(MEMORY, 0, "@relu"),
        {"data[0].error_y.array": [2, 0], "data[0].error_y.arrayminus": [1, 0]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_has_its_numbers(name: str) -> None:
    figure, expected = FIGURES[name]
    drawn = checked(figure)
    for path, each in expected.items():
        found, numbers = np.ravel(drawn[path]).tolist(), np.ravel(each).tolist()
        texts = isinstance(numbers[0], str)
        assert found == (numbers if texts else pytest.approx(numbers, rel=1e-6)), path


def texts_in(value: Any, name: str = "") -> Iterator[str]:
    """What a figure has in words; customdata, groups and meta are not shown."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from texts_in(inner, key)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from texts_in(inner, name)
    elif isinstance(value, str) and name in ("name", "text", "ticktext"):
        yield value


@pytest.mark.parametrize(
    "name",
    ["active by token", "threshold", "concentration", "reached", "birth", "distribution",
     "written", "lens", "by token", "tags", "differences", "both sentences"],
)  # fmt: skip
def test_what_was_typed_is_shown_letter_by_letter(name: str) -> None:
    words = " ".join(texts_in(FIGURES[name][0]))
    assert "&lt;i&gt;x&lt;/i&gt; &amp;amp;" in words
    assert "<i>" not in words


def test_between_whole_neurons_the_curve_of_concentration_is_straight() -> None:
    shares = array(0.5, 0.75, 0.9, 1.0)  # of four neurons
    y = np.array(checked(concentration_figure({NETWORK: shares}, 0.25)).data[0].y)
    assert y[-1] == pytest.approx(100)
    assert np.interp([12.5, 25], PERCENTS, y) == pytest.approx([25, 50], abs=1)


def test_of_many_tokens_some_are_named() -> None:
    many = token_axis([f"w{i}" for i in range(128)])
    assert len(many["ticktext"]) <= 40
    assert many["tickvals"][0] == 0


def test_birth_marks_the_first_and_the_last_point_and_what_was_published() -> None:
    drawn = checked(FIGURES["birth"][0])
    for trace in drawn.data:
        first, between, last = trace.marker.size
        assert min(first, last) > between == 0
    said = " ".join(note.text for note in drawn.layout.annotations)
    for name, value in PUBLISHED_SHARES.items():
        assert f"{name} {value:g}%" in said


def test_a_map_leaves_zero_blank_and_missing_values_missing() -> None:
    def mapped(values: Any) -> go.Figure:
        rows = [TYPED, "y"][: len(values)]
        return checked(maps([Map("a<br>b", values, "@relu", rows, ["x", "y"])], 1, "of it",
                            ("done to", "seen at")))  # fmt: skip

    values = np.array([[0.0, 1e-9], [0.25, 1.0]])
    drawn = mapped(values)
    z = np.asarray(drawn.data[0].z)
    assert z[0, 0] == 0
    assert z[0, 1] > drawn.data[0].colorscale[1][0]
    np.testing.assert_allclose(z[1], [0.5, 1.0])
    np.testing.assert_allclose(drawn.data[0].customdata, values)
    assert drawn.layout.yaxis.ticktext[0].startswith("&lt;i&gt;")
    missing, tiny = np.asarray(mapped(np.array([[np.nan, 1e-16]])).data[0].z)[0]
    assert np.isnan(missing)
    assert tiny < 1e-5


@pytest.mark.parametrize("n", [1, 7, 10])
def test_maps_stand_in_rows_and_none_covers_another(n: int) -> None:
    drawn = checked(maps([Map(str(k), np.eye(3), "@relu", [], []) for k in range(n)], 5, "",
                         ("a", "b")))  # fmt: skip
    boxes = []
    for k in range(n):
        number = k + 1 if k else ""
        x = drawn.layout[f"xaxis{number}"].domain
        y = drawn.layout[f"yaxis{number}"].domain
        assert 0 <= x[0] < x[1] <= 1 + 1e-9
        assert -1e-9 <= y[0] < y[1] <= 1 + 1e-9
        boxes.append((*x, *y))
    for k, (left, right, low, high) in enumerate(boxes):
        for other in boxes[:k]:
            apart = right <= other[0] or other[1] <= left or high <= other[2] or other[3] <= low
            assert apart


def test_zero_has_a_place_on_a_logarithmic_axis() -> None:
    drawn = checked(ladder([("difference", 0.0, "@relu"), ("output", 24.0, "@text")], "x"))
    assert "exactly 0" in drawn.data[0].text[0]
    assert "24" in drawn.data[0].text[1]
    assert drawn.data[0].x[0] > 0
    assert checked(FIGURES["errors of fits"][0]).data[3].y[1] > 0
    drawn = checked(FIGURES["a part off linear"][0])
    assert drawn.data[0].base + drawn.data[0].x[0] == pytest.approx(-1)  # 0.1


def test_the_handout_is_one_page_that_loads_nothing_and_keeps_text_text() -> None:
    first = Claim("A & B.", "holds", "✓", "holds", "", "0 < 1", "")
    second = Claim("C.", "only if", "◐", "holds only if <it>", "", "x", "", label="Often thought")
    third = Claim("D.", "undecided", "–", "cannot be decided here", "", "y", "")
    claims = [("One", [first, second]), ("Two", [third])]
    page = handout(claims, "<script>alert(1)</script>", "ReLU, block 2", "2 < 3.", "Tested <now>.")
    assert page.startswith("<!doctype html>")
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "A &amp; B." in page
    assert "<p>2 &lt; 3.</p>" in page
    assert page.count("<h2>") == 2
    assert page.count("<em>Often thought:</em> C.") == page.count("<em>") == 1
    for outside in ("http:", "https:", "src=", "@import", "url("):
        assert outside not in page


def test_the_boxes_of_the_flow_are_as_high_as_their_vectors_with_a_line_a_token() -> None:
    drawn = checked(flow(8, 512, 2_048, "ReLU", "relu"))
    boxes = [shape for shape in drawn.layout.shapes if shape.type == "rect"]
    assert [box.y1 - box.y0 for box in boxes] == [512, 2_048, 2_048, 512]
    shapes = ["(8, 512)", "(8, 2,048)", "(8, 2,048)", "(8, 512)"]
    assert list(drawn.data[0].text) == [f"<b>{shape}</b>" for shape in shapes]
    for n in [1, SHOWN, SHOWN + 5]:
        drawn = checked(shared_weights(["x"] * n, 4, 16, 100, "gelu"))
        assert len(drawn.data[0].text) == min(n, SHOWN)
        assert bool(drawn.data[3].text) == (n > SHOWN)


@pytest.mark.parametrize(("overtaken", "n"), [(1_024.0, 1), (-5.0, 0), (1e9, 0)])
def test_where_attention_overtakes_is_marked_if_it_is_in_the_figure(
    overtaken: float, n: int
) -> None:
    shares = share_figure(array(1, 10_000), array(0.7, 0.1), (128.0, 0.6), overtaken, "relu")
    drawn = checked(shares)
    assert len(drawn.data[2].x) == n
    assert list(drawn.data[1].x) == [128]


def test_large_counts_are_short() -> None:
    counts = (0, 999, 1_500, 2_099_712, 6_738_415_616, 3e12)
    assert [*map(short, counts)] == ["0", "999", "1.5 k", "2.1 M", "6.74 G", "3 T"]


def test_only_tags_beyond_chance_have_the_accent_and_p_is_never_smaller_than_said() -> None:
    accent, grey = checked(FIGURES["tags"][0]).data[0].marker.color
    assert accent != grey
    assert [*map(probability, (1.0, 0.4, 0.05))] == ["p = 1", "p = 0.4", "p = 0.050"]
    for p, exponent in ((0.00042, "−3"), (3e-12, "−11"), (0.0, "−299")):
        assert probability(p) == f"p &lt; 10<sup>{exponent}</sup>"


def test_each_cell_is_in_the_trace_of_its_tint() -> None:
    points = np.stack(np.meshgrid(SIDE, SIDE), axis=-1)
    awake = np.arange(36).reshape(6, 6) // 6 + 3  # a row a number
    panel = Panel("one", points, points[0, :3], ("a", "b"))
    drawn = checked(warped([panel, panel], awake, ["x", "<b>", "z"], np.ones((2, 4)), "relu"))
    cells = [trace for trace in drawn.data if trace.name == "cells" and trace.xaxis == "x"]
    assert len(cells) == 6
    for row, trace in enumerate(cells):
        y = np.array(trace.y)
        assert np.isnan(y).sum() == 6, "a gap behind each cell"
        assert set(y[~np.isnan(y)].round(6)) == set(SIDE[row : row + 2].round(6))
    lines = [trace for trace in drawn.data if trace.name == "lines"]
    assert len(lines) == 1, "in the first panel only"
    assert "&lt;b&gt;" in next(trace.text for trace in drawn.data if trace.name == "one")
    many = warped([panel], np.arange(36).reshape(6, 6), ["", "", ""], np.zeros((0, 4)), "relu")
    assert len([trace for trace in many["data"] if trace["name"] == "cells"]) <= TINTS
