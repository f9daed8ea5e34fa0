"""The draft of a visitor's own lecture: the views they added, in an order of their choice.

Unlike the file of a lecture it may be half done. What comes back may be anything: what is not
a draft is ignored, and every view is made legal.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import msgspec

from ffnviz.app.lecture.story import go
from ffnviz.app.session import Session
from ffnviz.app.visit import visit
from ffnviz.lecture import lecture as lectures
from ffnviz.lecture.facts import FACTS
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.page import names, small_picture
from ffnviz.pictures.text import storage_cell
from ffnviz.state.state import Catalog, State, from_url, to_url

SAY = "At {token} the network says {says} ({says_share})."  # until somebody writes another sentence


def draft() -> lectures.Draft:
    """The visitor's draft."""
    return visit().draft or lectures.Draft()


def keep(changed: lectures.Draft) -> None:
    """Make a draft the visitor's."""
    visit().draft = changed


def reset_form() -> None:
    """Empty the boxes of what was typed of another draft, which browsers keep by their keys."""
    visit().n_forms += 1


def form_key(name: str) -> str:
    """The key of a box of the form, in which browsers keep what is typed: new for each draft."""
    return f"desk-form-{visit().n_forms}-{name}"


def add_view(state: State, title: str, pictures: Sequence[str], thumbnail: str) -> None:
    """Add the view that the page shows as the draft's last scene."""
    keep(draft().added(lectures.Scene(title, state, SAY), pictures, thumbnail))


def opened(lecture: lectures.Lecture, catalog: Catalog) -> lectures.Draft:
    """A lecture as a draft that can be changed."""
    result = lectures.Draft(
        lecture.title, minutes=lecture.minutes, short_minutes=lecture.short_minutes
    )
    for scene in lecture.scenes:
        shown = catalog.pictures_of(scene.state) if catalog.pictures_of else ()
        result = result.added(scene, shown)
    return result


NAME = "ffnviz-lecture"


def kept_in_browser(session: Session) -> Cell:
    """The cell that has the browser keep the session's draft, or bring one if there is none."""
    text = None
    if visit().draft is not None:
        text = written_draft(draft(), session.catalog, shown=_is_shown())
        if len(text) > lectures.LONGEST_FILE:  # the words are more important than the pictures
            bare = tuple(replace(view, thumbnail="") for view in draft().views)
            text = written_draft(replace(draft(), views=bare), session.catalog, shown=_is_shown())
    return storage_cell(
        NAME, text, lectures.LONGEST_FILE, "draft-kept", lambda kept: take_up(session, kept)
    )


def take_up(session: Session, text: str) -> None:
    """Continue with the draft that was kept, and show it if it was shown."""
    stored, shown = read_draft(text, session.catalog)
    reset_form()
    keep(stored)
    if shown and visit().own_lecture is None:
        with suppress(lectures.LectureError):  # it was changed since, and is not done
            written = lectures.written_lecture(stored.lecture, session.catalog)
            visit().own_lecture = lectures.read_lecture(written, session.catalog, FACTS)
            scene, ours = visit().view_options.scene, visit().view_options.lecture
            if scene is not None and not ours and "text" not in visit().came_with:
                go(session, scene)  # until now the address meant a scene of the server's


def _is_shown() -> bool:
    own = visit().own_lecture
    return own is not None and own.title == draft().title


def written_draft(lecture: lectures.Draft, catalog: Catalog, *, shown: bool = False) -> str:
    """The draft as a text; empty if there is nothing in it."""
    if not lecture.views:
        return ""

    def table_of(view: lectures.DraftView) -> lectures.DraftScene:
        scene, asked = view.scene, view.scene.question
        table = lectures.DraftScene(
            scene.title,
            scene.say,
            scene.state.page,
            to_url(scene.state, catalog),
            scene.look,
            scene.notes,
            scene.short,
            view.pictures,
            view.thumbnail,
        )
        if asked is None:
            return table
        return msgspec.structs.replace(
            table, ask=asked.ask, options=asked.options, answer=asked.answer
        )

    scenes = tuple(map(table_of, lecture.views))
    table = lectures.DraftTable(
        lecture.title, scenes, lecture.minutes, lecture.short_minutes, shown
    )
    return msgspec.json.encode(table).decode()


def read_draft(text: str, catalog: Catalog) -> tuple[lectures.Draft, bool]:
    """The draft that a text holds, and whether it was shown as a lecture; an empty one if none."""
    try:
        table = msgspec.json.decode(text, type=lectures.DraftTable)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return lectures.Draft(), False
    result = lectures.Draft(table.title, minutes=table.minutes, short_minutes=table.short_minutes)
    for each in table.scenes:
        thumbnail = small_picture(each.thumbnail)
        result = result.added(_scene(each, catalog), names(each.pictures), thumbnail)
    return result, table.shown


def _scene(table: lectures.DraftScene, catalog: Catalog) -> lectures.Scene:
    question = None
    if table.options is not None:
        answer = table.answer if table.answer < max(1, len(table.options)) else lectures.NO_ANSWER
        question = lectures.Question(table.ask, table.options, answer)
    state = from_url(table.page, table.view, catalog)
    return lectures.Scene(
        table.title, state, table.say, table.look, question, table.notes, table.short
    )
