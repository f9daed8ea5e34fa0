"""Lines of a program with what each made when it ran; they may be put into another order."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ffnviz.pictures.cell import Cell
from ffnviz.pictures.head import Head
from ffnviz.pictures.sent import entry, place


@dataclass(frozen=True)
class Value:
    """A number of a line.

    Attributes:
        text: as it is shown.
        real: what it should be, where it is another; empty where it is not.
    """

    text: str
    real: str = ""


@dataclass(frozen=True)
class ProgramLine:
    """One line.

    Attributes:
        code: as it stands.
        values: one for each column; none if it did not run.
        fault: why it did not run; empty if it did, or if one above did not.
    """

    code: str
    values: Sequence[Value]
    fault: str = ""


def program_cell(
    key: str,
    head: Head,
    columns: Sequence[str],
    lines: Sequence[ProgramLine],
    on_move: Callable[[int, int], Any] | None = None,
) -> Cell:
    """The program.

    Args:
        key: unique on the sheet.
        head: what stands above it.
        columns: what the numbers are.
        lines: from top to bottom.
        on_move: gives the action for the place of a line and the place it goes to; None if the
            lines stay where they are.
    """

    def moved(sent: Any) -> Any:
        start, end = (place(entry(sent, name), len(lines)) for name in ("from", "to"))
        return None if start is None or end is None or on_move is None else on_move(start, end)

    data = {"head": head.to_json(), "columns": list(columns), "movable": on_move is not None,
            "lines": [asdict(line) for line in lines]}  # fmt: skip
    return Cell("program", key, data, events={"move": moved})
