"""An exercise of numbers to compute by hand; the browser checks each as it is typed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ffnviz.pictures.cell import Cell
from ffnviz.pictures.head import Head
from ffnviz.pictures.sent import event, texts

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
            {"equation": step.equation, "tables": [vars(table) for table in step.tables],
             "gaps": [vars(gap) for gap in step.gaps]}
            for step in steps
        ],
        "another": another is not None,
        "typed": [*typed, *[""] * (n - len(typed))][:n],
    }  # fmt: skip
    events = {"type": event(type_all, texts), "another": lambda _: another}
    return Cell("by_hand", key, data, events=events)
