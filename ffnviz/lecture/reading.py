"""A lecture from a TOML file: all of it is checked, and what is wrong is said with its line."""

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from string import Formatter
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from ffnviz.lecture.lines import Place, line_of
from ffnviz.lecture.scene import Lecture, Question, Scene
from ffnviz.state.settings import Setting
from ffnviz.state.state import Catalog, State, from_url, to_url, with_masks

LONGEST_FILE = 300_000  # characters
MOST_SCENES = 200
MOST_OPTIONS = 6
MOST_MINUTES = 600
LENGTHS = {"title": 120, "say": 1_000, "look": 60, "notes": 5_000, "ask": 400, "option": 160}
OF_LECTURE = ("title", "minutes", "short_minutes", "scene")
OF_SCENE = ("title", "view", "link", "say", "look", "question", "notes", "short")
OF_QUESTION = ("ask", "options", "answer")
OF_STATE = ("page", "part", "text", "twin", "block", "token", "neuron", "order", "partner")


class LectureError(ValueError):
    """Why a file is no lecture, in plain words, with the line that is wrong."""


def read_lecture(text: str, catalog: Catalog, facts: Collection[str]) -> Lecture:
    """The lecture that a file holds.

    Args:
        text: of the file.
        catalog: what there is to be looked at.
        facts: the names that may stand in braces in what is said.

    Raises:
        LectureError: if anything in it is wrong.
    """
    if len(text) > LONGEST_FILE:
        raise LectureError(f"It is longer than {LONGEST_FILE:,} characters.")
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise LectureError(f"It is not TOML: {error}.") from error
    return _Reader(text, catalog, frozenset(facts)).lecture(table)


@dataclass(frozen=True)
class _Reader:
    text: str
    catalog: Catalog
    facts: frozenset[str]

    def wrong(self, place: Place, why: str) -> LectureError:
        return LectureError(f"Line {line_of(self.text, place)}: {why}")

    def lecture(self, table: Mapping[str, Any]) -> Lecture:
        self.only(table, (), OF_LECTURE, "a lecture")
        scenes = table.get("scene")
        if (
            not isinstance(scenes, list)
            or not scenes
            or not all(isinstance(s, dict) for s in scenes)
        ):
            raise LectureError("There is no scene in it: each begins with a line [[scene]].")
        if len(scenes) > MOST_SCENES:
            raise LectureError(f"It has {len(scenes):,} scenes; at most {MOST_SCENES} are allowed.")
        return Lecture(
            self.words(table, ("title",), "title"),
            tuple(self.scene(scene, ("scene", n)) for n, scene in enumerate(scenes)),
            self.number(table, ("minutes",), 0, MOST_MINUTES),
            self.number(table, ("short_minutes",), 0, MOST_MINUTES),
        )

    def scene(self, table: Mapping[str, Any], at: Place) -> Scene:
        self.only(table, at, OF_SCENE, "a scene")
        short = table.get("short", False)
        if not isinstance(short, bool):
            raise self.wrong((*at, "short"), "short must be true or false.")
        question = table.get("question")
        return Scene(
            self.words(table, (*at, "title"), "title"),
            self.state(table, at),
            self.told(table, (*at, "say"), "say"),
            self.words(table, (*at, "look"), "look", needed=False),
            None if question is None else self.question(question, (*at, "question")),
            self.told(table, (*at, "notes"), "notes", needed=False),
            short,
        )

    def question(self, table: Any, at: Place) -> Question:
        if not isinstance(table, dict):
            raise self.wrong(at, "question must be a table: [scene.question].")
        self.only(table, at, OF_QUESTION, "a question")
        ask = self.told(table, (*at, "ask"), "ask")
        options: Any = table.get("options") or []
        fits = isinstance(options, list) and 2 <= len(options) <= MOST_OPTIONS
        if not fits or not all(isinstance(o, str) and len(o.strip()) > 0 for o in options):
            raise self.wrong((*at, "options") if "options" in table else at,
                             f"options must be a list of 2 to {MOST_OPTIONS} texts.")  # fmt: skip
        if any(len(option) > LENGTHS["option"] for option in options):
            raise self.wrong((*at, "options"),
                             f"an option has more than {LENGTHS['option']} signs.")  # fmt: skip
        if "answer" not in table:
            raise self.wrong(at, "the question has no answer, as answer = 1.")
        return Question(
            ask, tuple(options), self.number(table, (*at, "answer"), 1, len(options)) - 1
        )

    def state(self, table: Mapping[str, Any], at: Place) -> State:
        if ("view" in table) == ("link" in table):
            raise self.wrong((*at, "view") if "view" in table else at,
                             "a scene has either a view or a link.")  # fmt: skip
        if "link" in table:
            at, link = (*at, "link"), table["link"]
            if not isinstance(link, str):
                raise self.wrong(at, "link must be a text, as “Copy link” gives it.")
            parts = urlsplit(link)
            given = dict(parse_qsl(parts.query, keep_blank_values=True, max_num_fields=100))
            given = {"page": parts.path.strip("/").rpartition("/")[2] or "journey"} | given
            shown = ("scene", "path", "present", "hide", "class", "embed")
            return self.view({k: v for k, v in given.items() if k not in shown}, at, inner=False)
        view = table["view"]
        if not isinstance(view, dict):
            raise self.wrong((*at, "view"), "view must be a table: [scene.view].")
        return self.view(view, (*at, "view"), inner=True)

    def view(self, given: Mapping[str, Any], at: Place, *, inner: bool) -> State:
        """The state that parameters ask for, if every one of them is understood."""

        def wrong(name: str, why: str) -> LectureError:
            return self.wrong((*at, name) if inner and name in given else at, why)

        params = {}
        for name, value in given.items():
            if isinstance(value, bool) or not isinstance(value, str | int | float):
                raise wrong(name, f"{name} must be a text or a number.")
            params[name] = str(value)
        page, rooms = params.pop("page", ""), self.catalog.parts
        if (page, params.get("part", "")) in self.catalog.moved:
            page, part, shown = self.catalog.place(page, params["part"], params)
            params = {**shown, "part": part}
        if page not in rooms:
            raise wrong("page", f"page must be one of {_listed(rooms)}; it is “{page}”.")
        part = params.get("part", next(iter(rooms[page])))
        if part not in rooms[page]:
            raise wrong("part", f"part must be one of {_listed(rooms[page])}; it is “{part}”.")
        settings = {name: s for s in self.catalog.settings_of(page, part) for name in s.names}
        state = from_url(page, params, self.catalog)
        url = to_url(state, self.catalog) | {"part": part}
        for name, text in params.items():
            if name in settings:
                understood = _means(settings[name], text)
            elif name in OF_STATE:
                understood = with_masks(text) == url.get(name) or (name, text) == (
                    "order", self.catalog.orders[0])  # fmt: skip
            else:
                known = _listed((*OF_STATE, *settings))
                raise wrong(name, f"“{name}” cannot be set on this part. There are: {known}.")
            if not understood:
                raise wrong(name, f"{name} cannot be “{text[:60]}” here.")
        return state

    def told(self, table: Mapping[str, Any], at: Place, kind: str, needed: bool = True) -> str:
        """What is said, whose {names} are known."""
        words = self.words(table, at, kind, needed)
        try:
            names = [(name, how, turn) for _, name, how, turn in Formatter().parse(words)]
        except ValueError as error:
            raise self.wrong(at, f"a brace stands alone: {error}. {{{{ is a brace.") from error
        for name, how, turn in names:
            if name is not None and (name not in self.facts or how or turn):
                known = _listed(sorted(self.facts))
                raise self.wrong(
                    at, f"“{{{name}}}” is no number that is computed. There are: {known}."
                )
        return words

    def words(self, table: Mapping[str, Any], at: Place, kind: str, needed: bool = True) -> str:
        name = at[-1]
        value = table.get(str(name), "")
        if not isinstance(value, str):
            raise self.wrong(at, f"{name} must be a text.")
        if needed and not value.strip():
            raise self.wrong(at if name in table else at[:-1], f"{name} is missing.")
        if len(value) > LENGTHS[kind]:
            raise self.wrong(at, f"{name} has more than {LENGTHS[kind]:,} characters.")
        return value.strip()

    def number(self, table: Mapping[str, Any], at: Place, least: int, most: int) -> int:
        value = table.get(str(at[-1]), 0)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise self.wrong(at, f"{at[-1]} must be a whole number from {least} to {most}.")
        return value

    def only(self, table: Mapping[str, Any], at: Place, known: tuple[str, ...], what: str) -> None:
        for name in table:
            if name not in known:
                raise self.wrong((*at, name), f"{what} has no “{name}”. It has: {_listed(known)}.")


def _means(setting: Setting[Any], text: str) -> bool:
    """Whether a text is what the setting itself would write, or the same number."""
    own = setting.text(setting.parse(text))
    try:
        return own == text or float(own) == float(text)
    except ValueError:
        return False


def _listed(names: Collection[str]) -> str:
    return ", ".join(names)
