"""A lecture: scenes, each a State with words and perhaps a question; and its TOML file."""

import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from string import Formatter
from typing import Annotated, Any, TypeVar
from urllib.parse import parse_qsl, urlsplit

import msgspec
import tomli_w
from msgspec import Meta, Struct

from ffnviz.state.settings import Setting
from ffnviz.state.state import LONGEST_SENTENCE, Catalog, State, from_url, tidied, to_url

NO_ANSWER = -1


@dataclass(frozen=True)
class Question:
    """What is asked before a scene is shown."""

    ask: str  # the question, with {names} as in Scene.say
    options: tuple[str, ...]  # to choose from
    answer: int  # the right option, from 0; NO_ANSWER in a draft that marks none, or several


@dataclass(frozen=True)
class Scene:
    """One step of a lecture."""

    title: str  # in a few words
    state: State  # what is shown
    say: str  # what to say of it; {names} stand for numbers that are computed from what is shown
    look: str = ""  # the picture that is lit, by the name of its note; if empty, all are
    question: Question | None = None  # asked before
    notes: str = ""  # for the speaker, with {names} likewise
    short: bool = False  # whether the scene belongs to the shorter path


@dataclass(frozen=True)
class Lecture:
    """Scenes in their order."""

    title: str
    scenes: tuple[Scene, ...]  # at least one
    minutes: int = 0  # how long it takes
    short_minutes: int = 0  # how long the shorter path takes; 0 if there is none

    def path(self, short: bool) -> list[int]:
        """The places of the scenes on a path; of all scenes where there is no shorter path."""
        places = [place for place, scene in enumerate(self.scenes) if scene.short or not short]
        return places or list(range(len(self.scenes)))

    def planned(self, short: bool) -> int:
        """The minutes that a path takes; 0 if the lecture does not say."""
        has_short = any(scene.short for scene in self.scenes)
        return self.short_minutes if short and has_short else self.minutes


@dataclass(frozen=True)
class DraftView:
    """A scene of a draft, and what the page looked like when it was added."""

    number: int  # its own, whatever is moved
    scene: Scene
    pictures: tuple[str, ...] = ()  # of its page, by the names of their notes
    thumbnail: str = ""  # a data URL


@dataclass(frozen=True)
class Draft:
    """The views added so far."""

    title: str = "My lecture"
    views: tuple[DraftView, ...] = ()
    n_added: int = 0  # views, with those that were removed
    minutes: int = 0  # of the file that it was opened from
    short_minutes: int = 0

    def added(self, scene: Scene, pictures: Sequence[str] = (), thumbnail: str = "") -> "Draft":
        """With one more scene at the end; a full lecture stays as it is."""
        if len(self.views) >= MOST_SCENES:
            return self
        view = DraftView(self.n_added + 1, scene, tuple(pictures), thumbnail)
        return replace(self, views=(*self.views, view), n_added=view.number)

    def changed(self, number: int, **parts: Any) -> "Draft":
        """With other parts of the scene of that number."""
        views = (
            replace(view, scene=replace(view.scene, **parts)) if view.number == number else view
            for view in self.views
        )
        return replace(self, views=tuple(views))

    def moved(self, number: int, by: int) -> "Draft":
        """With the scene of that number so many places later, if there is such a place."""
        views = list(self.views)
        at = next((place for place, view in enumerate(views) if view.number == number), None)
        if at is None or not 0 <= at + by < len(views):
            return self
        views.insert(at + by, views.pop(at))
        return replace(self, views=tuple(views))

    def without(self, number: int) -> "Draft":
        """Without the scene of that number."""
        return replace(self, views=tuple(view for view in self.views if view.number != number))

    @property
    def lecture(self) -> Lecture:
        """The draft as a lecture, which may have no scenes yet."""
        scenes = tuple(view.scene for view in self.views)
        return Lecture(self.title, scenes, self.minutes, self.short_minutes)


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
    """A file is not a lecture; the message says why, with the scene and the field that is wrong."""


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
    """A table as a struct of its kind; raises LectureError for what it cannot have."""
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


NOTES = Path(__file__).parents[1] / "pictures" / "static" / "notes"
PICTURES = tuple(sorted(note.stem for note in NOTES.glob("*.html")))  # each is called by its note
OF_STATE = ("page", "part", "text", "twin", "block", "token", "neuron", "order", "partner")


def read_lecture(text: str, catalog: Catalog, facts: Collection[str]) -> Lecture:
    """The lecture that a file's text holds; `facts` may stand in braces in its words.

    Raises LectureError if anything in it is wrong.
    """
    if len(text) > LONGEST_FILE:
        raise LectureError(f"It is longer than {LONGEST_FILE:,} characters.")
    try:
        table = tomllib.loads(text.removeprefix("\ufeff"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise LectureError(f"It is not TOML: {error}.") from error
    lecture = converted(table, LectureTable)
    reader, scenes = _Reader(catalog, frozenset(facts)), []
    for number, scene in enumerate(lecture.scene, 1):
        try:
            scenes.append(reader.scene(scene))
        except LectureError as error:
            raise LectureError(f"{in_scene(number, scene.title)}{error}") from error
    return Lecture(lecture.title.strip(), tuple(scenes), lecture.minutes, lecture.short_minutes)


def written_lecture(lecture: Lecture, catalog: Catalog) -> str:
    """The text of a file from which `read_lecture` reads the same lecture."""
    table = LectureTable(
        title=lecture.title,
        minutes=lecture.minutes,
        short_minutes=lecture.short_minutes,
        scene=tuple(_written(scene, catalog) for scene in lecture.scenes),
    )
    return tomli_w.dumps(msgspec.to_builtins(table), multiline_strings=False)


def _written(scene: Scene, catalog: Catalog) -> SceneTable:
    asked = scene.question
    return SceneTable(
        scene.title,
        scene.say,
        scene.look,
        scene.short,
        scene.notes,
        view={"page": scene.state.page, **to_url(scene.state, catalog)},
        question=QuestionTable(asked.ask, asked.options, asked.answer + 1) if asked else None,
    )


@dataclass(frozen=True)
class _Reader:
    catalog: Catalog
    facts: frozenset[str]

    def scene(self, table: SceneTable) -> Scene:
        if (table.view is None) == (table.link is None):
            raise LectureError("it must have either a view or a link.")
        state = self.view(_of_link(table.link) if table.view is None else table.view)
        say, notes = self.words("say", table.say), self.words("notes", table.notes)
        question = None if table.question is None else self.question(table.question)
        look = self.look(table.look.strip(), state)
        return Scene(table.title.strip(), state, say, look, question, notes, table.short)

    def look(self, name: str, state: State) -> str:
        """The name of a picture, which the scene's view can show."""
        there = PICTURES if self.catalog.pictures_of is None else self.catalog.pictures_of(state)
        if name and name not in there:
            why = "the scene's view has no picture" if name in PICTURES else "no picture is called"
            raise LectureError(f"look: {why} “{name}”. It must be {one_of(there, name)}.")
        return name

    def question(self, table: QuestionTable) -> Question:
        if table.answer > len(table.options):
            raise LectureError(f"answer must be a whole number from 1 to {len(table.options)}.")
        return Question(self.words("ask", table.ask), table.options, table.answer - 1)

    def view(self, given: Mapping[str, Any]) -> State:
        """The state that parameters stand for, if every one of them is understood."""
        params = {name: str(value) for name, value in given.items()}
        page, pages = params.pop("page", ""), self.catalog.parts
        if (page, params.get("part", "")) in self.catalog.moved:
            page, part, shown = self.catalog.place(page, params["part"], params)
            params = {**shown, "part": part}
        if page not in pages:
            raise LectureError(f"page must be {one_of(pages, page)}; it is “{page}”.")
        part = params.get("part", next(iter(pages[page])))
        if part not in pages[page]:
            raise LectureError(f"part must be {one_of(pages[page], part)}; it is “{part}”.")
        settings = {name: s for s in pages[page][part] for name in s.names}
        state = from_url(page, params, self.catalog)
        url, usual_order = to_url(state, self.catalog) | {"part": part}, self.catalog.orders[0]
        for name, text in params.items():
            if name in settings:
                if _means(settings[name], text):
                    continue
                can_be = _values(settings[name], text)
            elif name in OF_STATE:
                if tidied(text) == url.get(name) or (name, text) == ("order", usual_order):
                    continue
                can_be = self.can_be(name, state, text)
            else:
                known = one_of((*OF_STATE, *settings), name)
                raise LectureError(f"“{name}” cannot be set on this part. It must be {known}.")
            raise LectureError(f"{name} cannot be “{text[:60]}” here. It must be {can_be}.")
        return state

    def can_be(self, name: str, state: State, wrong: str) -> str:
        """What a field of the state can be on the page and for the network that were understood."""
        networks, size = self.catalog.networks, self.catalog.networks[state.network]
        return {
            "twin": one_of(networks, wrong),
            "partner": one_of([each for each in networks if each != state.network], wrong),
            "order": one_of(self.catalog.orders, wrong),
            "block": f"a whole number from 1 to {size.n_blocks}",
            "token": "a whole number from 1",
            "neuron": f"a network and a number from 0 to {size.d_ff - 1:,}: {state.network}-0",
            "text": f"a sentence of at most {LONGEST_SENTENCE:,} characters",
        }.get(name, "as “Copy link” gives it")

    def words(self, field: str, text: str) -> str:
        """Words of a scene, whose {names} are all known."""
        try:
            fields = list(Formatter().parse(text))
        except ValueError as error:
            why = f"{field}: a brace stands alone: {error}. To get one, write {{{{."
            raise LectureError(why) from error
        for _, name, format_spec, conversion in fields:
            if name is not None and (name not in self.facts or format_spec or conversion):
                why = f"{field}: there is no computed number called “{{{name}}}”."
                raise LectureError(f"{why} It must be {one_of(sorted(self.facts), name)}.")
        return text.strip()


def _of_link(link: str | None) -> dict[str, str]:
    """The page and the parameters of a link, without its view options."""
    parts = urlsplit(link or "")
    page = parts.path.strip("/").rpartition("/")[2] or "journey"
    params = dict(parse_qsl(parts.query, keep_blank_values=True, max_num_fields=100))
    view_options = ("scene", "path", "present", "hide", "class", "embed")
    return {n: text for n, text in ({"page": page} | params).items() if n not in view_options}


def _values(setting: Setting[Any], wrong: str) -> str:
    """What a setting can be."""
    if setting.options:
        return one_of([str(option) for option in setting.options], wrong)
    if setting.longest is not None:
        return f"a text of at most {setting.longest} characters"
    least, most = (setting.text(setting.parse(text)) for text in ("-1e12", "1e12"))
    return f"a number from {least} to {most}" if least != most else "as “Copy link” gives it"


def _means(setting: Setting[Any], text: str) -> bool:
    """Whether a text is what the setting would write, or the same number."""
    own = setting.text(setting.parse(text))
    try:
        return own == text or float(own) == float(text)
    except ValueError:
        return False
