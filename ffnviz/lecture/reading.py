"""Reading a lecture from a TOML file, with every error in words, and writing it back."""

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Formatter
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import msgspec
import tomli_w

from ffnviz.lecture.scene import Lecture, Question, Scene
from ffnviz.lecture.tables import (
    LONGEST_FILE,
    LectureError,
    LectureTable,
    QuestionTable,
    SceneTable,
    converted,
    in_scene,
    one_of,
)
from ffnviz.state.settings import Setting
from ffnviz.state.state import LONGEST_SENTENCE, Catalog, State, from_url, tidied, to_url

NOTES = Path(__file__).parents[1] / "pictures" / "static" / "notes"
PICTURES = tuple(sorted(note.stem for note in NOTES.glob("*.html")))  # each is called by its note
OF_STATE = ("page", "part", "text", "twin", "block", "token", "neuron", "order", "partner")


def read_lecture(text: str, catalog: Catalog, facts: Collection[str]) -> Lecture:
    """The lecture that a file's text holds; `facts` may stand in braces in its words.

    Raises:
        LectureError: if anything in it is wrong.
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
    question = scene.question
    return SceneTable(
        scene.title, scene.say, scene.look, scene.short, scene.notes,
        view={"page": scene.state.page, **to_url(scene.state, catalog)},
        question=None if question is None else QuestionTable(
            question.ask, question.options, question.answer + 1
        ),
    )  # fmt: skip


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
        look = table.look.strip()
        if look and look not in PICTURES:
            can_be = one_of(PICTURES, look)
            raise LectureError(f"look: no picture is called “{look}”. It must be {can_be}.")
        return Scene(table.title.strip(), state, say, look, question, notes, table.short)

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
        settings = {name: s for s in self.catalog.parts[page][part] for name in s.names}
        state = from_url(page, params, self.catalog)
        url = to_url(state, self.catalog) | {"part": part}
        for name, text in params.items():
            if name in settings:
                understood = _means(settings[name], text)
            elif name in OF_STATE:
                usual_order = (name, text) == ("order", self.catalog.orders[0])
                understood = tidied(text) == url.get(name) or usual_order
            else:
                known = one_of((*OF_STATE, *settings), name)
                raise LectureError(f"“{name}” cannot be set on this part. It must be {known}.")
            if not understood:
                can_be = (
                    _values(settings[name], text) if name in settings
                    else self.can_be(name, text, state)
                )  # fmt: skip
                raise LectureError(f"{name} cannot be “{text[:60]}” here. It must be {can_be}.")
        return state

    def can_be(self, name: str, wrong: str, state: State) -> str:
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
            why = f"{field}: a brace stands alone: {error}. {{{{ is a brace."
            raise LectureError(why) from error
        for _, name, format_spec, conversion in fields:
            if name is not None and (name not in self.facts or format_spec or conversion):
                why = f"{field}: “{{{name}}}” is no number that is computed."
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
