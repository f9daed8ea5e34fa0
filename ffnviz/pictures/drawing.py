"""A curve that a person draws: with the pointer, or with the arrow keys."""

from collections.abc import Callable, Sequence
from typing import Any

from ffnviz.pictures.cell import Cell
from ffnviz.pictures.sent import event, numbers


def drawing_cell(
    label: str,
    values: Sequence[float],
    accent: str,
    key: str,
    on_draw: Callable[[list[float]], Any],
) -> Cell:
    """A curve to be drawn over.

    Args:
        label: what it is.
        values: at evenly spaced places, from -1 to 1.
        accent: which of them the curve has.
        key: unique on the sheet.
        on_draw: gives the action for as many new values.
    """
    data = {"label": label, "values": list(values), "accent": accent}
    return Cell("drawing", key, data, events={
        "curve": event(on_draw, numbers, len(values), -1.0, 1.0)
    })  # fmt: skip
