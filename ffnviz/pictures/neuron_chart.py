"""One neuron's values on tokens, tags and positions, and how often a block's neurons fire."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.number_format import short
from ffnviz.pictures import plot
from ffnviz.pictures.wording import percent


def values(
    labels: Sequence[str],
    hidden: plot.Array,  # the neuron's value on each, (T,)
    token: int,
    twin: str,
    threshold: float,  # how far from zero the neuron is where it fires
    title: str = "activation h",
) -> plot.Figure:
    """A bar a token, the chosen one marked; a click chooses a token."""
    lowest, highest = min(0.0, float(hidden.min())), max(0.1, float(hidden.max()))
    sides = [threshold] + [-threshold] * (lowest < 0 < threshold)
    x, hover = np.arange(len(labels)), "%{y:.3f}<extra></extra>"
    bars = plot.bar_trace("hidden", x, hidden, f"@{twin}", customdata=x, hovertemplate=hover)
    across = {"type": "line", "x0": 0, "x1": 1, "xref": "paper"}
    line = {"color": "@muted", "width": 1, "dash": "dot"}
    return plot.figure(
        [bars],
        plot.token_axis(labels),
        plot.axis(title, range=[1.1 * lowest, 1.1 * highest]),
        shapes=[
            plot.band(token - 0.5, token + 0.5),
            *({**across, "y0": y, "y1": y, "line": line} for y in sides),
        ],
        margin={"l": 70, "r": 20, "t": 6, "b": 70},
    )


def tags(
    names: Sequence[str],
    shares: plot.Array,
    elsewhere: plot.Array,
    corrected: Sequence[float],  # the p-value of each
    level: float,  # below which chance is ruled out
    twin: str,
) -> plot.Figure:
    """A bar a tag: the share of its sentences that wake the neuron, beside the share of others."""
    y = np.arange(len(names))
    text = [
        f"{plot.escaped(percent(float(share)))} {probability(p)}"
        for share, p in zip(shares, corrected, strict=True)
    ]
    return plot.figure(
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
        plot.axis("% of sentences that activate it", range=[0, 168], tickvals=[0, 25, 50, 75, 100],
                  zeroline=False),
        plot.row_axis(len(names), tickvals=y, ticktext=[plot.escaped(name) for name in names]),
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


def positions(
    shares: plot.Array, counts: NDArray[np.integer], twin: str, together: int = 1
) -> plot.Figure:
    """The share of tokens on which the neuron fired, a bar for `together` positions."""
    first = 1 + together * np.arange(len(shares))
    x = first + (together - 1) / 2 if together > 1 else first
    meta = {"counts": np.rint(shares * counts).astype(int).tolist()}
    if together > 1:
        meta["values"] = [f"{start}–{start + together - 1}" for start in first]
    every = max(1, together * len(shares) // 16)
    at = "%{x}" if together == 1 else "%{text}"
    hover = f"position {at}: %{{y:.1f}}% of %{{customdata:,}} tokens<extra></extra>"
    more = {"text": meta.get("values"), "textposition": "none", "hovertemplate": hover}
    return plot.figure(
        [
            plot.bar_trace(
                "fires", x, 100 * shares, f"@{twin}", customdata=counts, meta=meta, **more
            )
        ],
        plot.axis("position in the sentence", dtick=every, showgrid=False),
        plot.axis("% of tokens that activate it", rangemode="tozero"),
        margin={"l": 70, "r": 20, "t": 12, "b": 56},
    )


def histogram_figure(
    edges: plot.Array,
    counts: NDArray[np.integer],
    quantiles: Sequence[tuple[str, float]],
    colour: str,
) -> plot.Figure:
    """A bar a bin; bins are two an octave, and `edges` the lower ends of all but the first."""
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
    meta = {"names": names, "counts": counts[places], "named": "value"}
    hover = "%{text}: %{y:.3g}% of tokens<extra></extra>"
    more = {"meta": meta, "text": names, "textposition": "none", "hovertemplate": hover}
    return plot.figure(
        [plot.bar_trace("share of tokens", places, share, colour, **more)],
        plot.axis("activation h", tickvals=[tick + 0.5 for tick in ticks],
                  ticktext=[short(float(edges[tick]), 1) for tick in ticks], showgrid=False),
        _percent_axis(),
        shapes=[plot.vertical_line(x) for _, x in at],
        annotations=[
            {"text": name, "x": x, "y": 1.0 + 0.045 * (place % 2), "yref": "paper",
             "yanchor": "bottom", "showarrow": False} for place, (name, x) in enumerate(at)
        ],
        margin={"l": 84, "r": 20, "t": 66, "b": 60}, bargap=0.08,
    )  # fmt: skip


def _percent_axis() -> dict[str, object]:
    names = ["100", "10", "1", "0.1", "0.01", "0.001", "0.0001"]
    marks = [float(name) for name in names]
    return plot.axis("% of tokens, logarithmic", type="log", tickvals=marks, ticktext=names)


def _between(edges: plot.Array, place: int) -> str:
    if place == len(edges) // 2:
        return "near zero"
    low = "less" if place == 0 else short(float(edges[place - 1]))
    high = "more" if place == len(edges) else short(float(edges[place]))
    return f"{low} to {high}"


def ranked(series: Mapping[str, tuple[plot.Array, str, float]], chosen: int) -> plot.Figure:
    """How often each block's neurons fire, the most often first; a rank in the last is marked."""
    hover = "number %{x}: %{y:.3g}% of tokens<extra>%{fullData.name}</extra>"
    return plot.figure(
        [
            plot.line_trace(
                name,
                np.arange(1, len(shares) + 1),
                np.where(shares > 0, 100 * shares, np.nan),
                colour,
                width,
                hovertemplate=hover,
            )
            for name, (shares, colour, width) in series.items()
        ],
        plot.axis("neurons, the most often active first", rangemode="tozero"),
        _percent_axis(),
        shapes=[plot.vertical_line(chosen + 1)],
        margin={"l": 84, "r": 20, "t": 44, "b": 56},
    )
