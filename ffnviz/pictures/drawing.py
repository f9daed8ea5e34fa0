"""A curve that a person draws: with the pointer, or with the arrow keys."""

from collections.abc import Callable, Sequence
from typing import Any

from ffnviz.pictures.cell import Cell
from ffnviz.pictures.sent import numbers


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

    def drew(sent: Any) -> Any:
        drawn = numbers(sent, len(values), -1.0, 1.0)
        return None if drawn is None else on_draw(drawn)

    data: dict[str, Any] = {
        "label": label,
        "values": list(values),
        "accent": accent,
    }
    return Cell("drawing", key, data, events={"curve": drew})
