"""The draft of a visitor's own lecture: the views they added, in an order of their choice.

Unlike the file of a lecture it may be half done. What comes back may be anything: what is no draft
is ignored, and every view is made legal.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import streamlit as st

from ffnviz.app.lecture.story import go
from ffnviz.app.session import Session
from ffnviz.lecture.chosen import OWN
from ffnviz.lecture.facts import FACTS
from ffnviz.lecture.lecture import (
    LONGEST_FILE,
    MOST_SCENES,
    NO_ANSWER,
    DraftScene,
    DraftTable,
    Lecture,
    LectureError,
    Question,
    Scene,
    read_lecture,
    written_lecture,
)
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.page import names, small_picture
from ffnviz.pictures.text import storage_cell
from ffnviz.state.state import Catalog, State, from_url, to_url

DRAFT = "draft"
N_FORMS = "desk-times"  # how often another draft has taken the place of one
TITLE = "My lecture"
SAY = "At {token} the network says {says} ({says_share})."  # until somebody writes another sentence


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

    title: str = TITLE
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


def draft() -> Draft:
    """The visitor's draft."""
    kept: Draft = st.session_state.get(DRAFT, Draft())
    return kept


def keep(changed: Draft) -> None:
    """Make a draft the visitor's."""
    st.session_state[DRAFT] = changed


def reset_form() -> None:
    """Empty the boxes of what was typed of another draft, which browsers keep by their keys."""
    st.session_state[N_FORMS] = st.session_state.get(N_FORMS, 0) + 1


def form_key(name: str) -> str:
    """The key of a box of the form."""
    return f"desk-form-{st.session_state.get(N_FORMS, 0)}-{name}"


def add_view(state: State, title: str, pictures: Sequence[str], thumbnail: str) -> None:
    """Add the view that the page shows as the draft's last scene."""
    keep(draft().added(Scene(title, state, SAY), pictures, thumbnail))


def opened(lecture: Lecture, catalog: Catalog) -> Draft:
    """A lecture as a draft that can be changed."""
    result = Draft(lecture.title, minutes=lecture.minutes, short_minutes=lecture.short_minutes)
    for scene in lecture.scenes:
        shown = catalog.pictures_of(scene.state) if catalog.pictures_of else ()
        result = result.added(scene, shown)
    return result


NAME = "ffnviz-lecture"


def kept_in_browser(session: Session) -> Cell:
    """The cell that has the browser keep the session's draft, or bring one if there is none."""
    text = None
    if DRAFT in st.session_state:
        text = written_draft(draft(), session.catalog, shown=_is_shown())
        if len(text) > LONGEST_FILE:  # the words are more important than the pictures
            bare = tuple(replace(view, thumbnail="") for view in draft().views)
            bare_draft = replace(draft(), views=bare)
            text = written_draft(bare_draft, session.catalog, shown=_is_shown())
    return storage_cell(NAME, text, LONGEST_FILE, "draft-kept", lambda kept: take_up(session, kept))


def take_up(session: Session, text: str) -> None:
    """Continue with the draft that was kept, and show it if it was shown."""
    stored, shown = read_draft(text, session.catalog)
    reset_form()
    keep(stored)
    if shown and OWN not in st.session_state:
        with suppress(LectureError):  # it was changed since, and is not done
            written = written_lecture(stored.lecture, session.catalog)
            st.session_state[OWN] = read_lecture(written, session.catalog, FACTS)
            scene, ours = session.view_options.scene, session.view_options.lecture
            if scene is not None and not ours and "text" not in session.came_with:
                go(session, scene)  # until now the address meant a scene of the server's


def _is_shown() -> bool:
    return OWN in st.session_state and st.session_state[OWN].title == draft().title


def written_draft(lecture: Draft, catalog: Catalog, *, shown: bool = False) -> str:
    """The draft as a text; empty if there is nothing in it."""
    if not lecture.views:
        return ""
    scenes = tuple(
        DraftScene(
            scene.title, scene.say, scene.state.page, to_url(scene.state, catalog),
            scene.look, scene.notes, scene.short, view.pictures, view.thumbnail,
            *((asked.ask, asked.options, asked.answer) if (asked := scene.question) else ()),
        )
        for view in lecture.views for scene in [view.scene]
    )  # fmt: skip
    table = DraftTable(lecture.title, scenes, lecture.minutes, lecture.short_minutes, shown)
    return msgspec.json.encode(table).decode()


def read_draft(text: str, catalog: Catalog) -> tuple[Draft, bool]:
    """The draft that a text holds, and whether it was shown as a lecture; an empty one if none."""
    try:
        table = msgspec.json.decode(text, type=DraftTable)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return Draft(), False
    result = Draft(table.title, minutes=table.minutes, short_minutes=table.short_minutes)
    for each in table.scenes:
        thumbnail = small_picture(each.thumbnail)
        result = result.added(_scene(each, catalog), names(each.pictures), thumbnail)
    return result, table.shown


def _scene(table: DraftScene, catalog: Catalog) -> Scene:
    question = None
    if table.options is not None:
        answer = table.answer if table.answer < max(1, len(table.options)) else NO_ANSWER
        question = Question(table.ask, table.options, answer)
    state = from_url(table.page, table.view, catalog)
    return Scene(table.title, state, table.say, table.look, question, table.notes, table.short)
