"""The line of a class: its code and members, and what a student can send."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ffnviz.pictures.cell import Cell
from ffnviz.pictures.sent import entry, event, one_of

REQUESTS = (
    "brain", "look", "end", "left", "alone", "back", "ticket", "close", "open", "remove",
)  # fmt: skip


@dataclass(frozen=True)
class Attendance:
    """How this page takes part in a class."""

    role: str  # "lecturer", "student", "joining" who is about to type a code, or empty
    code: str = ""  # of the class; empty if none is attended
    secret: str = ""  # the lecturer's, for the lecturer's own browser
    link: str = ""  # that leads students to the class
    qr: str = ""  # the link as a picture, an address that begins with data:
    who: str = ""  # a student's own random text
    ticket: str = ""  # what lets that student in
    alone: bool = False  # whether a student explores alone
    followed: int = 0  # the last of the lecturer's moves that a student's page has followed
    longest: int = 500  # characters of a student's sentence
    # whether this page has opened the class, so that its code is shown at once
    just_opened: bool = False
    brain: bool = False  # whether the lecturer looks at the class brain


def classroom_cell(
    attendance: Attendance,
    key: str,
    on_resume: Callable[[str, str, str], Any],
    on_moved: Callable[[], Any],
    on_ask: Callable[[str], Any],
) -> Cell:
    """The line of a class.

    Args:
        attendance: how this page takes part.
        key: unique on the page.
        on_resume: called with code, secret and the page's own address, when the browser still has
            the secret of a class that it opened, or has just been given one.
        on_moved: called when the lecturer has gone elsewhere.
        on_ask: called with one of REQUESTS.
    """

    def resumed(sent: Any) -> None:
        code, secret, base = (entry(sent, name) for name in ("code", "secret", "base"))
        if all(isinstance(each, str) and len(each) <= 300 for each in (code, secret, base)):
            on_resume(str(code), str(secret), str(base))

    events = {
        "resume": resumed,
        "moved": lambda _: on_moved(),
        "ask": event(on_ask, one_of, REQUESTS),
    }
    return Cell("classroom", key, vars(attendance), events=events)
