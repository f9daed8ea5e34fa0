"""Lifted points seen along the cut that divides them, and how many are right at each width."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ffnviz.figures.layout import Figure, axis, figure, line_trace, log_axis, ring, vertical_line
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
        {"type": "scatter", "mode": "markers", "name": name, "x": away[chosen], "y": across[chosen],
         "hovertemplate": "%{x:.2f} from the cut<extra></extra>",
         "marker": {"size": 10, "color": colour, "symbol": symbol}}
        for name, chosen, (colour, symbol) in zip(names, (first, ~first), CLASSES, strict=True)
    ]  # fmt: skip
    reach = 1.1 * float(np.abs(away).max(initial=1e-2))
    tall = 1.15 * float(np.abs(across).max(initial=1e-2))
    return figure(
        traces,
        axis("distance from the flat cut", range=[-reach, reach], zeroline=False),
        axis("along the cut, axis 1", range=[-tall, tall], zeroline=False),
        shapes=[vertical_line(0, 3, "solid")],
    )


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
            line_trace("best straight line of all", x, np.full(len(x), 100 * line / max(1, n)),
                       "@muted", 2, "dash", hoverinfo="none"),
            line_trace("random W₁, φ, a flat cut", x, y, colour, 3, dots=8, customdata=right,
                       meta={"counts": right.tolist()},
                       hovertemplate="d_ff %{x}: %{customdata} points<extra></extra>"),
            ring(f"d_ff {widths[at]}", x[at : at + 1], y[at : at + 1], colour, 15),
        ],
        log_axis("d_ff", [2**k for k in range(9)]),
        axis("% on the correct side", range=[38, 104]),
    )  # fmt: skip
