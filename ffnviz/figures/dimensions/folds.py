"""A line folded k times, beside one layer's, and how pieces grow."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ffnviz.figures.layout import Figure, Trace, axis, figure, line_trace, log_axis, ring
from ffnviz.figures.style import Array

POWERS = [2**k for k in range(9)]


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
            line_trace("folded", x, folded, "@muted", 6,
                       hovertemplate="%{x:.3f}: %{y:.3f}<extra>folded</extra>"),
            line_trace("one layer", x, inside, colour, 3,
                       hovertemplate="%{x:.3f}: %{y:.3f}<extra>one layer</extra>"),
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
    even, powers = np.arange(2, 17, 2), np.array(POWERS, float)
    return figure(
        [
            _line("folded", even, 2.0 ** (even / 2), "@muted", 6),
            _line("one layer, at most", powers, powers + 1, colour, 3),
            ring("here", np.array([units, layer]), np.array([folded, n]), ["@muted", colour]),
        ],
        log_axis("units", POWERS), log_axis("pieces", POWERS),
        margin={"l": 70, "r": 20, "t": 60, "b": 56},
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


def _line(name: str, x: Any, y: Array, colour: str, width: int) -> Trace:
    hover = "%{x:.3g}: %{y:.3g}<extra>%{fullData.name}</extra>"
    return line_trace(name, x, y, colour, width, hovertemplate=hover)
