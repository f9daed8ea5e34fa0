"""The scene that the page shows: its words, its question, the way on; also as a talk."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ffnviz.pictures.cell import Cell
from ffnviz.pictures.head import Part
from ffnviz.pictures.sent import one_of, place

ASKS = ("present", "explore", "back", "leave")

Words = Sequence[Part]


def spans(words: Words) -> list[list[str]]:
    """As JSON values."""
    return [[part, "plain"] if isinstance(part, str) else list(part) for part in words]


@dataclass(frozen=True)
class Question:
    """A question."""

    ask: Words  # the question
    options: Sequence[str]  # to choose from
    answer: int | None  # which is right, from 0; None if that is not sure for what is shown now


@dataclass(frozen=True)
class Told:
    """A scene as it is told."""

    lecture: str  # the title of all
    at: int  # the scene's place, from 0
    titles: Sequence[str]  # of all scenes
    path: Sequence[int]  # the places of the scenes that are on the way
    # what stands in the box, for a talk, which shows no box; empty if the words say it
    sentence: str
    say: Words  # what is said; empty where the page shows something else
    look: str  # the picture that is lit, by the name of its note; all are, if empty
    question: Question | None  # asked before
    notes: Words  # for the speaker
    coming: str  # the next scene's words, for the speaker
    minutes: int  # planned for the scenes on the way; 0 if none are
    presenting: bool  # whether the scene alone is on the screen
    exploring: bool  # whether a speaker has left it for a while
    strayed: bool  # whether the page shows something else than the scene
    accent: str  # which of the palette's colours numbers have


def story_cell(
    told: Told, key: str, on_go: Callable[[int], Any], on_ask: Callable[[str], Any]
) -> Cell:
    """A scene's words, its question, and the way on.

    Args:
        told: the scene.
        key: unique on the page.
        on_go: called with the place of the scene that is wanted.
        on_ask: called with one of ASKS: to present or not, to explore, to come back, to leave.
    """

    def went(sent: Any) -> None:
        at = place(sent, len(told.titles))
        if at is not None:
            on_go(at)

    def asked(sent: Any) -> None:
        what = one_of(sent, ASKS)
        if what is not None:
            on_ask(what)

    question = told.question
    data: dict[str, Any] = {
        "lecture": told.lecture,
        "at": told.at,
        "titles": list(told.titles),
        "path": list(told.path),
        "sentence": told.sentence,
        "say": spans(told.say),
        "look": told.look,
        "question": question
        and {"ask": spans(question.ask), "options": list(question.options),
             "answer": question.answer},
        "notes": spans(told.notes),
        "coming": told.coming,
        "minutes": told.minutes,
        "presenting": told.presenting,
        "exploring": told.exploring,
        "strayed": told.strayed,
        "accent": told.accent,
    }  # fmt: skip
    return Cell("story", key, data, events={"go": went, "ask": asked})
