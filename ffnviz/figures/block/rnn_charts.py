"""An RNN against a block: the clock, and what arrives of a gradient."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ffnviz.figures.layout import (
    Figure,
    axis,
    band,
    figure,
    line_trace,
    row_axis,
    some_named,
    token_axis,
)

WIDTH = 0.36  # of a bar, in rows


def clock(labels: Sequence[str], ready: NDArray[np.float64], block: float, colour: str) -> Figure:
    """When each token was done: a row a token, a bar from where its step begins to where it ends.

    Args:
        labels: the tokens as typed.
        ready: when the recurrent network was done with each, in ms, (n,).
        block: when the block was done with all.
        colour: the block's.
    """
    n = len(labels)
    bars = (
        ("RNN", np.concatenate([[0.0], ready[:-1]]), ready, -0.2, "@muted"),
        ("block", np.zeros(n), np.full(n, block), 0.2, colour),
    )
    return figure(
        [
            {"type": "bar", "orientation": "h", "name": name, "y": np.arange(n) + offset,
             "x": end - start, "base": start, "width": WIDTH, "marker": {"color": bar_colour},
             "customdata": end,
             "hovertemplate": "done after %{customdata:.2f} ms<extra>" + name + "</extra>"}
            for name, start, end, offset, bar_colour in bars
        ],
        axis("milliseconds from the start", rangemode="tozero"),
        row_axis(n, **some_named(labels, 16, 10), tickfont={"size": 16}),
        margin={"l": 96, "r": 20, "t": 44, "b": 84},
        barmode="overlay",
    )  # fmt: skip


def arrives(
    labels: Sequence[str],
    token: int,
    series: Sequence[tuple[str, NDArray[np.float64], str, str]],
) -> Figure:
    """What of a gradient of length 1 at one token's output arrives at each token, logarithmic.

    Args:
        labels: the tokens as typed.
        token: the one whose output it starts from.
        series: name, what arrives at each token, colour, and dash.
    """
    return figure(
        [
            line_trace(name, np.arange(len(labels)), np.where(values > 0, values, np.nan),
                       colour, 3, dash, dots=9,
                       hovertemplate="%{y:.3g}<extra>%{fullData.name}</extra>")
            for name, values, colour, dash in series
        ],
        token_axis(labels),
        axis("length of the gradient that arrives", type="log", dtick=1, exponentformat="power"),
        shapes=[band(token - 0.5, token + 0.5)],
        margin={"l": 84, "r": 20, "t": 44, "b": 84},
    )  # fmt: skip
