"""A square in which a person puts points of two classes, by pointer, finger or keys."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from ffnviz.pictures.declare import declare
from ffnviz.pictures.head import Head
from ffnviz.pictures.sent import place

_mount = declare("points")

Point = tuple[int, int, bool]  # column, row from below, whether it is of the first class


def point_square(
    head: Head,
    points: Sequence[Point],
    side: int,
    most: int,
    classes: tuple[str, str],
    score: NDArray[np.floating],
    lines: NDArray[np.floating],
    label: str,
    stamp: str,
    key: str,
    on_change: Callable[[list[Point]], None],
) -> None:
    """Show the points over a score; a click puts a point or takes one away.

    Args:
        head: what stands above it.
        points: those there are.
        side: places along each edge.
        most: points there may be.
        classes: what each class is called.
        score: over the square, row by row from below, (n, n); above 0 is the first class.
        lines: from x, y to x, y in the square from −1 to 1, (k, 4).
        label: what it is, for those who cannot see it.
        stamp: told to the browser once painted.
        key: unique on the page.
        on_change: called with all points there are then.
    """

    def changed() -> None:
        sent = checked(st.session_state[key].points, side, most)
        if sent is not None:
            on_change(sent)

    header: dict[str, Any] = {
        "points": [[x, y, int(first)] for x, y, first in points],
        "side": side,
        "most": most,
        "classes": list(classes),
        "label": label,
        "head": head.to_json(),
        "stamp": stamp,
    }
    arrays = {"score": score.astype(np.float32).ravel(), "lines": lines.astype(np.float32).ravel()}
    _mount(header, arrays, key=key, on_points_change=changed)


def checked(value: Any, side: int, most: int) -> list[Point] | None:
    """The points that a browser sent; None if it sent anything else."""
    if not isinstance(value, list) or len(value) > most:
        return None
    found: list[Point] = []
    for each in value:
        if not isinstance(each, list) or len(each) != 3:
            return None
        x, y, first = (place(part, n) for part, n in zip(each, (side, side, 2), strict=True))
        if x is None or y is None or first is None:
            return None
        found.append((x, y, first == 1))
    return found
