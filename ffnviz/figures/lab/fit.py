"""A fitted function, the units it is made of, and the error against their number."""

from collections.abc import Sequence

import numpy as np

from ffnviz.figures.layout import Figure, axis, figure
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
        {"type": "scatter", "mode": "lines", "name": f"unit {place + 1}", "x": x,
         "y": pieces[place], "yaxis": "y2", "showlegend": False, "hoverinfo": "none",
         "line": {"color": f"{colour}/0.6", "width": 1.5}}
        for place in range(0, len(pieces), every)
    ]  # fmt: skip
    traces += [
        {"type": "scatter", "mode": "lines", "name": "the function", "x": x, "y": y,
         "line": {"color": "@muted", "width": 7}},
        {"type": "scatter", "mode": "lines", "name": "the network", "x": x, "y": fit,
         "line": {"color": colour, "width": 3}},
    ]  # fmt: skip
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
    n = np.array(widths)
    least = 1e-12  # below is rounding
    at = list(widths).index(width)
    return figure(
        [
            {"type": "scatter", "mode": "lines", "name": "straight pieces: no more than", "x": n,
             "y": np.maximum(bounds, least),
             "line": {"color": "@muted", "width": 2, "dash": "dash"}},
            {"type": "scatter", "mode": "lines", "name": "best straight line", "x": n,
             "y": np.full(len(n), max(line, least)),
             "line": {"color": "@text", "width": 2, "dash": "dot"}},
            {"type": "scatter", "mode": "lines", "name": "network, at most", "x": n,
             "y": np.maximum(largest, least), "line": {"color": f"{colour}/0.5", "width": 2},
             "hovertemplate": "%{x} units: at most %{y:.2g}<extra></extra>"},
            {"type": "scatter", "mode": "lines+markers", "name": "network", "x": n,
             "y": np.maximum(measured, least), "line": {"color": colour, "width": 3},
             "marker": {"color": colour, "size": 8}, "customdata": n,
             "hovertemplate": "%{x} units: %{y:.2g}<extra></extra>"},
            {"type": "scatter", "mode": "markers", "name": f"{width} units", "x": n[at : at + 1],
             "y": np.maximum(measured[at : at + 1], least), "hoverinfo": "none",
             "marker": {"color": "@background", "size": 16,
                        "line": {"color": colour, "width": 4}}},
        ],
        axis("units n", type="log", tickvals=[1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
             ticktext=["1", "2", "4", "8", "16", "32", "64", "128", "256", "512"]),
        axis("error (root mean square)", type="log", dtick=2, exponentformat="power"),
        margin={"l": 84, "r": 20, "t": 66, "b": 56},
    )  # fmt: skip
