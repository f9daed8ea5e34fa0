"""The figures of the Sparsity page: allowed by plotly, true to their numbers, text as text."""

import numpy as np
import pytest

from ffnviz.parts.sparsity.activations import bend
from ffnviz.parts.sparsity.awake import (
    PUBLISHED_SHARES,
    awake_by_token,
    birth,
    reached_figure,
    threshold_figure,
)
from ffnviz.parts.sparsity.keep import PERCENTS, concentration_figure
from ffnviz.pictures.plot import Figure, escaped, token_axis
from tests.pictures.schema import Line, checked

TYPED = Line("<b>x</b> &amp;", "relu")  # what somebody called a folder
RELU, GELU = Line("ReLU", "relu"), Line("GELU", "gelu")
LABELS = ["The", "<b>cat</b>", "&amp;"]


def test_the_bend_shows_curve_slope_and_both_histograms() -> None:
    x = np.linspace(-1, 1, 5, dtype=np.float32)
    shares = np.array([0.5, 0.3, 0.2])
    figure = bend(
        "relu",
        "ReLU",
        (x, np.maximum(x, 0), x),
        np.array([-1.5, -0.5, 0.5, 1.5]),
        shares,
        np.array([False, False, True]),
        ("cat", shares[::-1]),
    )
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


def test_the_threshold_is_marked_where_the_slider_is() -> None:
    curve = (np.array([0.1, 1.0]), np.array([0.5, 0.2]))
    drawn = checked(threshold_figure({RELU: curve, GELU: curve}, 0.3))
    assert drawn.layout.shapes[0].x0 == drawn.layout.shapes[0].x1 == 0.3


def test_the_concentration_curve_starts_at_nothing_and_ends_at_all() -> None:
    shares = np.array([0.5, 0.75, 0.9, 1.0])  # of four neurons
    drawn = checked(concentration_figure({RELU: shares}, 0.25))
    y = np.array(drawn.data[0].y)
    assert y[-1] == pytest.approx(100)
    # A quarter of four neurons is one of them; between whole neurons the curve is straight.
    assert np.interp(25, PERCENTS, y) == pytest.approx(50, abs=1)
    assert np.interp(12.5, PERCENTS, y) == pytest.approx(25, abs=1)


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


def test_reached_rises_under_the_line_of_the_books() -> None:
    shares = {RELU: np.array([0.1, 0.2, 0.2])}
    drawn = checked(reached_figure(shares, {RELU: 0.9}, LABELS))
    np.testing.assert_allclose(drawn.data[0].y, [10, 20, 20])
    np.testing.assert_allclose(drawn.data[1].y, [90, 90])


def test_a_token_axis_escapes_and_thins_out() -> None:
    assert token_axis(LABELS)["ticktext"] == ["The", "&lt;b&gt;cat&lt;/b&gt;", "&amp;amp;"]
    many = token_axis([f"w{i}" for i in range(128)])
    assert len(many["ticktext"]) <= 40
    assert many["tickvals"][0] == 0
    assert escaped("a<b>&") == "a&lt;b&gt;&amp;"


def legend_figures() -> dict[str, Figure]:
    """Each that names networks in its legend, with one that has markup in its name."""
    y, x = np.linspace(0.1, 0.9, 3), np.array([0, 1_000, 2_000])
    curves = {(TYPED, block): y for block in (0, 1)}
    panels = [(title, curves) for title in ("awake", "never")]
    return {
        "awake": awake_by_token({(TYPED, True): y[None], (TYPED, False): y[None]}, LABELS, 1, 9),
        "threshold": threshold_figure({TYPED: (y, y)}, 0.1),
        "kept": concentration_figure({TYPED: y}, 0.5),
        "reached": reached_figure({TYPED: y}, {TYPED: 0.9}, LABELS),
        "birth": birth(x, panels),
    }


@pytest.mark.parametrize("name", list(legend_figures()))
def test_a_networks_name_is_text_in_a_legend(name: str) -> None:
    names = [trace["name"] for trace in legend_figures()[name]["data"]]
    assert names
    assert all(each.startswith("&lt;b&gt;x&lt;/b&gt; &amp;amp;") for each in names)
