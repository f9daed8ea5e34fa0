"""What is drawn of a lecture: a scene, one's own scenes and their words, the line of a class."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ffnviz.pictures.cell import Cell, entry, event, one_of, place
from ffnviz.pictures.wording import Sentence, to_spans

STORY_REQUESTS = ("present", "explore", "back", "leave")


@dataclass(frozen=True)
class Question:
    """A question."""

    ask: Sentence  # the question
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
    say: Sentence  # what is said; empty where the page shows something else
    look: str  # the picture that is lit, by the name of its note; all are, if empty
    question: Question | None  # to be answered before the words are shown
    notes: Sentence  # for the speaker
    coming: str  # the next scene's words, for the speaker
    minutes: int  # planned for the scenes on the way; 0 if none are
    presenting: bool  # whether the scene alone is on the screen
    exploring: bool  # whether a speaker has left it for a while
    strayed: bool  # whether the page shows something else than the scene
    accent: str  # which of the palette's colours numbers have


def story_cell(
    scene: StoryScene,  # the one that the page shows
    key: str,
    on_go: Callable[[int], Any],  # called with the place of the scene that is wanted
    # called with one of STORY_REQUESTS: to present or not, to explore, to come back, to leave
    on_ask: Callable[[str], Any],
) -> Cell:
    """A scene's words, its question, and the way on."""
    question = scene.question
    data = {
        **vars(scene),
        "say": to_spans(scene.say),
        "notes": to_spans(scene.notes),
        "question": question and {**vars(question), "ask": to_spans(question.ask)},
    }
    events = {
        "go": event(on_go, place, len(scene.titles)),
        "ask": event(on_ask, one_of, STORY_REQUESTS),
    }
    return Cell("story", key, data, events=events)


@dataclass(frozen=True)
class ListedScene:
    """One scene."""

    title: str  # in a few words
    where: str  # the page and part that it shows
    sentence: str  # that it shows
    # a small picture of it, an address that begins with data:; empty if there is none
    thumbnail: str


def scene_list_cell(
    scenes: Sequence[ListedScene],  # in their order
    chosen: int,  # the one that is worked on
    key: str,
    on_choose: Callable[[int], None],  # called with the place of another one
    # called with the place of the scene that moves, and the place that it gets
    on_move: Callable[[int, int], None],
) -> Cell:
    """Scenes, one below the other."""

    def moved(sent: Any) -> None:
        start, end = (place(entry(sent, name), len(scenes)) for name in ("from", "to"))
        if start is not None and end is not None:
            on_move(start, end)

    data = {"scenes": [vars(scene) for scene in scenes], "chosen": chosen}
    events = {"choose": event(on_choose, place, len(scenes)), "move": moved}
    return Cell("scene_list", key, data, events=events)


@dataclass(frozen=True)
class Choice:
    """A number that can be inserted."""

    name: str  # stands for it in the text, in braces
    meaning: str  # what it is
    now: str  # its value for what the scene shows


def words_cell(
    label: str,  # of the box
    text: str,  # its content
    longest: int,  # characters that the text may have
    reads: Sentence,  # the text with its numbers; empty if there are none, or if it cannot be read
    # the numbers; None until they are asked for, as they take a while
    choices: Sequence[Choice] | None,
    key: str,
    on_text: Callable[[str], None],  # called with the text when it has changed
    on_ask: Callable[[], None],  # called when the choices are asked for
) -> Cell:
    """The box."""

    def wrote(sent: Any) -> None:
        if isinstance(sent, str):
            on_text(sent[:longest])

    data: dict[str, Any] = {
        "label": label,
        "text": text,
        "longest": longest,
        "reads": to_spans(reads),
        "choices": choices and [[each.name, each.meaning, each.now] for each in choices],
    }
    return Cell("words_box", key, data, events={"text": wrote, "ask": lambda _: on_ask()})


_OF_STUDENTS, _OF_LECTURERS = ("left", "alone", "back", "ticket"), ("close", "open", "remove")
CLASS_REQUESTS = ("brain", "look", "end", *_OF_STUDENTS, *_OF_LECTURERS)


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
    attendance: Attendance,  # how this page takes part
    key: str,
    # called with code, secret and the page's own address, when the browser still has the secret of
    # a class that it opened, or has just been given one
    on_resume: Callable[[str, str, str], Any],
    on_moved: Callable[[], Any],  # called when the lecturer has gone elsewhere
    on_ask: Callable[[str], Any],  # called with one of CLASS_REQUESTS
) -> Cell:
    """The line of a class."""

    def resumed(sent: Any) -> None:
        code, secret, base = (entry(sent, name) for name in ("code", "secret", "base"))
        if all(isinstance(each, str) and len(each) <= 300 for each in (code, secret, base)):
            on_resume(str(code), str(secret), str(base))

    events = {
        "resume": resumed,
        "moved": lambda _: on_moved(),
        "ask": event(on_ask, one_of, CLASS_REQUESTS),
    }
    return Cell("classroom", key, vars(attendance), events=events)
