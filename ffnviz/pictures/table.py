"""A table on a sheet; what it shows can be saved as CSV."""

from collections.abc import Sequence

from ffnviz.pictures.cell import Cell
from ffnviz.pictures.head import Head


def table_cell(
    key: str, head: Head, columns: Sequence[str], rows: Sequence[Sequence[str | float]]
) -> Cell:
    """Rows under the names of their columns; numbers stand to the right.

    Args:
        key: unique on the sheet.
        head: what stands above it.
        columns: their names.
        rows: as many values each.
    """
    data = {"columns": list(columns), "rows": [list(row) for row in rows], "head": head.to_json()}
    return Cell("table", key, data)
