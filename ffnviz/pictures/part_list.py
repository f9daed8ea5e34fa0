"""The parts of a page, one shown at a time: a list at the left, in a narrow window a menu."""

from collections.abc import Callable, Sequence
from typing import Any

from ffnviz.pictures.cell import Cell
from ffnviz.pictures.sent import event, place


def part_list_cell(
    label: str,
    parts: Sequence[tuple[str, str]],
    chosen: int,
    away: Sequence[str],
    key: str,
    on_choose: Callable[[int], Any],
) -> Cell:
    """The list.

    Args:
        label: what it is a list of.
        parts: title and line of each.
        chosen: the one that is shown.
        away: sentences on parts that cannot be shown.
        key: unique on the page.
        on_choose: gives the action for the chosen part's place.
    """
    data = {"label": label, "parts": [list(part) for part in parts], "chosen": chosen,
            "away": list(away)}  # fmt: skip
    return Cell("part_list", key, data, events={"part": event(on_choose, place, len(parts))})
