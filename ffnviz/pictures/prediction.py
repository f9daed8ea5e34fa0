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
    """One list of words."""

    title: str  # said above it
    words: Sequence[str]  # the likeliest first
    probabilities: NDArray[np.floating]  # from 0 to 1, as many
    colour: str  # which of the palette's colours the bars have
    of: str = "probability"  # what the numbers are; a "probability" is written in percent


def prediction_cell(head: Head, panels: Sequence[Panel], key: str) -> Cell:
    """Panels of words, all on one scale.

    Args:
        head: what stands above them.
        panels: from left to right.
        key: unique on the sheet.
    """
    return Cell("prediction", key, {"panels": _drawn(panels), "head": head.to_json()})


def replay_cell(head: Head, frames: Sequence[tuple[str, Sequence[Panel]]], key: str) -> Cell:
    """The same at several moments, one after the other, with a slider: nobody else is asked.

    Args:
        head: what stands above them.
        frames: what is said of each moment, and its panels; at least one.
        key: unique on the sheet.
    """
    moments = [{"said": said, "panels": _drawn(panels)} for said, panels in frames]
    data = {"panels": moments[-1]["panels"], "moments": moments, "head": head.to_json()}
    return Cell("prediction", key, data)


def _drawn(panels: Sequence[Panel]) -> list[dict[str, Any]]:
    return [
        {
            "title": panel.title,
            "words": list(panel.words),
            "probabilities": [float(p) for p in panel.probabilities],
            "colour": panel.colour,
            "of": panel.of,
        }
        for panel in panels
    ]
