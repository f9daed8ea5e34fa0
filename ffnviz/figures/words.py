"""The likeliest words as bars, in panels side by side on one scale."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ffnviz.figures.layout import Figure, Trace, escaped
from ffnviz.figures.panels import bar_panels
from ffnviz.figures.style import Array
from ffnviz.figures.wording import percent


@dataclass(frozen=True)
class Words:
    """One list of words."""

    title: str  # said above it; may hold <br>, and so must be escaped where it is typed
    words: Sequence[str]  # the likeliest first, not escaped
    probabilities: Array  # from 0 to 1, as many
    colour: str  # as a figure names it, "@relu"


def word_bars(panels: Sequence[Words]) -> Figure:
    """A panel a list, from left to right, all on one scale; a word stands at the end of its bar."""
    largest = 100 * max(float(panel.probabilities.max()) for panel in panels)
    bars: list[Trace] = []
    for panel in panels:
        text = [
            f"{escaped(word)} <b>{escaped(percent(float(probability)))}</b>"
            for word, probability in zip(panel.words, panel.probabilities, strict=True)
        ]
        bars.append({
            "x": 100 * panel.probabilities, "y": np.arange(len(panel.words)), "text": text,
            "meta": {"names": list(panel.words), "named": "word"},
            "textfont": {"size": 19}, "marker": {"color": panel.colour},
        })  # fmt: skip
    return bar_panels(
        bars, [panel.title for panel in panels], [(0.0, 1.9 * largest)] * len(panels),
        "probability, %", 0.35, {"l": 10, "r": 10, "t": 56, "b": 30},
    )  # fmt: skip
