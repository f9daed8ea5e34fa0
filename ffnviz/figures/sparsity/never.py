"""Neurons reached so far, token after token, against those that no book ever reached."""

from collections.abc import Mapping, Sequence

import numpy as np

from ffnviz.figures.layout import Figure, axis, escaped, figure, line_trace, token_axis
from ffnviz.figures.style import Array, Series
from ffnviz.figures.wording import percent


def reached(
    shares: Mapping[Series, Array], ceilings: Mapping[Series, float], labels: Sequence[str]
) -> Figure:
    """A rising line a network, and as a dotted line what thousands of book tokens reached.

    Args:
        shares: network → neurons above zero on any of the first t tokens, (T,), from 0 to 1.
        ceilings: network → neurons above zero on any token of the held-out books, from 0 to 1.
        labels: the tokens as typed.
    """
    x = np.arange(len(labels))
    traces = [
        {"type": "scatter", "mode": "lines+markers", "name": escaped(series.label),
         "x": x, "y": 100 * y,
         "line": {"color": f"@{series.colour}", "width": 4, "shape": "hv"}, "marker": {"size": 9},
         "hovertemplate": "%{y:.1f}% reached<extra>%{fullData.name}</extra>"}
        for series, y in shares.items()
    ]  # fmt: skip
    lines = [
        line_trace(f"{escaped(series.label)}, on whole books: {percent(y)}",
                   np.array([-0.6, len(labels) - 0.4]), np.full(2, 100 * y), f"@{series.colour}",
                   2, "dot", hoverinfo="skip")
        for series, y in ceilings.items()
    ]  # fmt: skip
    return figure(
        [*traces, *lines],
        token_axis(labels),
        axis("% of neurons above zero at least once", range=[0, 104]),
    )
