"""The scene that the page shows: its words, its question, the way on; also as a talk."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ffnviz.pictures.cell import Cell
from ffnviz.pictures.head import Part, to_spans
from ffnviz.pictures.sent import event, one_of, place

REQUESTS = ("present", "explore", "back", "leave")

Words = Sequence[Part]


@dataclass(frozen=True)
class Question:
    """A question."""

    ask: Words  # the question
    options: Sequence[str]  # to choose from
    answer: int | None  # the right one, from 0; None if it is not certain for what is shown


@dataclass(frozen=True)
class StoryScene:
    """A scene with its numbers, and how it is presented."""

    lecture: str  # the title of all
    at: int  # the scene's place, from 0
    titles: Sequence[str]  # of all scenes
    path: Sequence[int]  # the places of the scenes that are on the way
    # the typed sentence, as a talk shows no box for it; empty if the words quote it
    sentence: str
    say: Words  # what is said; empty where the page shows something else
    look: str  # the picture that is lit, by the name of its note; all are, if empty
    question: Question | None  # to be answered before the words are shown
    notes: Words  # for the speaker
    coming: str  # the next scene's words, for the speaker
    minutes: int  # planned for the scenes on the way; 0 if none are
    presenting: bool  # whether the scene alone is on the screen
    exploring: bool  # whether a speaker has left it for a while
    strayed: bool  # whether the page shows something else than the scene
    accent: str  # which of the palette's colours numbers have


def story_cell(
    scene: StoryScene, key: str, on_go: Callable[[int], Any], on_ask: Callable[[str], Any]
) -> Cell:
    """A scene's words, its question, and the way on.

    Args:
        scene: the one that the page shows.
        key: unique on the page.
        on_go: called with the place of the scene that is wanted.
        on_ask: called with one of REQUESTS: to present or not, to explore, to come back, to leave.
    """
    question = scene.question
    data = {
        **vars(scene),
        "say": to_spans(scene.say),
        "notes": to_spans(scene.notes),
        "question": question and {**vars(question), "ask": to_spans(question.ask)},
    }
    events = {"go": event(on_go, place, len(scene.titles)), "ask": event(on_ask, one_of, REQUESTS)}
    return Cell("story", key, data, events=events)
