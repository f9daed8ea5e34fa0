"""A class as a value: the lecturer's position, the answers, the sentences."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ffnviz.lecture.classroom.limits import MOST_OPTIONS


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
        shown = self.counts if lecturer else {
            scene: each for scene, each in self.counts.items() if scene in self.revealed
        }  # fmt: skip
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
