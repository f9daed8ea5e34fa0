"""The likeliest words as bars, in panels side by side: drawn in place, so that nothing blinks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ffnviz.pictures.cell import Cell
from ffnviz.pictures.head import Head


@dataclass(frozen=True)
class Panel:
    """One list of words.

    Attributes:
        title: said above it.
        words: the likeliest first.
        probabilities: from 0 to 1, as many.
        colour: which of the palette's colours the bars have.
        of: what the numbers are; a "probability" is written in percent.
    """

    title: str
    words: Sequence[str]
    probabilities: NDArray[np.floating]
    colour: str
    of: str = "probability"


def prediction_cell(head: Head, panels: Sequence[Panel], key: str) -> Cell:
    """Panels of words, all on one scale.

    Args:
        head: what stands above them.
        panels: from left to right.
        key: unique on the sheet.
    """
    data: dict[str, Any] = {
        "panels": [
            {
                "title": panel.title,
                "words": list(panel.words),
                "probabilities": [float(p) for p in panel.probabilities],
                "colour": panel.colour,
                "of": panel.of,
            }
            for panel in panels
        ],
        "head": head.to_json(),
    }
    return Cell("prediction", key, data)
