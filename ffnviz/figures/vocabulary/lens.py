"""The stream read early, as a table of words."""

from collections.abc import Sequence

import numpy as np

from ffnviz.figures.layout import Figure, axis, escaped, figure, shortened
from ffnviz.figures.style import Array
from ffnviz.figures.wording import percent

TWO_LINES = 8  # rows that have room for two lines each


def early_words(
    stages: Sequence[str], words: Sequence[Sequence[str]], probabilities: Array, twin: str
) -> Figure:
    """A row a stage, the likeliest words from left to right, darker the likelier.

    Args:
        stages: from the embedding on.
        words: at each stage, the likeliest first, not escaped.
        probabilities: of these, (n_stages, k), from 0 to 1.
        twin: the accent.
    """
    apart = "<br>" if len(stages) <= TWO_LINES else "  "
    text = [
        [f"{escaped(shortened(word))}{apart}<b>{escaped(percent(float(p)))}</b>"
         for word, p in zip(row, ps, strict=True)]
        for row, ps in zip(words, probabilities, strict=True)
    ]  # fmt: skip
    return figure(
        [{
            "type": "heatmap", "name": "likeliest words", "z": 100 * probabilities, "text": text,
            "x": np.arange(1, probabilities.shape[1] + 1), "y": list(stages),
            "meta": {"labels": [list(row) for row in words], "named": "stage"},
            "texttemplate": "%{text}", "textfont": {"size": 18, "color": "@text"},
            "showscale": False, "hoverinfo": "none", "xgap": 3, "ygap": 3, "zmin": 0, "zmax": 100,
            # Never so dark that the words on it could not be read.
            "colorscale": [[0, f"@{twin}/0"], [0.1, f"@{twin}/0.25"], [1, f"@{twin}/0.55"]],
        }],
        axis("place among the likeliest", dtick=1, showgrid=False),
        axis("", autorange="reversed", showgrid=False),
        margin={"l": 116, "r": 10, "t": 10, "b": 50},
    )  # fmt: skip
