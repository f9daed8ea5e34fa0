"""How one neuron's values are spread, and how often all neurons of a block fire."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.number_format import short
from ffnviz.figures.layout import Figure, axis, figure, line_trace, vertical_line
from ffnviz.figures.style import Array


def values(
    edges: Array, counts: NDArray[np.integer], quantiles: Sequence[tuple[str, float]], colour: str
) -> Figure:
    """A bar a bin that has values; bins are two an octave, so they stand at equal distances.

    Args:
        edges: the lower ends of all bins but the first.
        counts: of each bin.
        quantiles: name and value, to be marked.
        colour: of the bars.
    """
    seen = np.flatnonzero(counts)
    first, last = int(seen[0]), int(seen[-1])
    places = np.arange(first, last + 1)
    share = 100 * counts[places] / counts.sum()
    names = [_between(edges, int(place)) for place in places]
    step = max(1, -(-len(places) // 9))
    at = [(name, float(np.clip(np.searchsorted(edges, value, side="right"), first, last)))
          for name, value in quantiles]  # fmt: skip
    ticks = [int(place) for place in places[::step] if place < len(edges)]
    return figure(
        [{
            "type": "bar", "name": "share of tokens", "x": places, "y": share,
            "meta": {"names": names, "counts": counts[places], "named": "value"},
            "text": names, "textposition": "none", "marker": {"color": colour},
            "hovertemplate": "%{text}: %{y:.3g}% of tokens<extra></extra>",
        }],
        axis("activation h", tickvals=[tick + 0.5 for tick in ticks],
             ticktext=[short(float(edges[tick]), 1) for tick in ticks], showgrid=False),
        _percent_axis(),
        shapes=[vertical_line(x) for _, x in at],
        annotations=[
            {"text": name, "x": x, "y": 1.0 + 0.045 * (place % 2), "yref": "paper",
             "yanchor": "bottom", "showarrow": False} for place, (name, x) in enumerate(at)
        ],
        margin={"l": 84, "r": 20, "t": 66, "b": 60}, bargap=0.08,
    )  # fmt: skip


def _percent_axis() -> dict[str, object]:
    marks = [100.0, 10.0, 1.0, 0.1, 0.01, 0.001, 0.0001]
    names = [f"{mark:g}" if mark >= 0.001 else "0.0001" for mark in marks]
    return axis("% of tokens, logarithmic", type="log", tickvals=marks, ticktext=names)


def _between(edges: Array, place: int) -> str:
    if place == len(edges) // 2:
        return "near zero"
    low = "less" if place == 0 else short(float(edges[place - 1]))
    high = "more" if place == len(edges) else short(float(edges[place]))
    return f"{low} to {high}"


def ranked(series: Mapping[str, tuple[Array, str, float]], chosen: int) -> Figure:
    """How often the neurons of each block fire, the most often first.

    Args:
        series: name → shares of tokens in order, from 0 to 1, colour, and width of the line.
        chosen: the rank of the neuron that is looked at, in the last series.
    """
    hover = "number %{x}: %{y:.3g}% of tokens<extra>%{fullData.name}</extra>"
    return figure(
        [
            line_trace(name, np.arange(1, len(shares) + 1),
                       np.where(shares > 0, 100 * shares, np.nan), colour, width,
                       hovertemplate=hover)
            for name, (shares, colour, width) in series.items()
        ],
        axis("neurons, the most often active first", rangemode="tozero"),
        _percent_axis(),
        shapes=[vertical_line(chosen + 1)],
        margin={"l": 84, "r": 20, "t": 44, "b": 56},
    )  # fmt: skip
