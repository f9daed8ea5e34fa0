"""The foot of a part: what comes next, the lecture, the glossary, what the network knows."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from ffnviz.pictures.cell import Cell
from ffnviz.pictures.sent import entry, one_of

MOST_PICTURES, LONGEST_NAME, LONGEST_PICTURE = 20, 40, 12_000
SMALL_PICTURE = re.compile(r"data:image/jpeg;base64,[A-Za-z0-9+/]+=*")


def foot_cell(
    following: str,
    knows: Sequence[str],
    key: str,
    on_next: Callable[[], Any],
    lecture: Sequence[tuple[str, str]] = (),
    on_lecture: Callable[[str, list[str], str], None] = lambda _, __, ___: None,
    outcome: str = "",
) -> Cell:
    """The foot of a page.

    Args:
        following: what comes next, as its button says it.
        knows: what the network knows, a paragraph each; none if nothing is known of it.
        key: unique on the page.
        on_next: called when the person goes on.
        lecture: what can be done about a lecture: an id and the words of its button, each.
        on_lecture: called with the id, the names of the notes of the page's pictures, and a small
            picture of the page for a view that is added, as `small_picture` has it.
        outcome: what came of it, if that is not seen by itself: said where it was asked for.
    """
    ids = [name for name, _ in lecture]

    def wanted(sent: Any) -> None:
        what, pictures = one_of(entry(sent, "what"), ids), entry(sent, "pictures")
        if what is not None:
            on_lecture(what, names(pictures), small_picture(entry(sent, "thumbnail")))

    data = {"next": following, "knows": list(knows), "lecture": [list(each) for each in lecture]}
    events = {"next": lambda _: on_next(), "lecture": wanted}
    return Cell("foot", key, {**data, "outcome": outcome}, events=events)


def names(sent: object) -> list[str]:
    """Short texts that a browser sent, as many as a page can have pictures."""
    if not isinstance(sent, list):
        return []
    short = [name for name in sent if isinstance(name, str) and 0 < len(name) <= LONGEST_NAME]
    return short[:MOST_PICTURES]


def small_picture(sent: object) -> str:
    """A picture that a browser sent, as an address that holds it; empty if it is anything else."""
    fits = isinstance(sent, str) and len(sent) <= LONGEST_PICTURE and SMALL_PICTURE.fullmatch(sent)
    return str(sent) if fits else ""
