"""The name of the page, the lecture, and the link to what the page shows."""

from collections.abc import Callable, Sequence
from typing import Any

from ffnviz.pictures.cell import Cell
from ffnviz.pictures.lecture_menu import Entries, OnLecture, menu_event


def bar_cell(
    title: str,
    part: str,
    sentence: str,
    network: Sequence[str],
    key: str,
    on_take: Callable[[], Any] | None = None,
    lecture: Entries = (),
    on_lecture: OnLecture = lambda *_: None,
    outcome: str = "",
) -> Cell:
    """The page's heading, and a button that copies the page's address.

    Another page is also announced to screen readers.

    Args:
        title: of the page.
        part: the title of the part that is shown; empty where a page has one only.
        sentence: as typed; it stands on paper and in saved pictures only.
        network: which one is looked at, and which block; saved pictures have it too.
        key: unique on the page.
        on_take: called when the person wants the page as a file; None where there is no such file.
        lecture: what can be done about a lecture.
        on_lecture: called with what is to be done; see `menu_event`.
        outcome: what came of it, if that is not seen by itself.
    """
    data = {
        "title": title,
        "part": part,
        "sentence": sentence,
        "network": list(network),
        "takes": on_take is not None,
        "lecture": [list(each) for each in lecture],
        "outcome": outcome,
    }
    events = {"take": lambda _: on_take and on_take(), "lecture": menu_event(lecture, on_lecture)}
    return Cell("page_bar", key, data, events=events)
