"""The tables of lecture files and drafts as types, with their errors in words."""

import re
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, Struct

LONGEST_FILE = 300_000  # characters
MOST_SCENES = 200
MOST_OPTIONS = 6
MOST_MINUTES = 600
LENGTHS = {"title": 120, "say": 1_000, "look": 60, "notes": 5_000, "ask": 400, "option": 160}

Title = Annotated[str, Meta(max_length=LENGTHS["title"])]
Say = Annotated[str, Meta(max_length=LENGTHS["say"])]
Look = Annotated[str, Meta(max_length=LENGTHS["look"])]
Notes = Annotated[str, Meta(max_length=LENGTHS["notes"])]
Ask = Annotated[str, Meta(max_length=LENGTHS["ask"])]
Minutes = Annotated[int, Meta(ge=0, le=MOST_MINUTES)]
FILLED = Meta(pattern=r"\S")
Option = Annotated[str, Meta(max_length=LENGTHS["option"]), FILLED]

T = TypeVar("T", bound=Struct)


class QuestionTable(Struct, forbid_unknown_fields=True):
    """The table [scene.question]; its answer counts from 1."""

    ask: Annotated[Ask, FILLED]
    options: Annotated[tuple[Option, ...], Meta(min_length=2, max_length=MOST_OPTIONS)]
    answer: Annotated[int, Meta(ge=1, le=MOST_OPTIONS)]


class SceneTable(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """The table [[scene]], with either a view or a link."""

    title: Annotated[Title, FILLED]
    say: Annotated[Say, FILLED]
    look: Look = ""
    short: bool = False
    notes: Notes = ""
    view: dict[str, str | int | float] | None = None
    link: str | None = None
    question: QuestionTable | None = None


class LectureTable(Struct, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """A whole lecture file."""

    title: Annotated[Title, FILLED]
    minutes: Minutes = 0
    short_minutes: Minutes = 0
    scene: Annotated[tuple[SceneTable, ...], Meta(min_length=1, max_length=MOST_SCENES)]


class DraftScene(Struct):
    """A scene in a visitor's browser, perhaps half done; its answer counts from 0."""

    title: Title
    say: Say
    page: str
    view: dict[str, str]
    look: Look = ""
    notes: Notes = ""
    short: bool = False
    pictures: object = ()
    thumbnail: object = ""
    ask: Ask = ""
    options: tuple[str, ...] | None = None
    answer: Annotated[int, Meta(ge=-1)] = 0


class DraftTable(Struct):
    """A lecture in a visitor's browser, and whether it was shown."""

    title: Title = ""
    scenes: Annotated[tuple[DraftScene, ...], Meta(max_length=MOST_SCENES)] = ()
    minutes: Minutes = 0
    short_minutes: Minutes = 0
    shown: bool = False


class LectureError(ValueError):
    """A file is no lecture; the message says why, with the scene and the field that is wrong."""


FEW = 12  # names that a message has room for


def one_of(known: Collection[str], wrong: str) -> str:
    """The names that something can have, those most like a wrong one first; of many, those only."""
    alike = get_close_matches(wrong, known, n=4 if len(known) > FEW else len(known), cutoff=0.45)
    if len(known) > FEW:
        return f"one of {', '.join(alike or sorted(known)[:4])}, … ({len(known)} in all)"
    return f"one of {', '.join(dict.fromkeys([*alike, *known]))}"


TABLES = {"scene": SceneTable, "question": QuestionTable}
A_NUMBER = f"a whole number from 0 to {MOST_MINUTES}"
MUST_BE = {name: f"a text of 1 to {most:,} characters" for name, most in LENGTHS.items()} | {
    "minutes": A_NUMBER,
    "short_minutes": A_NUMBER,
    "scene": f"a list of 1 to {MOST_SCENES} scenes: each begins with a line [[scene]]",
    "short": "true or false",
    "view": "a table of texts and numbers: [scene.view]",
    "link": "a text, as “Copy link” gives it",
    "question": "a table: [scene.question]",
    "options": f"a list of 2 to {MOST_OPTIONS} texts of at most {LENGTHS['option']} characters",
    "answer": "the number of the right option, counted from 1",
}


def converted(table: Mapping[str, Any], kind: type[T]) -> T:
    """A table as a struct of its kind.

    Raises:
        LectureError: if a field is unknown, missing, or has a value that it cannot have.
    """
    try:
        return msgspec.convert(table, kind)
    except msgspec.ValidationError as error:
        raise LectureError(_in_words(str(error), table)) from error


def in_scene(number: int, title: str) -> str:
    """How the message of an error in a scene begins."""
    return f"Scene {number} (“{title}”): " if title.strip() else f"Scene {number}: "


def _in_words(error: str, table: Mapping[str, Any]) -> str:
    """The sense of msgspec's “Expected `str`, got `int` - at `$.scene[0].title`”."""
    what, _, path = error.partition(" - at `$")
    scene, names = re.match(r"\.scene\[(\d+)\]", path), re.findall(r"\.(\w+)", path)
    where = in_scene(int(scene[1]) + 1, _title(table, int(scene[1]))) if scene else ""
    if field := re.match("Object missing required field `(.*)`", what):
        return f"{where}{field[1]} is missing; it must be {MUST_BE[field[1]]}."
    if field := re.match("Object contains unknown field `(.*)`", what, re.DOTALL):
        kind = names[-1] if names else "lecture"
        known = one_of(TABLES.get(kind, LectureTable).__struct_fields__, field[1])
        return f"{where}a {kind} has no “{field[1]}”. It must be {known}."
    return f"{where}{names[-1]} must be {MUST_BE[names[-1]]}."


def _title(table: Mapping[str, Any], scene: int) -> str:
    """The scene's title if it has one; a field's name may imitate a path that leads nowhere."""
    try:
        return str(table["scene"][scene]["title"])
    except (LookupError, TypeError):
        return ""
