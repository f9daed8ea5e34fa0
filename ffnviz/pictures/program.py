"""A program with the values that each line computed; its lines may be reordered."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ffnviz.pictures.cell import Cell
from ffnviz.pictures.head import Head
from ffnviz.pictures.sent import event, texts


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

    data = {"head": head.to_json(), "columns": list(columns), "movable": on_order is not None,
            "lines": [asdict(line) for line in lines]}  # fmt: skip
    return Cell("program", key, data, events={"order": event(put_in_order, texts)})
