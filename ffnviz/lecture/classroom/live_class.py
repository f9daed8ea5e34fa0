"""What is known of a class: where its lecturer is, what was answered, what was sent in."""

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field
from typing import Any

SIGNS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"  # none that is mistaken for another
LENGTH = 6
MOST_PEOPLE = 300
LONGEST_SENTENCE = 500
MOST_OPTIONS = 6
LIVES_S = 3 * 3_600.0  # after the last action
AWAY_AFTER_S = 60.0  # of whom nothing was heard for so long counts as gone
GONE = "The server cannot reach what keeps its classes. Try again in a moment."


class ClassStoreError(RuntimeError):
    """What keeps the classes cannot be used; the message says why."""


class NoSuchClassError(LookupError):
    """There is no class of that code, or it is over."""


class NotTheLecturerError(PermissionError):
    """What only the lecturer may do was asked for without the right secret."""


@dataclass(frozen=True)
class Opened:
    """A class that has just been opened.

    Attributes:
        code: what students type.
        secret: what the lecturer's browser keeps; known to nobody else, and not written down.
    """

    code: str
    secret: str


@dataclass(frozen=True)
class ClassPosition:
    """Where the lecturer is.

    Attributes:
        page: its id.
        query: the parameters of its URL.
        scene: of the lecture, from 0; None outside of it.
        short: whether on the shorter path.
    """

    page: str
    query: dict[str, str] = field(default_factory=dict)
    scene: int | None = None
    short: bool = False


@dataclass(frozen=True)
class LiveClass:
    """A class as it is now.

    Attributes:
        code: its code.
        revision: grows with every change of any kind.
        moved: grows when the lecturer goes elsewhere.
        place: where the lecturer is.
        revealed: the scenes whose answers were shown.
        counts: answers by scene and option.
        people: students of whom something was heard lately.
        sentences: how many were sent in, less those that are hidden.
        closed: whether nobody else is let in.
        lists: how often everybody was removed; tickets are of one list.
    """

    code: str
    revision: int
    moved: int
    place: ClassPosition
    revealed: frozenset[int]
    counts: dict[int, list[int]]
    people: int
    sentences: int
    closed: bool = False
    lists: int = 0

    def to_event(self, lecturer: bool) -> dict[str, Any]:
        """What a browser is told, as JSON: students see answers once they are revealed."""
        shown = self.counts if lecturer else {
            scene: each for scene, each in self.counts.items() if scene in self.revealed
        }  # fmt: skip
        return {
            "moved": self.moved,
            "scene": self.place.scene,
            "revealed": sorted(self.revealed),
            "counts": {str(scene): each for scene, each in shown.items()},
            "people": self.people,
            "sentences": self.sentences if lecturer else None,
            "closed": self.closed,
        }


@dataclass(frozen=True)
class Sentence:
    """What a student sent in.

    Attributes:
        number: its own within the class.
        text: as typed.
        hidden: whether the lecturer has hidden it.
    """

    number: int
    text: str
    hidden: bool


def new_code() -> str:
    """A code that nobody has guessed: one of 31⁶, nearly a billion."""
    return "".join(secrets.choice(SIGNS) for _ in range(LENGTH))


def new_secret() -> str:
    """What the lecturer's browser keeps: 192 random bits."""
    return secrets.token_urlsafe(24)


def sum_of(secret: str) -> str:
    """What is written down of a secret."""
    return hashlib.sha256(secret.encode()).hexdigest()


def is_secret(secret: str, written: str) -> bool:
    """Whether it is the one that was written down, in the same time whatever it is."""
    return hmac.compare_digest(sum_of(secret), written)
