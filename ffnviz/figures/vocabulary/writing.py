"""Written words in order, each with the probability it had."""

from collections.abc import Sequence

import numpy as np

from ffnviz.figures.layout import Figure, axis, bare_axis, escaped, figure, some_named
from ffnviz.figures.style import Array


def steps(words: Sequence[str], probabilities: Array, chosen: int, twin: str) -> Figure:
    """A bar a word; the chosen one in the accent.

    Args:
        words: as written, not escaped.
        probabilities: each had, from 0 to 1.
        chosen: the step that is looked at.
        twin: the accent.
    """
    places = np.arange(len(words))
    names = [word.strip() or "␣" for word in words]
    return figure(
        [{
            "type": "bar", "name": "written", "x": places, "y": 100 * probabilities,
            "text": [escaped(name) for name in names], "textposition": "none",
            "customdata": places, "hovertemplate": "%{text} %{y:.1f}%<extra></extra>",
            "marker": {"color": [f"@{twin}" if place == chosen else "@muted/0.6"
                                 for place in places]},
        }],
        bare_axis("word", **some_named(names, 40), range=[-0.7, max(len(words), 6) - 0.3]),
        axis("probability, %", range=[0, 102]),
        bargap=0.25,
        hovermode="x",  # a click anywhere above a small bar finds it
        margin={"l": 70, "r": 20, "t": 12, "b": 80},
    )  # fmt: skip
