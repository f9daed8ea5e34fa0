"""A class's sentences: the share of neurons that each wakes, and the neurons most of them wake."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ffnviz.figures.layout import Figure, axis, escaped, isolated, layout, shortened
from ffnviz.figures.panels import bar_panels
from ffnviz.figures.style import Series

LONGEST = 60


def shares_of_sentences(
    shares: Mapping[Series, NDArray[np.float64]], texts: Sequence[str], numbers: Sequence[int]
) -> Figure:
    """A point a sentence and network, from the sentence that wakes most to that which wakes fewest.

    Args:
        shares: of each network, (n,), from 0 to 1; the first sets the order.
        texts: the sentences.
        numbers: what a click on each says.
    """
    order = np.argsort(-next(iter(shares.values())), kind="stable")
    places = np.arange(len(order)) + 1
    hover = [isolated(escaped(shortened(texts[place], LONGEST))) for place in order]
    traces = [
        {
            "type": "scatter",
            "mode": "lines+markers" if len(order) > 1 else "markers",
            "name": of.label,
            "x": places,
            "y": 100 * values[order],
            "customdata": np.array([numbers[place] for place in order]),
            "text": hover,
            "hovertemplate": "%{text}<br>%{y:.1f}%<extra></extra>",
            "line": {"color": f"@{of.colour}", "width": 1},
            "marker": {"color": f"@{of.colour}", "size": 11},
        }
        for of, values in shares.items()
    ]
    x = axis("sentences, by the share they wake", tickformat="d", dtick=max(1, len(order) // 10))
    return {"data": traces, "layout": layout(x, axis("% awake", rangemode="tozero"))}


def neurons_of_class(found: Sequence[tuple[int, int, str]], colour: str) -> Figure:
    """A bar a neuron: its number, how many sentences wake it, and the words that do, as typed."""
    counts = np.array([n for _, n, _ in found], dtype=np.int64)
    names = [f"{neuron}" for neuron, _, _ in found]
    text = [
        f"<b>{n}</b> × neuron {neuron}: {isolated(escaped(shortened(words, LONGEST)))}"
        for neuron, n, words in found
    ]
    bars = {
        "x": counts,
        "y": np.arange(len(found)),
        "text": text,
        "customdata": np.array([neuron for neuron, _, _ in found], dtype=np.int64),
        "meta": {"names": names, "named": "neuron", "values": counts},
        "textfont": {"size": 17},
        "marker": {"color": f"@{colour}"},
    }
    reach = 4.0 * max(1, int(counts.max(initial=1)))
    margin = {"l": 10, "r": 10, "t": 40, "b": 34}
    title = "sentences that wake it, and the words that do"
    return bar_panels([bars], [title], [(0.0, reach)], "sentences", 0.3, margin)
