"""On which line of a TOML file something stands, for those who have to mend it."""

import tomllib
from collections.abc import Sequence
from typing import Any

Place = Sequence[str | int]


def line_of(text: str, place: Place) -> int:
    """The line, from 1, on which the value at a place begins; 1 for what is not there.

    tomllib tells no lines. But the value is complete at the first line at which all up to there
    parses and has it; it began after the last line before that at which all parsed.

    Args:
        text: of the whole file, which parses.
        place: keys and numbers that lead to the value, as ("scene", 3, "title").
    """
    lines = text.splitlines()
    complete = 0  # lines after which the text parsed
    for end in range(1, len(lines) + 1):
        table = _parsed("\n".join(lines[:end]))
        if table is None:
            continue
        if _has(table, place):
            return _first_with_text(lines, complete, end)
        complete = end
    return 1


def _first_with_text(lines: Sequence[str], start: int, end: int) -> int:
    return next(n + 1 for n in range(start, end) if lines[n].strip() or n == end - 1)


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def _has(table: Any, place: Place) -> bool:
    for step in place:
        if isinstance(step, int):
            if not isinstance(table, list) or step >= len(table):
                return False
        elif not isinstance(table, dict) or step not in table:
            return False
        table = table[step]
    return True
