"""The lecture's menu, which stands on every page."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from ffnviz.pictures.sent import entry, one_of

MOST_PICTURES, LONGEST_NAME, LONGEST_PICTURE = 20, 40, 12_000
SMALL_PICTURE = re.compile(r"data:image/jpeg;base64,[A-Za-z0-9+/]+=*")

Entries = Sequence[tuple[str, str]]  # an id and the words of its button, each
OnLecture = Callable[[str, list[str], str], None]


def menu_event(entries: Entries, on_lecture: OnLecture) -> Callable[[Any], None]:
    """The event of the menu.

    Args:
        entries: what can be done.
        on_lecture: called with the id, the names of the notes of the page's pictures, and a small
            picture of the page for a view that is added, as `small_picture` has it.
    """
    ids = [name for name, _ in entries]

    def choose(sent: Any) -> None:
        what = one_of(entry(sent, "what"), ids)
        if what is not None:
            pictures, thumbnail = entry(sent, "pictures"), entry(sent, "thumbnail")
            on_lecture(what, names(pictures), small_picture(thumbnail))

    return choose


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
