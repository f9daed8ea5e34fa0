"""The door of a class: it lets in who has a ticket, unless the lecturer has closed it."""

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


def ticket_of(secret_hash: str, lists: int, student: str) -> str:
    """The ticket that lets a student into a class; only the store can compute it.

    `secret_hash` is that of the lecturer's secret, `lists` how often everybody was removed so far.
    """
    return hmac.new(secret_hash.encode(), f"{lists}:{student}".encode(), "sha256").hexdigest()


def pass_door(
    student: str,
    ticket: str,
    secret_hash: str,
    door: tuple[bool, int],
    known: bool,
    admit: Callable[[], None],
) -> None:
    """Let a student in, or say why not.

    Args:
        student: an id.
        ticket: the student's.
        secret_hash: as for `ticket_of`.
        door: whether it is closed, and `lists`.
        known: whether the student was there before.
        admit: called if not; may raise.

    Raises:
        TicketError: if the ticket is not this student's.
        ClosedClassError: if nobody else is let in.
    """
    closed, lists = door
    if not hmac.compare_digest(ticket.encode(), ticket_of(secret_hash, lists, student).encode()):
        raise TicketError
    if not known:
        if closed:
            raise ClosedClassError("The lecturer has closed the door of this class.")
        admit()
