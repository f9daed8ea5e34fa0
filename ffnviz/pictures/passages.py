"""Sentences with one stretch of each marked, and a number before it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ffnviz.pictures.cell import Cell
from ffnviz.pictures.head import Head


@dataclass(frozen=True)
class Passage:
    """One sentence."""

    value: str  # the number before it, as written
    # before, at, after: its text; `at` is marked
    before: str
    at: str
    after: str


def passages_cell(head: Head, shown: Sequence[Passage], key: str) -> Cell:
    """Sentences, one below the other.

    Args:
        head: above the picture; its accent marks.
        shown: from top to bottom.
        key: unique on the sheet.
    """
    data: dict[str, Any] = {
        "rows": [[p.value, p.before, p.at, p.after] for p in shown],
        "head": head.to_json(),
    }
    return Cell("passages", key, data)
