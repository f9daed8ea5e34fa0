"""A visitor's own lecture in their browser, where a reload and a new server find it.

Unlike the file of a lecture it may be half done. What comes back may be anything: every view is
made legal, every text is cut to its length, and what is no scene is left out.
"""

import json
from dataclasses import replace
from typing import Any

import streamlit as st

from ffnviz.app.lecture.draft import DRAFT, Draft, draft, forget_the_form, keep
from ffnviz.app.session import Session
from ffnviz.lecture.chosen import OWN
from ffnviz.lecture.facts import FACTS
from ffnviz.lecture.reading import (
    LENGTHS,
    LONGEST_FILE,
    MOST_MINUTES,
    MOST_OPTIONS,
    MOST_SCENES,
    LectureError,
    read_lecture,
)
from ffnviz.lecture.scene import Question, Scene
from ffnviz.lecture.writing import written_lecture
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.foot import names, small_picture
from ffnviz.pictures.local_storage import storage_cell
from ffnviz.pictures.sent import place
from ffnviz.state.state import Catalog, from_url, to_url

NAME = "ffnviz-lecture"


def kept_in_browser(session: Session) -> Cell:
    """What this page's session has; if it has none, what the browser has kept."""
    has = DRAFT in st.session_state
    text = written_draft(draft(), session.catalog, shown=_is_shown()) if has else None
    if text is not None and len(text) > LONGEST_FILE:  # the words are kept before the pictures
        bare = replace(draft(), thumbnails=())
        text = written_draft(bare, session.catalog, shown=_is_shown())
    return storage_cell(NAME, text, LONGEST_FILE, "draft-kept", lambda kept: take_up(session, kept))


def take_up(session: Session, text: str) -> None:
    """Go on with what was kept, and show it if it was shown."""
    made, shown = read_draft(text, session.catalog)
    forget_the_form()
    keep(made)
    if shown and OWN not in st.session_state:
        try:
            written = written_lecture(made.lecture, session.catalog)
            st.session_state[OWN] = read_lecture(written, session.catalog, FACTS)
        except LectureError:
            pass  # it was changed since, and is not done


def _is_shown() -> bool:
    return OWN in st.session_state and st.session_state[OWN].title == draft().title


def written_draft(made: Draft, catalog: Catalog, *, shown: bool = False) -> str:
    """The draft as a text; empty if there is nothing in it."""
    if not made.scenes:
        return ""
    pictures, thumbnails = dict(made.pictures), dict(made.thumbnails)
    scenes = [
        _written(scene, pictures.get(number, ()), catalog)
        | ({"thumbnail": thumbnails[number]} if number in thumbnails else {})
        for number, scene in made.scenes
    ]
    table = {"title": made.title, "minutes": made.minutes, "short_minutes": made.short_minutes,
             "scenes": scenes, "shown": shown}  # fmt: skip
    return json.dumps(table, ensure_ascii=False)


def _written(scene: Scene, pictures: tuple[str, ...], catalog: Catalog) -> dict[str, Any]:
    table: dict[str, Any] = {
        "title": scene.title, "say": scene.say, "look": scene.look, "notes": scene.notes,
        "short": scene.short, "pictures": list(pictures), "page": scene.state.page,
        "view": to_url(scene.state, catalog),
    }  # fmt: skip
    if scene.question is not None:
        asked = scene.question
        table |= {"ask": asked.ask, "options": list(asked.options), "answer": asked.answer}
    return table


def read_draft(text: str, catalog: Catalog) -> tuple[Draft, bool]:
    """The draft that a text holds, whatever it is, and whether it was shown as a lecture."""
    try:
        table = json.loads(text)
    except (ValueError, RecursionError):
        return Draft(), False
    if not isinstance(table, dict) or not isinstance(table.get("scenes"), list):
        return Draft(), False
    made = Draft(
        _words(table, "title"),
        minutes=_number(table, "minutes", MOST_MINUTES),
        short_minutes=_number(table, "short_minutes", MOST_MINUTES),
    )
    for each in table["scenes"][:MOST_SCENES]:
        if isinstance(each, dict) and isinstance(each.get("view"), dict):
            thumbnail = small_picture(each.get("thumbnail"))
            made = made.added(_scene(each, catalog), names(each.get("pictures")), thumbnail)
    return made, table.get("shown") is True


def _scene(table: dict[str, Any], catalog: Catalog) -> Scene:
    page, view = table.get("page"), table["view"]
    page = page if isinstance(page, str) and page in catalog.parts else next(iter(catalog.parts))
    params = {name: text for name, text in view.items() if isinstance(text, str)}
    return Scene(
        _words(table, "title"),
        from_url(page, params, catalog),
        _words(table, "say"),
        _words(table, "look"),
        _question(table),
        _words(table, "notes"),
        table.get("short") is True,
    )


def _question(table: dict[str, Any]) -> Question | None:
    options = table.get("options")
    if not isinstance(options, list):
        return None
    texts = [each[: LENGTHS["option"]] for each in options if isinstance(each, str)]
    # One that is half done may have more or fewer options than it will.
    texts = texts[: 2 * MOST_OPTIONS]
    return Question(
        _words(table, "ask"), tuple(texts), _number(table, "answer", max(0, len(texts) - 1))
    )


def _words(table: dict[str, Any], name: str) -> str:
    value = table.get(name)
    return value[: LENGTHS[name]] if isinstance(value, str) else ""


def _number(table: dict[str, Any], name: str, most: int) -> int:
    return place(table.get(name), most + 1) or 0
