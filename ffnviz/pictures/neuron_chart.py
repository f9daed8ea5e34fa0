"""How one neuron's values are spread, and how often all neurons of a block fire.

One neuron: its value on each token, the tags it fires on, and the positions.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.number_format import short
from ffnviz.pictures.plot import (
    Array,
    Figure,
    axis,
    band,
    escaped,
    figure,
    line_trace,
    row_axis,
    token_axis,
    vertical_line,
)
from ffnviz.pictures.wording import percent


def values(
    labels: Sequence[str],
    hidden: Array,  # the neuron's value on each, (T,)
    token: int,
    twin: str,
    threshold: float,  # how far from zero the neuron is where it fires
    title: str = "activation h",
) -> Figure:
    """A bar a token, the chosen one marked; a click chooses a token."""
    lowest, highest = min(0.0, float(hidden.min())), max(0.1, float(hidden.max()))
    sides = [threshold] + [-threshold] * (lowest < 0 < threshold)
    return figure(
        [{
            "type": "bar", "name": "hidden", "x": np.arange(len(labels)), "y": hidden,
            "customdata": np.arange(len(labels)), "marker": {"color": f"@{twin}"},
            "hovertemplate": "%{y:.3f}<extra></extra>",
        }],
        token_axis(labels),
        axis(title, range=[1.1 * lowest, 1.1 * highest]),
        shapes=[
            band(token - 0.5, token + 0.5),
            *({"type": "line", "x0": 0, "x1": 1, "xref": "paper", "y0": y, "y1": y,
               "line": {"color": "@muted", "width": 1, "dash": "dot"}}
              for y in sides),
        ],
        margin={"l": 70, "r": 20, "t": 6, "b": 70},
    )  # fmt: skip


def tags(
    names: Sequence[str],
    shares: Array,
    elsewhere: Array,
    corrected: Sequence[float],  # the p-value of each
    level: float,  # below which chance is ruled out
    twin: str,
) -> Figure:
    """A bar a tag: the share of its sentences that wake the neuron, beside the share of others."""
    y = np.arange(len(names))
    text = [
        f"{escaped(percent(float(share)))} {probability(p)}"
        for share, p in zip(shares, corrected, strict=True)
    ]
    return figure(
        [
            {"type": "bar", "orientation": "h", "name": "of the sentences with the tag",
             "x": 100 * shares, "y": y, "text": text, "textposition": "outside",
             "meta": {"labels": [f"p = {p:.3g}" for p in corrected], "named": "tag"},
             "textfont": {"size": 17}, "cliponaxis": False, "hoverinfo": "none",
             "marker": {"color": [f"@{twin}" if p < level else "@muted/0.5" for p in corrected]}},
            {"type": "scatter", "mode": "markers", "name": "of the sentences without it",
             "x": 100 * elsewhere, "y": y, "hoverinfo": "none",
             "marker": {"symbol": "line-ns-open", "size": 20, "color": "@text",
                        "line": {"width": 3, "color": "@text"}}},
            {"type": "bar", "orientation": "h", "name": "the same, but it may be chance",
             "x": [None], "y": [None], "hoverinfo": "skip", "marker": {"color": "@muted/0.5"}},
        ],
        axis("% of sentences that activate it", range=[0, 168], tickvals=[0, 25, 50, 75, 100],
             zeroline=False),
        row_axis(len(names), tickvals=y, ticktext=[escaped(name) for name in names]),
        barmode="overlay",
        margin={"l": 190, "r": 10, "t": 40, "b": 52},
    )  # fmt: skip


def probability(p: float) -> str:
    """A p-value as short as it may be, in Plotly's pseudo-HTML."""
    if p >= 0.1:
        return "p = 1" if p > 0.995 else f"p = {p:.1f}"
    if p >= 0.001:
        return f"p = {p:.3f}"
    power = int(np.floor(np.log10(p))) if p > 0 else -300
    return f"p &lt; 10<sup>−{-power - 1}</sup>"


def positions(shares: Array, counts: NDArray[np.integer], twin: str, together: int = 1) -> Figure:
    """The share of tokens on which the neuron fired, a bar for `together` positions."""
    first = 1 + together * np.arange(len(shares))
    x = first + (together - 1) / 2 if together > 1 else first
    meta = {"counts": np.rint(shares * counts).astype(int).tolist()}
    if together > 1:
        meta["values"] = [f"{start}–{start + together - 1}" for start in first]
    every = max(1, together * len(shares) // 16)
    at = "%{x}" if together == 1 else "%{text}"
    return figure(
        [
            {
                "type": "bar",
                "name": "fires",
                "x": x,
                "y": 100 * shares,
                "customdata": counts,
                "meta": meta,
                "text": meta.get("values"),
                "textposition": "none",
                "marker": {"color": f"@{twin}"},
                "hovertemplate": f"position {at}: %{{y:.1f}}% of %{{customdata:,}} tokens"
                "<extra></extra>",
            }
        ],
        axis("position in the sentence", dtick=every, showgrid=False),
        axis("% of tokens that activate it", rangemode="tozero"),
        margin={"l": 70, "r": 20, "t": 12, "b": 56},
    )


def histogram_figure(
    edges: Array, counts: NDArray[np.integer], quantiles: Sequence[tuple[str, float]], colour: str
) -> Figure:
    """A bar a bin that has values; bins are two an octave, so they stand at equal distances.

    `edges` are the lower ends of all bins but the first.
    """
    seen = np.flatnonzero(counts)
    first, last = int(seen[0]), int(seen[-1])
    places = np.arange(first, last + 1)
    share = 100 * counts[places] / counts.sum()
    names = [_between(edges, int(place)) for place in places]
    step = max(1, -(-len(places) // 9))
    at = [
        (name, float(np.clip(np.searchsorted(edges, value, side="right"), first, last)))
        for name, value in quantiles
    ]
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
    """How often each block's neurons fire, the most often first; a rank in the last is marked."""
    hover = "number %{x}: %{y:.3g}% of tokens<extra>%{fullData.name}</extra>"
    return figure(
        [
            line_trace(
                name,
                np.arange(1, len(shares) + 1),
                np.where(shares > 0, 100 * shares, np.nan),
                colour,
                width,
                hovertemplate=hover,
            )
            for name, (shares, colour, width) in series.items()
        ],
        axis("neurons, the most often active first", rangemode="tozero"),
        _percent_axis(),
        shapes=[vertical_line(chosen + 1)],
        margin={"l": 84, "r": 20, "t": 44, "b": 56},
    )
