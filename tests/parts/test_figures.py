"""The pages' figures: allowed by plotly, true to their numbers, and typed text stays text."""

import numpy as np
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
from ffnviz.pictures.plot import Figure, axis, escaped, grouped, lines, token_axis
from ffnviz.pictures.time_charts import growth, products, side_by_side, stages
from ffnviz.pictures.votes import Claim
from tests.pictures.schema import Line, checked

TYPED = Line("<b>x</b> &amp;", "relu")  # what somebody called a folder
RELU, GELU = Line("ReLU", "relu"), Line("GELU", "gelu")
LABELS = ["The", "<b>cat</b>", "&amp;"]


def test_the_bend_shows_curve_slope_and_both_histograms() -> None:
    x = np.linspace(-1, 1, 5, dtype=np.float32)
    shares = np.array([0.5, 0.3, 0.2])
    edges = np.array([-1.5, -0.5, 0.5, 1.5])
    landed = Landing(edges, shares, shares[::-1], 0.5, 0.8, 0.8)
    figure = bend("relu", "ReLU", BendCurve(x, np.maximum(x, 0), x), landed, 0.0, "cat")
    drawn = checked(figure)
    assert [trace.name for trace in drawn.data] == [
        "φ = ReLU", "slope φ′", "left near zero by φ", "kept by φ", "cat alone"
    ]  # fmt: skip
    np.testing.assert_allclose(drawn.data[2].y, [50, 30, 0])
    np.testing.assert_allclose(drawn.data[3].y, [0, 0, 20])
    np.testing.assert_allclose(drawn.data[3].x, [-1, 0, 1])
    assert figure["data"][3]["fillcolor"] == "@relu"


def test_awake_has_a_line_for_each_twin_trained_and_not_in_each_block() -> None:
    shares = {
        (twin, trained): np.full((2, 3), 0.1 + 0.2 * trained)
        for twin in (RELU, GELU)
        for trained in (True, False)
    }
    drawn = checked(awake_by_token(shares, LABELS, 1, 2_048))
    assert len(drawn.data) == 8
    assert [trace.yaxis for trace in drawn.data] == ["y"] * 4 + ["y2"] * 4
    by_name = {trace.name: trace for trace in drawn.data}
    np.testing.assert_allclose(by_name["GELU"].y, [30] * 3)
    np.testing.assert_allclose(by_name["ReLU untrained"].y, [10] * 3)


def test_thresholds_concentrations_and_what_was_reached_are_marked() -> None:
    curve = np.array([0.5, 0.2])
    drawn = checked(threshold_figure(np.array([0.1, 1.0]), {RELU: curve, GELU: curve}, 0.3))
    assert drawn.layout.shapes[0].x0 == drawn.layout.shapes[0].x1 == 0.3
    shares = np.array([0.5, 0.75, 0.9, 1.0])  # of four neurons
    drawn = checked(concentration_figure({RELU: shares}, 0.25))
    y = np.array(drawn.data[0].y)
    assert y[-1] == pytest.approx(100)
    # A quarter of four neurons is one of them; between whole neurons the curve is straight.
    assert np.interp(25, PERCENTS, y) == pytest.approx(50, abs=1)
    assert np.interp(12.5, PERCENTS, y) == pytest.approx(25, abs=1)
    drawn = checked(reached_figure({RELU: np.array([0.1, 0.2, 0.2])}, {RELU: 0.9}, LABELS))
    np.testing.assert_allclose(drawn.data[0].y, [10, 20, 20])
    np.testing.assert_allclose(drawn.data[1].y, [90, 90])
    assert token_axis(LABELS)["ticktext"] == ["The", "&lt;b&gt;cat&lt;/b&gt;", "&amp;amp;"]
    many = token_axis([f"w{i}" for i in range(128)])
    assert len(many["ticktext"]) <= 40
    assert many["tickvals"][0] == 0
    assert escaped("a<b>&") == "a&lt;b&gt;&amp;"


def test_birth_marks_the_first_and_the_last_point_and_what_was_published() -> None:
    tokens = np.array([0, 1_000_000, 2_000_000])
    curves = {(RELU, 0): np.array([50.0, 20.0, 10.0])}
    drawn = checked(birth(tokens, [("a", curves), ("b", curves)]))
    assert len(drawn.data) == 2
    for trace in drawn.data:
        sizes = list(trace.marker.size)
        assert sizes[0] > 0
        assert sizes[-1] > 0
        assert not any(sizes[1:-1])
    said = " ".join(note.text for note in drawn.layout.annotations)
    for name, value in PUBLISHED_SHARES.items():
        assert f"{name} {value:g}%" in said


def legend_figures() -> dict[str, Figure]:
    """Each that names networks in its legend, with one that has markup in its name."""
    y, x = np.linspace(0.1, 0.9, 3), np.array([0, 1_000, 2_000])
    curves = {(TYPED, block): y for block in (0, 1)}
    panels = [(title, curves) for title in ("awake", "never")]
    return {
        "awake": awake_by_token({(TYPED, True): y[None], (TYPED, False): y[None]}, LABELS, 1, 9),
        "threshold": threshold_figure(y, {TYPED: y}, 0.1),
        "kept": concentration_figure({TYPED: y}, 0.5),
        "reached": reached_figure({TYPED: y}, {TYPED: 0.9}, LABELS),
        "birth": birth(x, panels),
    }


@pytest.mark.parametrize("name", list(legend_figures()))
def test_a_networks_name_is_text_in_a_legend(name: str) -> None:
    names = [trace["name"] for trace in legend_figures()[name]["data"]]
    assert names
    assert all(each.startswith("&lt;b&gt;x&lt;/b&gt; &amp;amp;") for each in names)


def test_a_map_leaves_zero_blank_and_missing_values_missing() -> None:
    values = np.array([[0.0, 1e-9], [0.25, 1.0]])
    drawn = checked(maps([Map("a<br>b", values, "@relu", ["<i>", "y"], ["x", "y"])], 1, "of it",
                         ("done to", "seen at")))  # fmt: skip
    z = np.asarray(drawn.data[0].z)
    assert z[0, 0] == 0
    assert z[0, 1] > drawn.data[0].colorscale[1][0]
    np.testing.assert_allclose(z[1], [0.5, 1.0])
    np.testing.assert_allclose(drawn.data[0].customdata, values)
    assert drawn.layout.yaxis.ticktext[0] == "&lt;i&gt;"

    values = np.array([[np.nan, 1e-16]])
    drawn = checked(maps([Map("a", values, "@relu", ["r"], ["x", "y"])], 1, "", ("a", "b")))
    assert np.isnan(np.asarray(drawn.data[0].z)[0, 0])
    assert np.asarray(drawn.data[0].z)[0, 1] < 1e-5


@pytest.mark.parametrize("n", [1, 5, 7, 10])
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


def test_ladders_bars_and_fits_are_drawn_as_they_are() -> None:
    drawn = checked(ladder([("difference", 0.0, "@relu"), ("output", 24.0, "@text")], "x"))
    assert "exactly 0" in drawn.data[0].text[0]
    assert "24" in drawn.data[0].text[1]
    assert drawn.data[0].x[0] > 0
    drawn = checked(off_linear({"a, b held": (0.1, 0.0)}, 1e-9, ("add", "scale"), "gelu"))
    assert drawn.data[0].base + drawn.data[0].x[0] == pytest.approx(-1)
    assert drawn.data[1].x[0] == 0
    assert drawn.data[0].y[0] == "a, held"

    x = np.linspace(-2, 2, 9)
    drawn = checked(fitted(x, x**2, x, np.ones((60, 9)), "@relu"))
    np.testing.assert_allclose(drawn.data[-2].y, x**2)
    np.testing.assert_allclose(drawn.data[-1].y, x)
    assert len(drawn.data) == 2 + 30  # of 60 units every second
    mean, largest = (0.5, 0.0), (0.9, 0.1)
    none = np.zeros(0)
    fits = [Fit(none, none, none, 0.0, none, *off) for off in zip(mean, largest, strict=True)]
    widths, bounds = (1, 4), (2.0, 0.5)
    found = Approximation("relu", none, none, widths, tuple(fits), bounds, (), 0.7)
    drawn = checked(errors(found, 1, "@relu"))
    np.testing.assert_allclose(drawn.data[2].y, largest)
    assert drawn.data[3].y[1] > 0  # a logarithm of zero would not be drawn
    assert list(drawn.data[4].x) == [4]


def test_lines_bars_dots_and_surfaces_are_plotlys() -> None:
    x = np.arange(3.0)
    drawn = checked(lines(x, {"a": (x * 2.0, "@relu", "dot")}, axis("x"), axis("y")))
    np.testing.assert_allclose(drawn.data[0].y, [0, 2, 4])
    drawn = checked(grouped(["t"], {"a": (np.ones(1), "@relu")}, "y", type="log"))
    assert drawn.layout.yaxis.type == "log"
    ones = np.ones((4, 2))
    dropout = Dropout(4, np.array([1, 2]), ones, np.zeros(2), ones[:, 0], 0, ones[:, 0], 1.0)
    drawn = checked(scattered(dropout, "relu"))
    np.testing.assert_allclose(drawn.data[1].y, [1, 1])
    assert list(drawn.layout.xaxis.ticktext) == ["1", "2"]
    curves = (Curve("relu", x * 1.0, x * 0.0),)
    zoo = Zoo(x, curves, {}, x, (-0.75, -0.17), (0.0, 0.0), {}, findings=())
    drawn = checked(curves_figure(zoo))
    assert "−0.1700 at −0.7500" in drawn.layout.annotations[2].text
    drawn = checked(surface_figure(x, np.outer(x - 1, x), "GEGLU", (x[:2], x[1:])))
    assert drawn.data[0].zmin == -drawn.data[0].zmax
    np.testing.assert_allclose((drawn.data[1].x, drawn.data[1].y), (x[:2], x[1:]))


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


PARTS = {"embedding": 10, "attention": 20, "FFN": 60, "LayerNorm": 0, "output": 10}


def test_the_boxes_of_the_flow_are_as_high_as_their_vectors_with_a_line_a_token() -> None:
    drawn = checked(flow(8, 512, 2_048, "ReLU", "relu"))
    boxes = [shape for shape in drawn.layout.shapes if shape.type == "rect"]
    assert [box.y1 - box.y0 for box in boxes] == [512, 2_048, 2_048, 512]
    assert list(drawn.data[0].text) == [
        "<b>(8, 512)</b>", "<b>(8, 2,048)</b>", "<b>(8, 2,048)</b>", "<b>(8, 512)</b>"
    ]  # fmt: skip
    for n in [1, SHOWN, SHOWN + 5]:
        drawn = checked(shared_weights(["x"] * n, 4, 16, 100, "gelu"))
        assert len(drawn.data[0].text) == min(n, SHOWN)
        assert bool(drawn.data[3].text) == (n > SHOWN)


def test_costs_are_shares_and_large_counts_are_short() -> None:
    drawn = checked(costs_figure(PARTS, {**PARTS, "embedding": 0}, "relu"))
    np.testing.assert_allclose(drawn.data[0].x, [10, 20, 60, 0, 10])
    np.testing.assert_allclose(drawn.data[1].x, np.array([0, 20, 60, 0, 10]) / 0.9)
    assert "60 <b>60%</b>" in drawn.data[0].text
    counts = (0, 999, 1_500, 2_099_712, 6_738_415_616, 3e12)
    assert [*map(short, counts)] == ["0", "999", "1.5 k", "2.1 M", "6.74 G", "3 T"]
    for overtaken, n in [(1_024.0, 1), (-5.0, 0), (1e9, 0)]:
        lengths = np.array([1.0, 10_000.0])
        drawn = checked(
            share_figure(lengths, np.array([0.7, 0.1]), (128.0, 0.6), overtaken, "relu")
        )
        assert len(drawn.data[2].x) == n
        assert list(drawn.data[1].x) == [128]


def test_the_distribution_what_is_written_and_the_lens_show_words_as_text() -> None:
    softmax, cut = np.array([0.1, 0.6, 0.3]), np.array([0.0, 0.7, 0.3])
    after = Distribution(np.array([1, 2, 0]), softmax, 2, cut)
    drawn = checked(distribution_figure(after, ["<a>", "b"], "relu"))
    np.testing.assert_allclose(drawn.data[0].y, [60, 30, 10])
    np.testing.assert_allclose(drawn.data[1].y, [70, 30])
    assert drawn.data[0].text[0] == "&lt;a&gt;"
    assert drawn.layout.shapes[0].x0 == 2.5
    written = [GeneratedToken(7, " <i>", 0.5, 1.0, 9), GeneratedToken(8, "b", 0.25, 1.0, 9)]
    figure = steps(written, 1, "relu")
    drawn = checked(figure)
    np.testing.assert_allclose(drawn.data[0].y, [50, 25])
    assert drawn.layout.xaxis.ticktext[0] == "&lt;i&gt;"
    assert figure["data"][0]["marker"]["color"] == ["@muted/0.6", "@relu"]
    readings = [
        Reading(stage, Prediction(words, np.arange(2), np.array(shares, np.float32)), 0.5, 1)
        for stage, words, shares in (("s", ("<a>", "b"), (0.5, 0.1)), ("t", ("c", "d"), (0.9, 0.0)))
    ]
    drawn = checked(early_words_figure(readings, "relu"))
    assert drawn.data[0].text[0][0] == "&lt;a&gt;<br><b>50%</b>"
    np.testing.assert_allclose(drawn.data[0].z, [[50, 10], [90, 0]], rtol=1e-6)


def test_times_stand_in_order_with_their_quartiles_and_devices_side_by_side() -> None:
    times = {"a": (2.0, 1.0, 4.0), "b": (1.0, 0.5, 1.5), "c": (3.0, 3.0, 3.0)}
    drawn = checked(stages(times, {"a": "FFN", "b": "norm", "c": "FFN"}, "relu"))
    by_kind = {trace.name: trace for trace in drawn.data}
    np.testing.assert_allclose(by_kind["FFN"].x, [2, 3])
    np.testing.assert_allclose(by_kind["FFN"].error_x.array, [2, 0])
    np.testing.assert_allclose(by_kind["FFN"].error_x.arrayminus, [1, 0])
    assert list(drawn.layout.yaxis.categoryarray) == ["c", "b", "a"]
    drawn = checked(side_by_side({"cpu": {"a": 2.0}, "cuda": {"a": 0.5}}, ["@muted", "@relu"]))
    assert [trace.name for trace in drawn.data] == ["cpu", "cuda"]
    assert [trace.x[0] for trace in drawn.data] == [2, 0.5]
    drawn = checked(products(["a"], ["(1, 2)"], np.array([0.25]), ["9 a second"], [True], "relu"))
    np.testing.assert_allclose(drawn.data[0].x, [25])
    grown = checked(growth([8, 16], {"FFN, batch 1": [(2.0, 1.0, 3.0)] * 2}, "tokens T", "relu"))
    np.testing.assert_allclose(grown.data[0].y, [2, 2])
    np.testing.assert_allclose(grown.data[0].error_y.array, [1, 1])


def test_a_neurons_values_stand_on_their_tokens_and_positions_count_from_one() -> None:
    hidden = np.array([0.0, 2.5, -0.17])
    drawn = checked(values(["a", "b", "c"], hidden, 1, "gelu", 0.1))
    np.testing.assert_allclose(drawn.data[0].y, hidden)
    assert list(drawn.data[0].customdata) == [0, 1, 2]
    assert drawn.layout.shapes[0].x0 == 0.5
    assert drawn.layout.shapes[1].y0 == 0.1
    drawn = checked(positions(np.array([0.5, 0.25]), np.array([40, 20]), "relu"))
    assert list(drawn.data[0].x) == [1, 2]
    np.testing.assert_allclose(drawn.data[0].y, [50, 25])
    drawn = checked(positions(np.array([0.5, 0.25]), np.array([40, 20]), "relu", 4))
    assert list(drawn.data[0].x) == [2.5, 6.5]  # the middles of 1 to 4 and 5 to 8
    assert list(drawn.data[0].text) == ["1–4", "5–8"]


def test_only_tags_beyond_chance_have_the_accent_and_p_is_never_smaller_than_said() -> None:
    drawn = checked(tags(["past (9)", "<i>"], np.array([0.8, 0.3]), np.array([0.1, 0.2]),
                         [0.001, 0.4], 0.05, "relu"))  # fmt: skip
    accent, grey = drawn.data[0].marker.color
    assert accent != grey
    np.testing.assert_allclose(drawn.data[0].x, [80, 30])
    np.testing.assert_allclose(drawn.data[1].x, [10, 20])
    assert drawn.layout.yaxis.ticktext[1] == "&lt;i&gt;"
    assert [*map(probability, (1.0, 0.4, 0.05))] == ["p = 1", "p = 0.4", "p = 0.050"]
    for p, exponent in ((0.00042, "−3"), (3e-12, "−11"), (0.0, "−299")):
        assert probability(p) == f"p &lt; 10<sup>{exponent}</sup>"


def test_differences_are_centred_and_two_sentences_stand_side_by_side() -> None:
    apart = np.array([[0.0, -2.0, 1.0], [0.5, 0.0, 0.0]])
    both = Comparison(np.zeros((2, 2), int), np.array([5, 9, 2]), 0 * apart, apart)
    drawn = checked(differences(["a", "b → c"], both, 1))
    assert (drawn.data[0].zmin, drawn.data[0].zmax) == (-2, 2)
    assert np.asarray(drawn.data[0].customdata)[1].tolist() == [5, 9, 2]
    assert drawn.layout.shapes[0].y0 == 0.5
    none = np.zeros((0, 0))
    checked(differences([], Comparison(np.zeros((0, 2), int), np.zeros(0, int), none, none), 0))
    first, second = np.array([[0.1, 0.2]]), np.array([[0.3, 0.4]])
    both = Comparison(np.zeros((1, 2), int), np.array([4, 1]), first, second)
    drawn = checked(both_values(("dog", "<dogs>"), both, 0, "relu"))
    assert [trace.name for trace in drawn.data] == ["dog", "&lt;dogs&gt;"]
    np.testing.assert_allclose(drawn.data[1].x, [0.3, 0.4])

    drawn = checked(changes(np.array([0.0, 0.5]), np.array([0.0, 0.25]), "relu"))
    np.testing.assert_allclose(drawn.data[0].x, [0, 50])
    np.testing.assert_allclose(drawn.data[1].x, [0, 25])
    drawn = checked(scores(Score(4, 1, 1, 10, (), ()), "relu"))
    np.testing.assert_allclose(drawn.data[0].y, [25, 100, 10])
    assert list(drawn.data[0].text) == ["25%", "100%", "10%"]
    drawn = checked(scores(Score(0, 0, 0, 10, (), ()), "relu"))
    np.testing.assert_allclose(drawn.data[0].y, [0, 0, 0])
    assert list(drawn.data[0].text) == ["none named", "never fires", "0%"]


NAMES = ("circles", "squares")
MB = 1_000_000


def test_lifted_points_widths_gates_and_memory_are_drawn_as_measured() -> None:
    away, across = np.array([-1.0, 2.0, 3.0]), np.array([0.0, 1.0, -1.0])
    drawn = checked(lifted_figure(away, across, np.array([True, False, False]), NAMES))
    assert list(drawn.data[0].x) == [-1]
    assert list(drawn.data[1].x) == [2, 3]
    assert drawn.layout.shapes[0].x0 == drawn.layout.shapes[0].x1 == 0
    checked(lifted_figure(np.zeros(0), np.zeros(0), np.zeros(0, dtype=bool), NAMES))
    drawn = checked(by_width_figure((1, 4, 8), np.array([5, 9, 10]), 10, 7, 4, "@relu"))
    np.testing.assert_allclose(drawn.data[0].y, 70)
    np.testing.assert_allclose(drawn.data[1].y, [50, 90, 100])
    assert (list(drawn.data[2].x), list(drawn.data[2].y)) == ([4], [90])
    checked(by_width_figure((1, 4), np.array([0, 0]), 0, 0, 1, "@relu"))
    x, one = np.array([-1.0, 0, 1]), np.ones(3)
    drawn = checked(gate.draws(gate.Gate(x, x, x / 2, one, np.stack([x, 0 * x])), 2))
    np.testing.assert_allclose(drawn.data[0].y, [1, 2, 3, -1, -2, -3])
    assert drawn.data[1].x.size == 6
    n = len(gate.DRAWS)
    drawn = checked(gate.errors(np.ones(n), 0.4 / np.arange(1, n + 1), 1))
    assert (list(drawn.data[2].x), list(drawn.data[2].y)) == ([2], [20])
    spread, peaks = (Spread(2.0, 1.0, 4.0, 1.0, 3), Spread(3.0, 3.0, 3.0, 3.0, 3)), (2 * MB, MB)
    measured = Memory(8, (8, 4), peaks, peaks, spread, 0.0, 0, 0)
    drawn = checked(peaks_figure(measured, 1, "@relu"))
    assert list(drawn.data[1].y) == [2, 1]
    assert list(drawn.data[2].x) == [4]
    timed = checked(times_figure(measured, 0, "@relu"))
    np.testing.assert_allclose(timed.data[0].error_y.array, [2, 0])
    np.testing.assert_allclose(timed.data[0].error_y.arrayminus, [1, 0])


def test_each_cell_is_in_the_trace_of_its_tint() -> None:
    side = np.linspace(-1, 1, 7)
    points = np.stack(np.meshgrid(side, side), axis=-1)
    awake = np.arange(36).reshape(6, 6) // 6 + 3  # a row a number
    panel = Panel("one", points, points[0, :3], ("a", "b"))
    drawn = checked(warped([panel, panel], awake, ["x", "<b>", "z"], np.ones((2, 4)), "relu"))
    cells = [trace for trace in drawn.data if trace.name == "cells" and trace.xaxis == "x"]
    assert len(cells) == 6
    for row, trace in enumerate(cells):
        y = np.array(trace.y)
        assert np.isnan(y).sum() == 6, "a gap behind each cell"
        assert {round(float(v), 6) for v in y[~np.isnan(y)]} == {
            round(float(v), 6) for v in side[row : row + 2]
        }
    lines = [trace for trace in drawn.data if trace.name == "lines"]
    assert len(lines) == 1, "in the first panel only"
    assert "&lt;b&gt;" in next(trace.text for trace in drawn.data if trace.name == "one")
    many = warped([panel], np.arange(36).reshape(6, 6), ["", "", ""], np.zeros((0, 4)), "relu")
    assert len([trace for trace in many["data"] if trace["name"] == "cells"]) <= TINTS
