"""Lifted points seen along the cut that divides them, and how many are right at each width."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ffnviz.figures.layout import Figure, axis, figure
from ffnviz.figures.style import Array

CLASSES = (("@positive_mid", "circle"), ("@negative_mid", "square"))


def lifted(away: Array, across: Array, first: NDArray[np.bool_], names: tuple[str, str]) -> Figure:
    """The cut is a straight line, as it stands on edge.

    Args:
        away: how far each point is from the cut, (n,).
        across: its place along the cut, (n,).
        first: which are of the first class, (n,).
        names: of the classes.
    """
    traces = [
        {"type": "scatter", "mode": "markers", "name": name, "x": away[mine], "y": across[mine],
         "hovertemplate": "%{x:.2f} from the cut<extra></extra>",
         "marker": {"size": 10, "color": colour, "symbol": symbol}}
        for name, mine, (colour, symbol) in zip(names, (first, ~first), CLASSES, strict=True)
    ]  # fmt: skip
    reach = 1.1 * float(np.abs(away).max(initial=1e-2))
    tall = 1.15 * float(np.abs(across).max(initial=1e-2))
    return figure(
        traces,
        axis("distance from the flat cut", range=[-reach, reach], zeroline=False),
        axis("along the cut, axis 1", range=[-tall, tall], zeroline=False),
        shapes=[{"type": "line", "x0": 0, "x1": 0, "y0": 0, "y1": 1, "yref": "paper",
                 "line": {"color": "@text", "width": 3}}],
    )  # fmt: skip


def by_width(
    widths: Sequence[int], right: NDArray[np.integer], n: int, line: int, d_ff: int, colour: str
) -> Figure:
    """The points on their side against d_ff.

    Args:
        widths: numbers of hidden units, (k,).
        right: points on their side with each, (k,).
        n: all points.
        line: those that the best straight line gets right.
        d_ff: the width to mark.
        colour: as a figure names it.
    """
    x, y = np.array(widths), 100 * right / max(1, n)
    at = int(np.abs(x - d_ff).argmin())
    return figure(
        [
            {"type": "scatter", "mode": "lines", "name": "best straight line of all", "x": x,
             "y": np.full(len(x), 100 * line / max(1, n)), "hoverinfo": "none",
             "line": {"color": "@muted", "width": 2, "dash": "dash"}},
            {"type": "scatter", "mode": "lines+markers", "name": "random W₁, φ, a flat cut",
             "x": x, "y": y, "customdata": right, "meta": {"counts": right.tolist()},
             "hovertemplate": "d_ff %{x}: %{customdata} points<extra></extra>",
             "line": {"color": colour, "width": 3}, "marker": {"color": colour, "size": 8}},
            {"type": "scatter", "mode": "markers", "name": f"d_ff {widths[at]}",
             "x": x[at : at + 1], "y": y[at : at + 1], "hoverinfo": "none", "showlegend": False,
             "marker": {"color": "@background", "size": 15,
                        "line": {"color": colour, "width": 4}}},
        ],
        axis("d_ff", type="log", tickvals=[1, 2, 4, 8, 16, 32, 64, 128, 256],
             ticktext=["1", "2", "4", "8", "16", "32", "64", "128", "256"]),
        axis("% on the correct side", range=[38, 104]),
    )  # fmt: skip
