"""What the strongest neurons carry, as a curve over how many of them there are."""

from collections.abc import Mapping

import numpy as np

from ffnviz.figures.layout import Figure, axis, escaped, figure, line_trace, vertical_line
from ffnviz.figures.style import Array, Series

PERCENTS = np.geomspace(0.1, 100, 61)


def concentration(curves: Mapping[Series, Array], kept: float) -> Figure:
    """A curve a network, the slider's place marked.

    Args:
        curves: network → the share that the strongest 1 … d_ff neurons carry, (d_ff,).
        kept: the share of neurons kept, from 0 to 1.
    """
    return figure(
        [
            line_trace(escaped(series.label), PERCENTS, 100 * _at_percents(shares),
                       f"@{series.colour}", 4,
                       hovertemplate="strongest %{x:.2g}% carry %{y:.0f}%<extra></extra>")
            for series, shares in curves.items()
        ],
        axis("strongest % of each token's neurons", type="log",
             tickvals=[0.1, 0.5, 1, 5, 10, 50, 100], range=[-1, 2]),
        axis("% of what is written", range=[0, 102]),
        shapes=[vertical_line(100 * kept)],
    )  # fmt: skip


def _at_percents(shares: Array) -> Array:
    n = len(shares)
    carried: Array = np.interp(PERCENTS / 100 * n, np.arange(n + 1), [0, *shares])
    return carried
