"""A fitted function, the units it is made of, and the error against their number."""

from collections.abc import Sequence

import numpy as np

from ffnviz.figures.layout import Figure, axis, figure, line_trace, log_axis, ring
from ffnviz.figures.style import Array

MOST_PIECES = 48


def fitted(x: Array, y: Array, fit: Array, pieces: Array, colour: str) -> Figure:
    """The function and its fit, above what each unit adds.

    Args:
        x: where, (n,).
        y: the function there, (n,).
        fit: the network's values, (n,).
        pieces: what each unit adds, (units, n); of many, some are drawn.
        colour: of the fit, as a figure names it.
    """
    every = max(1, -(-len(pieces) // MOST_PIECES))
    traces = [
        line_trace(f"unit {place + 1}", x, pieces[place], f"{colour}/0.6", 1.5, yaxis="y2",
                   showlegend=False, hoverinfo="none")
        for place in range(0, len(pieces), every)
    ]  # fmt: skip
    traces += [
        line_trace("the function", x, y, "@muted", 7),
        line_trace("the network", x, fit, colour, 3),
    ]
    largest = float(np.quantile(np.abs(pieces), 0.99)) if len(pieces) else 1.0
    return figure(
        traces,
        axis("x", anchor="y2"),
        axis("y", domain=[0.45, 1], range=[-1.6, 1.6]),
        yaxis2=axis("what each unit adds", domain=[0, 0.37],
                    range=[-1.15 * largest - 1e-6, 1.15 * largest + 1e-6]),
    )  # fmt: skip


def errors(
    widths: Sequence[int],
    measured: Array,
    largest: Array,
    bounds: Array,
    line: float,
    width: int,
    colour: str,
) -> Figure:
    """The error against the number of units, both logarithmic.

    Args:
        widths: numbers of units, (n,).
        measured: the errors, (n,).
        largest: the largest error of each, (n,).
        bounds: what straight pieces reach at least, (n,).
        line: the best straight line's.
        width: the one to mark.
        colour: of the fits, as a figure names it.
    """
    n, at = np.array(widths), list(widths).index(width)
    least = 1e-12  # below is rounding
    measured, largest, bounds = (
        np.maximum(values, least) for values in (measured, largest, bounds)
    )
    return figure(
        [
            line_trace("straight pieces: no more than", n, bounds, "@muted", 2, "dash"),
            line_trace("best straight line", n, np.full(len(n), max(line, least)), "@text", 2,
                       "dot"),
            line_trace("network, at most", n, largest, f"{colour}/0.5", 2,
                       hovertemplate="%{x} units: at most %{y:.2g}<extra></extra>"),
            line_trace("network", n, measured, colour, 3, dots=8, customdata=n,
                       hovertemplate="%{x} units: %{y:.2g}<extra></extra>"),
            ring(f"{width} units", n[at : at + 1], measured[at : at + 1], colour, showlegend=True),
        ],
        log_axis("units n", [2**k for k in range(10)]),
        axis("error (root mean square)", type="log", dtick=2, exponentformat="power"),
        margin={"l": 84, "r": 20, "t": 66, "b": 56},
    )  # fmt: skip
