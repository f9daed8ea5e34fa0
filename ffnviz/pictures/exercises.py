"""Exercises: numbers by hand, a program to order, weights to choose, points and curves to draw."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ffnviz.pictures.cell import Cell, Head, event, numbers, place, texts, to_data

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
    exercise: str,  # its id; the gaps are emptied when it changes
    steps: Sequence[Step],  # in order; a gap reads only earlier ones, counted through all steps
    typed: Sequence[str],  # the text in each gap
    on_type: Callable[[list[str]], Any],  # gives the action for the texts in all gaps
    another: Any = None,  # the action of a button that appears once all is right; none without
) -> Cell:
    """An exercise."""
    n = sum(len(step.gaps) for step in steps)

    data = {
        "head": head.to_json(),
        "exercise": exercise,
        "longest": LONGEST,
        "steps": to_data(steps),
        "another": another is not None,
        "typed": [*typed, *[""] * (n - len(typed))][:n],
    }
    typed_all = event(lambda sent: on_type([text[:LONGEST] for text in sent]), texts, n)
    events = {"type": typed_all, "another": lambda _: another}
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
    columns: Sequence[str],  # what the numbers are
    lines: Sequence[ProgramLine],  # from top to bottom
    # gives the action for the names of all lines in another order; None if they stay where they are
    on_order: Callable[[list[str]], Any] | None = None,
) -> Cell:
    """The program."""

    def put_in_order(names: list[str]) -> Any:
        legal = sorted(names) == sorted(line.name for line in lines)
        return on_order(names) if legal and on_order is not None else None

    data = {
        "head": head.to_json(),
        "columns": list(columns),
        "movable": on_order is not None,
        "lines": to_data(lines),
    }
    events = {"order": event(put_in_order, texts, len(lines))}
    return Cell("program", key, data, events=events)


WEIGHTS = 9  # of unit 1: a, b, bias; of unit 2 likewise; of the output: h₁, h₂, bias
MOST = 9.0  # of any weight, without its sign


def xor_cell(
    key: str,
    head: Head,
    weights: Sequence[float],  # the nine
    relu: bool,  # whether φ is ReLU; else there is none
    on_weights: Callable[[list[float]], Any],  # gives the action for nine other ones
    on_phi: Callable[[bool], Any],  # gives the action for φ on or off
) -> Cell:
    """The network, what it makes of the four inputs, and how many are right."""
    data = {"head": head.to_json(), "weights": list(weights), "relu": relu, "most": MOST}
    events = {
        "weights": event(on_weights, numbers, WEIGHTS, -MOST, MOST),
        "phi": lambda sent: on_phi(sent is True),
    }
    return Cell("xor_net", key, data, events=events)


Point = tuple[int, int, bool]  # column, row from below, whether it is of the first class


@dataclass(frozen=True, kw_only=True)
class PointEditor:
    """Points over a score; a click puts a point or takes one away."""

    points: Sequence[Point]  # those there are
    side: int  # places along each edge
    most: int  # points there may be
    classes: tuple[str, str]  # what each class is called
    label: str  # the text alternative
    head: Head
    # over the square, row by row from below, (n, n); above 0 is the first class
    score: NDArray[np.floating]
    lines: NDArray[np.floating]  # from x, y to x, y in the square from −1 to 1, (k, 4)
    on_change: Callable[[list[Point]], Any]  # gives the action for all points there are then

    def to_cell(self, key: str) -> Cell:
        """On a sheet, where `key` is unique."""
        data = {**to_data(self), "points": [[x, y, int(first)] for x, y, first in self.points]}
        floats = {"score": self.score, "lines": self.lines}
        arrays = {name: each.astype(np.float32).ravel() for name, each in floats.items()}
        changed = event(self.on_change, checked, self.side, self.most)
        return Cell("points", key, data, arrays, {"points": changed})


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
    corners: Sequence[Corner],  # from left to right; the first and the last stay in their columns
    side: int,  # columns of the grid, and rows
    # x and y of the target, in columns and rows, (n,) each
    curve: tuple[NDArray[np.floating], NDArray[np.floating]],
    # x and y of points to mark, (n,) each
    samples: tuple[NDArray[np.floating], NDArray[np.floating]],
    label: str,  # the text alternative
    key: str,
    on_move: Callable[[list[Corner]], Any],  # gives the action for as many new corners
) -> Cell:
    """A line through corners, constant before the first, going on straight after the last."""
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
    label: str,  # what it is
    values: Sequence[float],  # at evenly spaced places, from -1 to 1
    accent: str,  # which of them the curve has
    key: str,
    on_draw: Callable[[list[float]], Any],  # gives the action for as many new values
) -> Cell:
    """A curve to be drawn over."""
    data = {"label": label, "values": list(values), "accent": accent}
    events = {"curve": event(on_draw, numbers, len(values), -1.0, 1.0)}
    return Cell("drawing", key, data, events=events)
