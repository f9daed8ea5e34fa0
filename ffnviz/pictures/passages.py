"""Sentences with one stretch of each marked, and a number before it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ffnviz.pictures.declare import declare
from ffnviz.pictures.head import Head

_mount = declare("passages")


@dataclass(frozen=True)
class Passage:
    """One sentence.

    Attributes:
        value: the number before it, as written.
        before, at, after: its text; `at` is marked.
    """

    value: str
    before: str
    at: str
    after: str


def passages(
    head: Head,
    shown: Sequence[Passage],
    stamp: str,
    key: str,
) -> None:
    """Show the sentences, one below the other.

    Args:
        head: what stands above them; its accent marks.
        shown: from top to bottom.
        stamp: told to the browser once painted.
        key: unique on the page.
    """
    data: dict[str, Any] = {
        "rows": [[p.value, p.before, p.at, p.after] for p in shown],
        "head": head.to_json(),
        "stamp": stamp,
    }
    _mount(data, key=key)
