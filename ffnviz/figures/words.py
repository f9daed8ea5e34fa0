"""The likeliest words as bars, in panels side by side on one scale."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ffnviz.figures.layout import Figure, Trace, axis, escaped, layout, panel_title
from ffnviz.figures.wording import percent

GAP = 0.05


@dataclass(frozen=True)
class Words:
    """One list of words.

    Attributes:
        title: said above it; may hold <br>, and so must be escaped where it is typed.
        words: the likeliest first, not escaped.
        probabilities: from 0 to 1, as many.
        colour: as a figure names it, "@relu".
    """

    title: str
    words: Sequence[str]
    probabilities: NDArray[np.floating]
    colour: str


def word_bars(panels: Sequence[Words]) -> Figure:
    """A panel a list, from left to right; a word stands at the end of its bar."""
    largest = 100 * max(float(panel.probabilities.max()) for panel in panels)
    width = (1 - GAP * (len(panels) - 1)) / len(panels)
    rows = max(len(panel.words) for panel in panels)
    traces: list[Trace] = []
    axes = {}
    for place, panel in enumerate(panels):
        left = place * (width + GAP)
        axes[f"xaxis{place + 1}"] = axis(
            "probability, %" if place == 0 else "",
            domain=[left, left + width],
            # Room for the longest bar's word at its end.
            range=[0, largest * 1.9],
            showticklabels=False,
            showgrid=False,
            zeroline=False,
            showline=False,
            anchor=f"y{place + 1}",
        )
        axes[f"yaxis{place + 1}"] = axis(
            "",
            range=[rows - 0.4, -0.6],
            showticklabels=False,
            showgrid=False,
            zeroline=False,
            anchor=f"x{place + 1}",
        )
        text = [
            f"{escaped(word)} <b>{escaped(percent(float(probability)))}</b>"
            for word, probability in zip(panel.words, panel.probabilities, strict=True)
        ]
        traces.append({
            "type": "bar", "orientation": "h", "name": panel.title.replace("<br>", " "),
            "x": 100 * panel.probabilities, "y": np.arange(len(panel.words)),
            "xaxis": f"x{place + 1}", "yaxis": f"y{place + 1}",
            "text": text, "textposition": "outside", "textfont": {"size": 19},
            "cliponaxis": False, "textangle": 0, "hoverinfo": "none",
            "marker": {"color": panel.colour},
        })  # fmt: skip
    titles = [
        panel_title(panel.title, place * (width + GAP), 1.01) for place, panel in enumerate(panels)
    ]
    return {
        "data": traces,
        "layout": layout(
            axes.pop("xaxis1"),
            axes.pop("yaxis1"),
            **axes,
            meta={"panels": len(panels)},
            annotations=titles,
            showlegend=False,
            bargap=0.35,
            margin={"l": 10, "r": 10, "t": 56, "b": 30},
        ),
    }
