"""A line folded k times, beside one layer's, and how pieces grow."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ffnviz.figures.layout import Figure, axis, figure
from ffnviz.figures.style import Array


def zigzag(x: Array, folded: Array, layer: Array, bends: Array, colour: str) -> Figure:
    """What depth draws, and what one layer draws of it.

    Args:
        x: where, (n,).
        folded: k folds there, (n,).
        layer: one layer there, (n,).
        bends: where its units bend, (units,).
        colour: of the layer, as a figure names it.
    """
    inside = np.where(np.abs(layer - 0.5) <= 0.75, layer, np.nan)
    return figure(
        [
            {"type": "scatter", "mode": "lines", "name": "folded", "x": x, "y": folded,
             "line": {"color": "@muted", "width": 6},
             "hovertemplate": "%{x:.3f}: %{y:.3f}<extra>folded</extra>"},
            {"type": "scatter", "mode": "lines", "name": "one layer", "x": x, "y": inside,
             "line": {"color": colour, "width": 3},
             "hovertemplate": "%{x:.3f}: %{y:.3f}<extra>one layer</extra>"},
            {"type": "scatter", "mode": "markers", "name": "its units", "x": bends,
             "y": np.full(len(bends), -0.15), "hoverinfo": "none",
             "marker": {"color": colour, "symbol": "triangle-up", "size": 10}},
        ],
        axis("x", range=[-0.02, 1.02], zeroline=False),
        axis("y", range=[-0.25, 1.28], zeroline=False),
    )  # fmt: skip


def growth(units: int, folded: int, layer: int, n: int, colour: str) -> Figure:
    """Pieces against units, both logarithmic, with the two that are shown.

    Args:
        units: of the folded network.
        folded: its pieces.
        layer: of one layer's units.
        n: its pieces, at most.
        colour: of one layer, as a figure names it.
    """
    even, all_ = np.arange(2, 17, 2), 2.0 ** np.arange(9)
    return figure(
        [
            _line("folded", even, 2.0 ** (even / 2), "@muted", 6),
            _line("one layer, at most", all_, all_ + 1, colour, 3),
            {"type": "scatter", "mode": "markers", "name": "here", "x": np.array([units, layer]),
             "y": np.array([folded, n]), "showlegend": False, "hoverinfo": "none",
             "marker": {"color": "@background", "size": 16,
                        "line": {"color": ["@muted", colour], "width": 4}}},
        ],
        _powers("units"), _powers("pieces"), margin={"l": 70, "r": 20, "t": 60, "b": 56},
    )  # fmt: skip


def along(counts: Mapping[str, tuple[NDArray[np.int64], str]], ends: tuple[str, str]) -> Figure:
    """How many neurons have switched up to each place on a line.

    Args:
        counts: name → counts, (n,), and colour.
        ends: the two tokens, escaped.
    """
    return figure(
        [
            _line(name, np.linspace(0, 100, len(values)), 1.0 + values, colour, 3)
            for name, (values, colour) in counts.items()
        ],
        axis("", tickvals=[0, 50, 100], ticktext=[ends[0], "half-way", ends[1]]),
        axis("pieces so far", rangemode="tozero"),
        margin={"l": 76, "r": 20, "t": 60, "b": 44},
    )  # fmt: skip


def _line(name: str, x: Any, y: Array, colour: str, width: int) -> dict[str, Any]:
    return {"type": "scatter", "mode": "lines", "name": name, "x": x, "y": y,
            "line": {"color": colour, "width": width},
            "hovertemplate": "%{x:.3g}: %{y:.3g}<extra>%{fullData.name}</extra>"}  # fmt: skip


def _powers(title: str) -> dict[str, Any]:
    ticks = [1, 2, 4, 8, 16, 32, 64, 128, 256]
    return axis(title, type="log", tickvals=ticks, ticktext=[str(each) for each in ticks])
