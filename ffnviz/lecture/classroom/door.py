"""Who is let into a class: whoever has a ticket, as long as the lecturer lets others in."""

import hmac
from collections.abc import Callable

from ffnviz.lecture.classroom.limits import MOST_PEOPLE


class FullClassError(RuntimeError):
    """The class is full."""

    def __init__(self) -> None:
        super().__init__(f"At most {MOST_PEOPLE} can follow a class.")


class ClosedClassError(PermissionError):
    """The lecturer has closed the door."""


class TicketError(PermissionError):
    """A student's ticket is not of this class, or from before everybody was removed."""

    def __init__(self) -> None:
        super().__init__("This page has no ticket for the class.")


def ticket_of(written: str, lists: int, who: str) -> str:
    """The ticket that lets a student into a class; only what the store keeps can make it.

    Args:
        written: what the store has of the lecturer's secret.
        lists: how often everybody was removed so far.
        who: the student.
    """
    return hmac.new(written.encode(), f"{lists}:{who}".encode(), "sha256").hexdigest()


def pass_door(
    who: str,
    ticket: str,
    written: str,
    door: tuple[bool, int],
    known: bool,
    admit: Callable[[], None],
) -> None:
    """Let somebody in, or say why not.

    Args:
        who: the student.
        ticket: theirs.
        written: what the store has of the lecturer's secret.
        door: whether nobody else is let in, and how often everybody was removed.
        known: whether they were there before.
        admit: called for whoever was not; may raise.

    Raises:
        TicketError: if the ticket is not this student's.
        ClosedClassError: if nobody else is let in.
    """
    closed, lists = door
    if not hmac.compare_digest(ticket.encode(), ticket_of(written, lists, who).encode()):
        raise TicketError
    if known:
        return
    if closed:
        raise ClosedClassError("The lecturer has closed the door of this class.")
    admit()
