"""A curve that a person draws: with the pointer, or with the arrow keys.

An exercise of numbers to compute by hand; the browser checks each as it is typed.

A program with the values that each line computed; its lines may be reordered.

A network of two hidden units whose nine weights a person chooses; the browser runs it.

A square in which a person puts points of two classes, by pointer, finger or keys.

Corners of a line that a person drags over a curve: by pointer, finger or keys.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ffnviz.pictures.cell import Cell, Head, event, numbers, place, texts

LONGEST = 10  # signs in one gap


@dataclass(frozen=True)
class Table:
    """Given numbers, as text."""

    name: str  # above it
    rows: Sequence[Sequence[str]]  # from top to bottom
    columns: Sequence[str] = ()  # their names; none if there are none


@dataclass(frozen=True)
class Gap:
    """One number to fill in, with all that can be said of a wrong one; see `Blank`."""

    name: str
    right: float
    slips: Sequence[tuple[float, str]]
    tolerance: float
    reads: Sequence[tuple[int, float]]
    plus: float
    relu: bool
    uses: Sequence[tuple[int, int | None, int | None]]


@dataclass(frozen=True)
class Step:
    """One equation: the given tables, and the gaps to fill in."""

    equation: str
    tables: Sequence[Table]
    gaps: Sequence[Gap]


def by_hand_cell(
    key: str,
    head: Head,
    exercise: str,
    steps: Sequence[Step],
    typed: Sequence[str],
    on_type: Callable[[list[str]], Any],
    another: Any = None,
) -> Cell:
    """An exercise.

    Args:
        key: unique on the sheet.
        head: above the picture.
        exercise: its id; the gaps are emptied when it changes.
        steps: in order; a gap reads only earlier ones, counted through all steps.
        typed: the text in each gap.
        on_type: gives the action for the texts in all gaps.
        another: the action of a button that appears once all is right; none without.
    """
    n = sum(len(step.gaps) for step in steps)

    def type_all(sent: list[str]) -> Any:
        return on_type([text[:LONGEST] for text in sent]) if len(sent) == n else None

    data = {
        "head": head.to_json(),
        "exercise": exercise,
        "longest": LONGEST,
        "steps": [
            {
                "equation": step.equation,
                "tables": [vars(table) for table in step.tables],
                "gaps": [vars(gap) for gap in step.gaps],
            }
            for step in steps
        ],
        "another": another is not None,
        "typed": [*typed, *[""] * (n - len(typed))][:n],
    }
    events = {"type": event(type_all, texts), "another": lambda _: another}
    return Cell("by_hand", key, data, events=events)


@dataclass(frozen=True)
class Value:
    """A number of a line."""

    text: str  # as it is shown
    real: str = ""  # what it should be, where it is another; empty where it is not


@dataclass(frozen=True)
class ProgramLine:
    """One line."""

    name: str  # unique among the lines
    code: str  # its text
    values: Sequence[Value]  # one for each column; none if it did not run
    fault: str = ""  # why it did not run; empty if it did, or if one above did not


def program_cell(
    key: str,
    head: Head,
    columns: Sequence[str],
    lines: Sequence[ProgramLine],
    on_order: Callable[[list[str]], Any] | None = None,
) -> Cell:
    """The program.

    Args:
        key: unique on the sheet.
        head: above the picture.
        columns: what the numbers are.
        lines: from top to bottom.
        on_order: gives the action for the names of all lines in another order; None if they stay
            where they are.
    """

    def put_in_order(names: list[str]) -> Any:
        legal = sorted(names) == sorted(line.name for line in lines)
        return on_order(names) if legal and on_order is not None else None

    data = {
        "head": head.to_json(),
        "columns": list(columns),
        "movable": on_order is not None,
        "lines": [asdict(line) for line in lines],
    }
    return Cell("program", key, data, events={"order": event(put_in_order, texts)})


WEIGHTS = 9  # of unit 1: a, b, bias; of unit 2 likewise; of the output: h₁, h₂, bias
MOST = 9.0  # of any weight, without its sign


def xor_cell(
    key: str,
    head: Head,
    weights: Sequence[float],
    relu: bool,
    on_weights: Callable[[list[float]], Any],
    on_phi: Callable[[bool], Any],
) -> Cell:
    """The network, what it makes of the four inputs, and how many are right.

    Args:
        key: unique on the sheet.
        head: above the picture.
        weights: the nine.
        relu: whether φ is ReLU; else there is none.
        on_weights: gives the action for nine other ones.
        on_phi: gives the action for φ on or off.
    """
    data = {"head": head.to_json(), "weights": list(weights), "relu": relu, "most": MOST}
    events = {
        "weights": event(on_weights, numbers, WEIGHTS, -MOST, MOST),
        "phi": lambda sent: on_phi(sent is True),
    }
    return Cell("xor_net", key, data, events=events)


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
        "head": head.to_json(),
        "label": label,
        "side": side,
        "accent": head.accent,
        "corners": [list(each) for each in corners],
        "curve": [each.tolist() for each in curve],
        "samples": [each.tolist() for each in samples],
    }
    return Cell("handles", key, data, events={"corners": moved})


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
    return Cell(
        "drawing", key, data, events={"curve": event(on_draw, numbers, len(values), -1.0, 1.0)}
    )
