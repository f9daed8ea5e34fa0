"""A grid on a plane, and what an FFN makes of it: a panel a stage."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ffnviz.figures.layout import Figure, Trace, bare_axis, escaped, figure, panel_title, shortened
from ffnviz.figures.style import Array

GAP = 0.07
EVERY = 3  # cells between two lines of the grid
TINTS = 8


@dataclass(frozen=True)
class Panel:
    """One stage."""

    title: str  # said above it
    points: Array  # the grid's, row by row, (n + 1, n + 1, 2)
    tokens: Array  # the three corners, (3, 2)
    names: tuple[str, str]  # of its axes


def warped(
    panels: Sequence[Panel],
    awake: NDArray[np.integer],
    labels: Sequence[str],
    lines: Array,
    twin: str,
) -> Figure:
    """Panels side by side; the more neurons are awake in a cell, the darker it is.

    Args:
        panels: from left to right.
        awake: how many in each cell, (n, n).
        labels: of the three tokens, as typed.
        lines: from x, y to x, y in the first panel, (k, 4).
        twin: the accent.
    """
    width = (1 - GAP * (len(panels) - 1)) / len(panels)
    tints, names = _tints(awake), [escaped(shortened(label)) for label in labels]
    traces: list[Trace] = []
    axes, titles = {}, []
    for place, panel in enumerate(panels):
        number, left = place + 1, place * (width + GAP)
        on = {"xaxis": f"x{number}", "yaxis": f"y{number}"}
        traces += _cells(panel.points, tints, twin, on)
        if place == 0 and len(lines):
            traces.append(_broken("lines", lines.reshape(-1, 2, 2), "@text", 1.2, on))
        traces.append(_broken("grid", _grid(panel.points), f"@{twin}", 1.5, on))
        traces.append({
            "type": "scatter", "mode": "markers+text", "name": panel.title, **on,
            "x": panel.tokens[:, 0], "y": panel.tokens[:, 1], "text": names,
            "textposition": "top center", "textfont": {"size": 17},
            "hovertemplate": "%{text}<extra></extra>",
            "marker": {"size": [15, 11, 11], "color": "@text"},
        })  # fmt: skip
        x, y = (_range(panel.points[..., k], panel.tokens[:, k]) for k in (0, 1))
        axes[f"xaxis{number}"] = bare_axis(panel.names[0], anchor=f"y{number}", range=x,
                                           domain=[left, left + width], nticks=5)  # fmt: skip
        axes[f"yaxis{number}"] = bare_axis(panel.names[1], anchor=f"x{number}", range=y, nticks=6)
        axes[f"yaxis{number}"]["title"]["standoff"] = 4
        titles.append(panel_title(panel.title, left))
    return figure(
        traces,
        axes.pop("xaxis1"), axes.pop("yaxis1"), **axes, annotations=titles, showlegend=False,
        meta={"panels": len(panels)}, margin={"l": 64, "r": 10, "t": 40, "b": 54},
    )  # fmt: skip


def _tints(awake: NDArray[np.integer]) -> NDArray[np.integer]:
    """A tint a cell: one a number of neurons, or of many numbers, an eighth of the range."""
    least, most = int(awake.min()), int(awake.max())
    step = max(1, -(-(most - least + 1) // TINTS))
    tints: NDArray[np.integer] = (awake - least) // step
    return tints


def _cells(points: Array, tints: NDArray[np.integer], twin: str, on: dict[str, str]) -> list[Trace]:
    """One trace a tint, with all its cells as closed lines."""
    around = [points[:-1, :-1], points[:-1, 1:], points[1:, 1:], points[1:, :-1], points[:-1, :-1]]
    outlines = np.stack(around, axis=2)  # (n, n, 5, 2)
    return [
        {**_broken("cells", outlines[tints == tint], f"@{twin}/{0.07 + 0.09 * tint:.2f}", 0, on),
         # Its outlines would be a path of SVG for each cell, which nobody sees.
         "mode": "none", "fill": "toself", "fillcolor": f"@{twin}/{0.07 + 0.09 * tint:.2f}"}
        for tint in np.unique(tints)
    ]  # fmt: skip


def _grid(points: Array) -> Array:
    """Its lines in both directions, (k, n + 1, 2)."""
    return np.concatenate([points[::EVERY], points.swapaxes(0, 1)[::EVERY]])


def _broken(name: str, lines: Array, colour: str, width: float, on: dict[str, str]) -> Trace:
    """Lines, (k, n, 2), as one trace with gaps."""
    gaps = np.full((len(lines), 1, 2), np.nan)
    path = np.concatenate([lines, gaps], axis=1).reshape(-1, 2)
    return {"type": "scatter", "mode": "lines", "name": name, "x": path[:, 0], "y": path[:, 1],
            "hoverinfo": "skip", "line": {"color": colour, "width": width},
            "meta": {"decoration": name != "grid"}, **on}  # fmt: skip


def _range(values: Array, more: Array) -> list[float]:
    low, high = float(min(values.min(), more.min())), float(max(values.max(), more.max()))
    room = 0.07 * (high - low) + 1e-9
    return [low - room, high + 1.6 * room]
