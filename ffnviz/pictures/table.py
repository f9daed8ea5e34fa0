"""A table on a sheet; what it shows can be saved as CSV."""

from collections.abc import Callable, Sequence
from typing import Any

from ffnviz.pictures.cell import Cell
from ffnviz.pictures.head import Head
from ffnviz.pictures.sent import event, place

DRAWN = 500  # rows, of however many; all are sorted and saved


def table_cell(
    key: str,
    head: Head,
    columns: Sequence[str],
    rows: Sequence[Sequence[str | float]],
    on_choose: Callable[[int], Any] | None = None,
) -> Cell:
    """Rows under the names of their columns, a click on which sorts; numbers stand to the right.

    Args:
        key: unique on the sheet.
        head: above the picture.
        columns: their names.
        rows: as many values each.
        on_choose: gives the action for the place of a clicked row.
    """
    data = {"columns": list(columns), "rows": [list(row) for row in rows], "head": head.to_json(),
            "clickable": on_choose is not None, "drawn": DRAWN}  # fmt: skip
    events = {} if on_choose is None else {"row": event(on_choose, place, len(rows))}
    return Cell("table", key, data, events=events)
