"""A class as a value: the lecturer's position, the answers, the sentences."""

import hashlib
import hmac
import json
import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ffnviz.state.state import tidied

MUST_FOLLOW = "You must follow the class before you can take part."
GONE = "The server cannot reach its store of classes. Try again in a moment."


class ClassStoreError(RuntimeError):
    """The store of classes cannot be used; the message says why."""


class NoSuchClassError(LookupError):
    """There is no class of that code, or it is over, or a student does not follow it."""

    def __init__(self, why: str = "There is no class with this code, or it is over.") -> None:
        super().__init__(why)


class NotTheLecturerError(PermissionError):
    """Somebody without the right secret asked for what only the lecturer may do."""


MOST_PEOPLE = 1_200
LONGEST_SENTENCE = 500
MOST_OPTIONS = 6
LIVES_S = 3 * 3_600.0  # after the last action
AWAY_AFTER_S = 60.0  # after their last sign of life, students count as gone


def sentence_text(typed: str) -> str:
    """What a student typed, as every sentence is read, of bounded length: ___ is a mask."""
    return tidied(typed)[:LONGEST_SENTENCE]


SIGNS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"  # none that looks like another
LENGTH = 6


@dataclass(frozen=True)
class Opened:
    """A class that has just been opened."""

    code: str  # what students type
    secret: str  # what the lecturer's browser keeps; stores keep only its hash

    @staticmethod
    def new() -> "Opened":
        """A new class's code, one of 31⁶, and its secret of 192 random bits."""
        code = "".join(secrets.choice(SIGNS) for _ in range(LENGTH))
        return Opened(code, secrets.token_urlsafe(24))


def check_lecturer(secret: str, secret_hash: str) -> None:
    """Raises NotTheLecturerError if the secret is not the one with that hash."""
    if not is_secret(secret, secret_hash):
        raise NotTheLecturerError("Only the lecturer may do this.")


def sum_of(secret: str) -> str:
    """The hash of a secret, which is all that a store keeps of it."""
    return hashlib.sha256(secret.encode()).hexdigest()


def is_secret(secret: str, secret_hash: str) -> bool:
    """Whether the secret has that hash, compared in constant time."""
    return hmac.compare_digest(sum_of(secret), secret_hash)


class FullClassError(RuntimeError):
    """The class is full."""

    def __init__(self) -> None:
        super().__init__(f"At most {MOST_PEOPLE} can follow a class.")


class ClosedClassError(PermissionError):
    """The lecturer has closed the door."""


class TicketError(PermissionError):
    """A student's ticket is not of this class, or from before everybody was removed."""

    def __init__(self) -> None:
        super().__init__("This page is not part of the class.")


def ticket_of(secret_hash: str, lists: int, student: str) -> str:
    """The ticket that lets a student into a class; only the store can compute it.

    `secret_hash` is that of the lecturer's secret, `lists` how often everybody was removed so far.
    """
    return hmac.new(secret_hash.encode(), f"{lists}:{student}".encode(), "sha256").hexdigest()


def pass_door(
    student: str,
    ticket: str,
    secret_hash: str,  # as for `ticket_of`
    door: tuple[bool, int],  # whether it is closed, and `lists`
    known: bool,  # whether the student was there before
    admit: Callable[[], None],  # called if not; may raise
) -> None:
    """Let a student in; raises TicketError, or ClosedClassError if nobody else is let in."""
    closed, lists = door
    if not hmac.compare_digest(ticket.encode(), ticket_of(secret_hash, lists, student).encode()):
        raise TicketError
    if not known:
        if closed:
            raise ClosedClassError("The lecturer has closed the door of this class.")
        admit()


@dataclass(frozen=True)
class ClassPosition:
    """Where the lecturer is."""

    page: str  # its id
    query: dict[str, str] = field(default_factory=dict)  # the parameters of its URL
    scene: int | None = None  # of the lecture, from 0; None outside of it
    short: bool = False  # whether on the shorter path

    def to_text(self) -> str:
        """The position as a store keeps it."""
        return json.dumps([self.page, self.query, self.scene, self.short])

    @staticmethod
    def from_text(text: str) -> "ClassPosition":
        """The position that `to_text` wrote."""
        page, query, scene, short = json.loads(text)
        return ClassPosition(page or "", query, scene, bool(short))


@dataclass(frozen=True)
class LiveClass:
    """A class as it is now."""

    code: str
    revision: int  # grows with every change of any kind
    moved: int  # grows when the lecturer goes elsewhere
    place: ClassPosition  # where the lecturer is
    revealed: frozenset[int]  # the scenes whose answers were shown
    counts: dict[int, list[int]]  # answers by scene and option
    people: int  # students who gave a sign of life lately
    sentences: int  # how many were sent in and let through
    closed: bool = False  # whether nobody else is let in
    waiting: int = 0  # how many sentences were sent in and are not on the wall
    lists: int = 0  # how often everybody was removed, which makes older tickets worthless

    def to_event(self, lecturer: bool) -> dict[str, Any]:
        """What a browser is sent, as JSON: students see answers once they are revealed."""
        shown = {
            scene: each for scene, each in self.counts.items() if lecturer or scene in self.revealed
        }
        return {
            "revision": self.revision if lecturer else None,
            "moved": self.moved,
            "scene": self.place.scene,
            "revealed": sorted(self.revealed),
            "counts": {str(scene): each for scene, each in shown.items()},
            "people": self.people,
            "sentences": self.sentences if lecturer else None,
            "waiting": self.waiting if lecturer else None,
            "closed": self.closed,
        }


@dataclass(frozen=True)
class Sentence:
    """What a student sent in."""

    number: int  # its own within the class
    text: str  # as typed
    hidden: bool  # whether it is not on the wall: the lecturer has not let it through, or hides it


NOWHERE = ClassPosition("").to_text()


def counted(votes: Iterable[Sequence[int]]) -> dict[int, list[int]]:
    """Answers by scene and option, from triples of scene, option and number of votes."""
    counts: dict[int, list[int]] = {}
    for scene, option, n in votes:
        counts.setdefault(scene, [0] * MOST_OPTIONS)[option] = n
    return {scene: each for scene, each in counts.items() if any(each)}
