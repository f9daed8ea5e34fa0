"""The desk, where a visitor's own lecture is put in order, worded, saved and opened."""

import re
from dataclasses import replace

import streamlit as st

from ffnviz.app.lecture import handouts
from ffnviz.app.lecture.draft import (
    DESK,
    PREVIEWING,
    Draft,
    draft,
    form_key,
    keep,
    opened,
    reset_form,
)
from ffnviz.app.lecture.editor_scene import form_of_scene
from ffnviz.app.lecture.story import go, start
from ffnviz.app.mounting import mount_cell
from ffnviz.app.session import Session
from ffnviz.lecture.chosen import OWN
from ffnviz.lecture.facts import FACTS
from ffnviz.lecture.reading import read_lecture, written_lecture
from ffnviz.lecture.scene import NO_ANSWER, Lecture, Scene
from ffnviz.lecture.tables import LENGTHS, LONGEST_FILE, MOST_MINUTES, LectureError, in_scene
from ffnviz.parts import PAGES
from ffnviz.parts.sheet import Sheet
from ffnviz.pictures.lecture import ListedScene, scene_list_cell
from ffnviz.pictures.text import opening_cell, saving_cell

PROBLEM, CHOSEN = "desk-problem", "desk-chosen"


def open_desk(page: str | None) -> None:
    """Show the desk in place of a page, until the visitor turns to another; None closes it."""
    st.session_state[DESK] = page


def is_open(page: str) -> bool:
    """Whether the desk stands in place of a page."""
    return bool(st.session_state.get(DESK) == page)


def handout(session: Session) -> Sheet:
    """The file of the lecture that was asked for, while the lecture is the same."""
    if handouts.WANTED not in st.session_state:
        return Sheet([])
    try:
        return handouts.handout(written_lecture(draft().lecture, session.catalog))
    except LectureError:
        return Sheet([])


def show_desk(session: Session) -> None:
    """Show the scenes, and a form for the chosen one, whose changes count at once."""
    current = draft()
    with st.container(key="desk"):
        st.subheader("My lecture", anchor=False)
        about_all(current)
        if not current.views:
            st.info("Nothing is in it yet. Turn to any page, and choose “Add this view” there.")
        lecture = checked(session, current)
        buttons(session, current, lecture)
        if current.views:
            place = chosen(current)
            left, right = st.columns([1, 1.6], gap="medium")
            with left:
                the_scenes(current, place)
            with right:
                preview = None if lecture is None else (lambda: show(session, lecture, place))
                form_of_scene(session, current.views[place], preview)
        bring(session)


def about_all(current: Draft) -> None:
    """The boxes for the lecture's title and its planned length."""
    title, minutes = form_key("title"), form_key("minutes")
    with st.container(horizontal=True):
        st.text_input(
            "Title", current.title, LENGTHS["title"], key=title,
            on_change=lambda: keep(replace(draft(), title=st.session_state[title])),
        )  # fmt: skip
        st.number_input(
            "Minutes planned", 0, MOST_MINUTES, current.minutes, key=minutes, width=180,
            on_change=lambda: keep(replace(draft(), minutes=int(st.session_state[minutes]))),
        )  # fmt: skip


def chosen(current: Draft) -> int:
    """The place of the scene that is edited."""
    numbers = [view.number for view in current.views]
    number = st.session_state.get(CHOSEN)
    return numbers.index(number) if number in numbers else 0


def the_scenes(current: Draft, place: int) -> None:
    """The list of all scenes, each with its small picture."""
    views = current.views

    def choose(at: int) -> None:
        st.session_state[CHOSEN] = views[at].number

    def move(start: int, end: int) -> None:
        choose(start)
        keep(draft().moved(views[start].number, end - start))

    listed = [
        ListedScene(view.scene.title, where(view.scene), view.scene.state.sentence, view.thumbnail)
        for view in views
    ]
    mount_cell(scene_list_cell(listed, place, "desk-list", on_choose=choose, on_move=move))


def where(scene: Scene) -> str:
    """The page that a scene shows, and its part if it has several."""
    page = next(page for page in PAGES if page.name == scene.state.page)
    part = page.part(scene.state.part)
    return f"{page.title}: {part.title}" if len(page.parts) > 1 else page.title


def checked(session: Session, current: Draft) -> Lecture | None:
    """The lecture as its file would be read; None if it could not be, below what is wrong."""
    if not current.views:
        return None
    try:
        for number, view in enumerate(current.views, 1):
            asked = view.scene.question
            if asked is not None and asked.options and asked.answer == NO_ANSWER:
                which = "which option is right? Put * before it, and before no other."
                raise LectureError(f"{in_scene(number, view.scene.title)}{which}")
        text = written_lecture(current.lecture, session.catalog)
        return read_lecture(text, session.catalog, FACTS)
    except LectureError as error:
        st.error("It cannot be saved or shown like this.")
        st.text(str(error))
        return None


def show(session: Session, lecture: Lecture, place: int) -> None:
    """Present a scene as an audience would see it; its end leads back to the desk."""
    st.session_state[OWN] = lecture
    st.session_state[DESK], st.session_state[PREVIEWING] = None, True
    options = replace(session.view_options, short=False, presenting=True, lecture="")
    session.set_view_options(options)
    go(session, place)


def buttons(session: Session, current: Draft, lecture: Lecture | None) -> None:
    """The buttons for the whole lecture."""

    def follow() -> None:
        st.session_state[OWN] = lecture
        st.session_state[DESK] = None
        start(session, short=False, anew=True)

    def begin_anew() -> None:
        st.session_state.pop(OWN, None)
        reset_form()
        keep(Draft())

    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Back to the page", on_click=open_desk, args=(None,))
        st.button("Show it", on_click=follow, disabled=lecture is None)
        text = written_lecture(lecture, session.catalog) if lecture else None
        name = file_name(current.title)
        mount_cell(saving_cell("Save as a file", text, f"{name}.toml", "application/toml",
                               key="desk-save"))  # fmt: skip
        for what, label in (("worksheet", "Worksheet to print"), ("html", "Save as HTML")):
            st.button(label, on_click=handouts.ask, args=(what, name, text), key=f"desk-{what}",
                      disabled=text is None)  # fmt: skip
        st.button("Begin a new one", on_click=begin_anew, disabled=not current.views)


def file_name(title: str) -> str:
    """A lecture's title as the name of a file."""
    return "-".join(re.findall(r"\w+", title.lower()))[:60] or "my-lecture"


def bring(session: Session) -> None:
    """The upload of a lecture that takes the place of this one."""
    mount_cell(opening_cell(
        f"Open a lecture: a .toml file of up to {LONGEST_FILE:,} characters",
        ".toml",
        LONGEST_FILE,
        key="desk-file",
        on_text=lambda name, text: take(session, name, text),
    ))  # fmt: skip
    problem = st.session_state.get(PROBLEM)
    if problem:
        st.error("The file could not be opened.")
        st.text(problem)


def take(session: Session, name: str, text: str) -> None:
    """Open a file that was chosen."""
    try:
        keep(opened(read_lecture(text, session.catalog, FACTS)))
        st.session_state[PROBLEM] = ""
        reset_form()
    except LectureError as error:
        st.session_state[PROBLEM] = f"{name}: {error}"
