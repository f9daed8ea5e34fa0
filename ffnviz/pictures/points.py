"""A square in which a person puts points of two classes, by pointer, finger or keys."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ffnviz.pictures.cell import Cell
from ffnviz.pictures.head import Head
from ffnviz.pictures.sent import event, place

Point = tuple[int, int, bool]  # column, row from below, whether it is of the first class


def points_cell(
    head: Head,
    points: Sequence[Point],
    side: int,
    most: int,
    classes: tuple[str, str],
    score: NDArray[np.floating],
    lines: NDArray[np.floating],
    label: str,
    key: str,
    on_change: Callable[[list[Point]], Any],
) -> Cell:
    """Points over a score; a click puts a point or takes one away.

    Args:
        head: above the picture.
        points: those there are.
        side: places along each edge.
        most: points there may be.
        classes: what each class is called.
        score: over the square, row by row from below, (n, n); above 0 is the first class.
        lines: from x, y to x, y in the square from −1 to 1, (k, 4).
        label: the text alternative.
        key: unique on the sheet.
        on_change: gives the action for all points there are then.
    """
    header: dict[str, Any] = {
        "points": [[x, y, int(first)] for x, y, first in points],
        "side": side,
        "most": most,
        "classes": list(classes),
        "label": label,
        "head": head.to_json(),
    }
    arrays = {"score": score.astype(np.float32).ravel(), "lines": lines.astype(np.float32).ravel()}
    return Cell("points", key, header, arrays, {"points": event(on_change, checked, side, most)})


def checked(value: Any, side: int, most: int) -> list[Point] | None:
    """The points that a browser sent; None if it sent anything else."""
    if not isinstance(value, list) or len(value) > most:
        return None
    points: list[Point] = []
    for each in value:
        if not isinstance(each, list) or len(each) != 3:
            return None
        x, y, first = (place(part, n) for part, n in zip(each, (side, side, 2), strict=True))
        if x is None or y is None or first is None:
            return None
        points.append((x, y, first == 1))
    return points
