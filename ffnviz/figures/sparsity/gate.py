"""A random gate: its draws, their mean, and how the mean closes in on GELU."""

import numpy as np
from numpy.typing import NDArray

from ffnviz.figures.layout import Figure, axis, figure
from ffnviz.figures.style import Array


def draws(x: Array, gelu: Array, mean: Array, error: Array, single: Array, n: int) -> Figure:
    """Single draws as points, their mean as a line, the band it should lie in.

    Args:
        x: inputs, (k,).
        gelu: GELU there, (k,).
        mean: of n draws, (k,).
        error: its standard error, (k,).
        single: some draws, (m, k).
        n: how many draws.
    """
    band = np.concatenate([gelu + 2 * error, (gelu - 2 * error)[::-1]])
    return figure(
        [
            {"type": "scatter", "mode": "lines", "name": "two standard errors around it",
             "x": np.concatenate([x, x[::-1]]), "y": band, "fill": "toself",
             "fillcolor": "@gelu/0.15", "line": {"width": 0, "color": "@gelu/0.15"},
             "hoverinfo": "skip"},
            {"type": "scatter", "mode": "markers", "name": "single draws: 0 or x",
             "x": np.tile(x, len(single)), "y": single.ravel(), "hoverinfo": "skip",
             "marker": {"size": 5, "color": f"@muted/{min(0.5, 1.2 / len(single) + 0.06):.2f}"}},
            {"type": "scatter", "mode": "lines", "name": "GELU", "x": x, "y": gelu,
             "line": {"color": "@gelu", "width": 6}},
            {"type": "scatter", "mode": "lines", "name": f"mean of {n:,} draw{'s' * (n > 1)}",
             "x": x, "y": mean, "line": {"color": "@text", "width": 2}},
        ],
        axis("x", range=[float(x[0]), float(x[-1])]),
        axis("x · gate", range=[-3.6, 3.6]),
        margin={"l": 70, "r": 20, "t": 66, "b": 56},
    )  # fmt: skip


def errors(draws: NDArray[np.integer], measured: Array, expected: Array, n: int) -> Figure:
    """The output's error against the number of draws, both logarithmic.

    Args:
        draws: numbers of draws, (k,).
        measured: the error with each, from 0, (k,).
        expected: what chance gives, (k,).
        n: the number to mark.
    """
    at = int(np.abs(draws - n).argmin())
    return figure(
        [
            {"type": "scatter", "mode": "lines", "name": "expected: falls as 1/√n", "x": draws,
             "y": 100 * expected, "hoverinfo": "none",
             "line": {"color": "@muted", "width": 2, "dash": "dash"}},
            {"type": "scatter", "mode": "lines+markers", "name": "drawn", "x": draws,
             "y": 100 * measured, "hovertemplate": "%{x:,} draws: %{y:.3g}%<extra></extra>",
             "line": {"color": "@gelu", "width": 3}, "marker": {"color": "@gelu", "size": 8}},
            {"type": "scatter", "mode": "markers", "name": f"{n:,} draws", "showlegend": False,
             "x": draws[at : at + 1], "y": 100 * measured[at : at + 1], "hoverinfo": "none",
             "marker": {"color": "@background", "size": 15,
                        "line": {"color": "@gelu", "width": 4}}},
        ],
        axis("draws n", type="log", tickvals=[1, 4, 16, 64, 256, 1024],
             ticktext=["1", "4", "16", "64", "256", "1,024"]),
        axis("output off by, %", type="log", dtick=1),
    )  # fmt: skip
