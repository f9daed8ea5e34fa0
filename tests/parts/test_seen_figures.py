"""The figures of lifted points, the warp, the gate, memory, groups: allowed by plotly, and true."""

import numpy as np

from ffnviz.parts.dimensions.memory import peaks_figure, times_figure
from ffnviz.parts.dimensions.separate import by_width_figure, lifted_figure
from ffnviz.parts.dimensions.warp import TINTS, Panel, warped
from ffnviz.parts.sparsity.gate import draws, errors
from tests.pictures.schema import checked

NAMES = ("circles", "squares")


def test_lifted_points_are_of_their_class() -> None:
    away, across = np.array([-1.0, 2.0, 3.0]), np.array([0.0, 1.0, -1.0])
    drawn = checked(lifted_figure(away, across, np.array([True, False, False]), NAMES))
    assert list(drawn.data[0].x) == [-1]
    assert list(drawn.data[1].x) == [2, 3]
    assert drawn.layout.shapes[0].x0 == drawn.layout.shapes[0].x1 == 0
    checked(lifted_figure(np.zeros(0), np.zeros(0), np.zeros(0, dtype=bool), NAMES))


def test_the_width_that_is_shown_is_marked() -> None:
    drawn = checked(by_width_figure((1, 4, 8), np.array([5, 9, 10]), 10, 7, 4, "@relu"))
    np.testing.assert_allclose(drawn.data[0].y, 70)
    np.testing.assert_allclose(drawn.data[1].y, [50, 90, 100])
    assert (list(drawn.data[2].x), list(drawn.data[2].y)) == ([4], [90])
    checked(by_width_figure((1, 4), np.array([0, 0]), 0, 0, 1, "@relu"))


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


def test_the_band_of_a_gate_lies_around_gelu() -> None:
    x, one = np.array([-1.0, 0, 1]), np.ones(3)
    drawn = checked(draws(x, x, x / 2, one, np.stack([x, 0 * x]), 2))
    np.testing.assert_allclose(drawn.data[0].y, [1, 2, 3, -1, -2, -3])
    assert drawn.data[1].x.size == 6
    drawn = checked(errors(np.array([1, 2, 4]), np.array([0.4, 0.2, 0.1]), one, 2))
    assert (list(drawn.data[2].x), list(drawn.data[2].y)) == ([2], [20])


def test_memory_is_drawn_as_measured() -> None:
    spread = [(2.0, 1.0, 4.0), (3.0, 3.0, 3.0)]
    drawn = checked(peaks_figure((8, 4), (2_000_000, 1_000_000), (2_000_000, 1_000_000), 4, "relu"))
    assert list(drawn.data[1].y) == [2, 1]
    assert list(drawn.data[2].x) == [4]
    timed = checked(times_figure((8, 4), spread, 8, "relu"))
    np.testing.assert_allclose(timed.data[0].error_y.array, [2, 0])
    np.testing.assert_allclose(timed.data[0].error_y.arrayminus, [1, 0])
