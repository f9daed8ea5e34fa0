"""Corners of a line that a person drags over a curve: by pointer, finger or keys."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ffnviz.pictures.cell import Cell
from ffnviz.pictures.head import Head
from ffnviz.pictures.sent import numbers

Corner = tuple[int, int]  # column and row of a grid, from the left and from below


def handles_cell(
    head: Head,
    corners: Sequence[Corner],
    side: int,
    curve: tuple[NDArray[np.floating], NDArray[np.floating]],
    samples: tuple[NDArray[np.floating], NDArray[np.floating]],
    label: str,
    key: str,
    on_move: Callable[[list[Corner]], Any],
) -> Cell:
    """A line through corners, constant before the first, going on straight after the last.

    Args:
        head: above the picture.
        corners: from left to right; the first and the last stay in their columns.
        side: columns of the grid, and rows.
        curve: x and y of the target, in columns and rows, (n,) each.
        samples: x and y of points to mark, (n,) each.
        label: the text alternative.
        key: unique on the sheet.
        on_move: gives the action for as many new corners.
    """
    n = len(corners)

    def moved(sent: Any) -> Any:
        flat = numbers(sent, 2 * n, 0, side - 1)
        if flat is None or any(value != int(value) for value in flat):
            return None
        new = [(int(x), int(y)) for x, y in zip(flat[::2], flat[1::2], strict=True)]
        columns = [x for x, _ in new]
        fixed = (columns[0], columns[-1]) == (corners[0][0], corners[-1][0])
        return on_move(new) if fixed and columns == sorted(set(columns)) else None

    data: dict[str, Any] = {
        "head": head.to_json(), "label": label, "side": side, "accent": head.accent,
        "corners": [list(each) for each in corners],
        "curve": [each.tolist() for each in curve],
        "samples": [each.tolist() for each in samples],
    }  # fmt: skip
    return Cell("handles", key, data, events={"corners": moved})
