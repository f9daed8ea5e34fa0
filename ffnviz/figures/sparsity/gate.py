"""A random gate: its draws, their mean, and how the mean closes in on GELU."""

import numpy as np
from numpy.typing import NDArray

from ffnviz.figures.layout import Figure, axis, figure, line_trace, log_axis, ring
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
            line_trace("GELU", x, gelu, "@gelu", 6),
            line_trace(f"mean of {n:,} draw{'s' * (n > 1)}", x, mean, "@text", 2),
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
            line_trace("expected: falls as 1/√n", draws, 100 * expected, "@muted", 2, "dash",
                       hoverinfo="none"),
            line_trace("drawn", draws, 100 * measured, "@gelu", 3, dots=8,
                       hovertemplate="%{x:,} draws: %{y:.3g}%<extra></extra>"),
            ring(f"{n:,} draws", draws[at : at + 1], 100 * measured[at : at + 1], "@gelu", 15),
        ],
        log_axis("draws n", [4**k for k in range(6)]),
        axis("output off by, %", type="log", dtick=1),
    )  # fmt: skip
