"""The Lab's figures and its handout: allowed by plotly, true to their numbers, text stays text."""

import numpy as np
import pytest

from ffnviz.analysis.lab.residual import Dropout
from ffnviz.parts.lab.fit import errors, fitted
from ffnviz.parts.lab.linear import off_linear
from ffnviz.parts.lab.positions import Map, ladder, maps
from ffnviz.parts.lab.residual import scattered
from ffnviz.parts.lab.summary import HandoutRow, handout
from ffnviz.parts.sparsity.activations import curves_figure, surface_figure
from ffnviz.pictures.plot import axis, grouped, lines
from tests.pictures.schema import checked


def test_a_map_leaves_zero_blank_and_tints_what_is_not() -> None:
    values = np.array([[0.0, 1e-9], [0.25, 1.0]])
    drawn = checked(maps([Map("a<br>b", values, "@relu", ["<i>", "y"], ["x", "y"])], 1, "of it",
                         ("done to", "seen at")))  # fmt: skip
    z = np.asarray(drawn.data[0].z)
    assert z[0, 0] == 0
    assert z[0, 1] > drawn.data[0].colorscale[1][0]
    np.testing.assert_allclose(z[1], [0.5, 1.0])
    np.testing.assert_allclose(drawn.data[0].customdata, values)
    assert drawn.layout.yaxis.ticktext[0] == "&lt;i&gt;"


def test_mere_rounding_stays_faint_and_missing_values_stay_missing() -> None:
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


def test_a_ladder_says_when_a_number_is_exactly_zero() -> None:
    drawn = checked(ladder([("difference", 0.0, "@relu"), ("output", 24.0, "@text")], "x"))
    assert "exactly 0" in drawn.data[0].text[0]
    assert "24" in drawn.data[0].text[1]
    assert drawn.data[0].x[0] > 0


def test_bars_of_linearity_end_at_their_numbers() -> None:
    drawn = checked(off_linear({"a, b held": (0.1, 0.0)}, 1e-9, ("add", "scale"), "gelu"))
    assert drawn.data[0].base + drawn.data[0].x[0] == pytest.approx(-1)
    assert drawn.data[1].x[0] == 0
    assert drawn.data[0].y[0] == "a, held"


def test_a_fit_and_its_errors_are_drawn_as_they_are() -> None:
    x = np.linspace(-2, 2, 9)
    drawn = checked(fitted(x, x**2, x, np.ones((60, 9)), "@relu"))
    np.testing.assert_allclose(drawn.data[-2].y, x**2)
    np.testing.assert_allclose(drawn.data[-1].y, x)
    assert len(drawn.data) == 2 + 30  # of 60 units every second
    mean, largest, bounds = np.array([0.5, 0.0]), np.array([0.9, 0.1]), np.array([2.0, 0.5])
    drawn = checked(errors([1, 4], mean, largest, bounds, 0.7, 4, "@relu"))
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
    drawn = checked(
        curves_figure(x, [("ReLU", x * 1.0, x * 0.0, "@relu", "solid")], (-0.75, -0.17))
    )
    assert "−0.1700 at −0.7500" in drawn.layout.annotations[2].text
    drawn = checked(surface_figure(x, np.outer(x - 1, x), "GEGLU", (x[:2], x[1:])))
    assert drawn.data[0].zmin == -drawn.data[0].zmax
    np.testing.assert_allclose((drawn.data[1].x, drawn.data[1].y), (x[:2], x[1:]))


def test_the_handout_is_one_page_that_loads_nothing_and_keeps_text_text() -> None:
    rows = [
        HandoutRow("One", "holds", "✓", "", "A & B.", "holds", "0 < 1"),
        HandoutRow("One", "only if", "◐", "Often thought", "C.", "holds only if <it>", "x"),
        HandoutRow("Two", "undecided", "–", "", "D.", "cannot be decided here", "y"),
    ]
    page = handout(rows, "<script>alert(1)</script>", "ReLU, block 2", "2 < 3.", "Tested <now>.")
    assert page.startswith("<!doctype html>")
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "A &amp; B." in page
    assert "<p>2 &lt; 3.</p>" in page
    assert page.count("<h2>") == 2
    assert page.count("<em>Often thought:</em> C.") == page.count("<em>") == 1
    for outside in ("http:", "https:", "src=", "@import", "url("):
        assert outside not in page
