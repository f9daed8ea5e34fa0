"""A page that takes part in a class: the lecturer's, or a student's that follows it."""

import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cache
from urllib.parse import urlsplit, urlunsplit

import segno
import streamlit as st

from ffnviz.app.lecture.story import followed_lecture
from ffnviz.app.session import Session
from ffnviz.lecture.chosen import OWN
from ffnviz.lecture.classroom.live_class import (
    GONE,
    LONGEST_SENTENCE,
    ClassPosition,
    ClassStoreError,
    NoSuchClassError,
)
from ffnviz.lecture.classroom.store import server_store
from ffnviz.lecture.facts import FACTS
from ffnviz.lecture.lecture import Lecture, LectureError, read_lecture, written_lecture
from ffnviz.models.config import config
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.lecture import Attendance, classroom_cell
from ffnviz.server.headers import own_address
from ffnviz.state.actions import ShowState
from ffnviz.state.run import Run
from ffnviz.state.state import Catalog, from_url, to_url

CLASS, BASE, ALONE, BRAIN = "class", "class-base", "class-alone", "class-brain"
PUBLISHED = "class-published"
PROBLEM, FOLLOWED, OPENED = "class-problem", "class-followed", "class-opened"
JOINING = "class-joining"  # whether the visitor is about to type a code
VISITOR, TICKET = "class-visitor", "class-ticket"
LOOPBACK = ("localhost", "127.0.0.1", "::1")


def open_class(session: Session) -> None:
    """Open a class that follows this page."""
    try:
        opened = server_store().open(written_lecture(followed_lecture(session), session.catalog))
    except ClassStoreError:
        st.session_state[PROBLEM] = f"A class cannot be opened just now. {GONE}"
        return
    st.session_state[CLASS] = (opened.code, opened.secret)
    st.session_state[PUBLISHED] = None
    st.session_state[OPENED] = opened.code


def lecturer_of() -> tuple[str, str] | None:
    """The code and the secret of the class that this page leads, if it leads one."""
    kept: tuple[str, str] | None = st.session_state.get(CLASS)
    return kept


def class_line(session: Session) -> list[Cell]:
    """The line of the class; without one, a cell that asks the browser whether it led one."""
    if not config().has_classes:
        return []
    led, code = lecturer_of(), session.view_options.follows
    if led is not None:
        link = link_of(st.session_state.get(BASE, ""), led[0])
        shown = Attendance(
            "lecturer",
            *led,
            link,
            qr_code(link[:300]) if link else "",
            just_opened=st.session_state.get(OPENED) == led[0],
            brain=bool(st.session_state.get(BRAIN)),
        )
    elif code:
        alone = bool(st.session_state.get(ALONE))
        followed = st.session_state.get(FOLLOWED, {}).get(code, 0)
        who, ticket = ticket_for(code)
        shown = Attendance(
            "student",
            code,
            who=who,
            ticket=ticket,
            alone=alone,
            followed=followed,
            longest=LONGEST_SENTENCE,
        )
    else:
        shown = Attendance("joining" if st.session_state.get(JOINING) else "")
    return [
        classroom_cell(
            shown,
            key="classroom",
            on_resume=resume,
            on_moved=lambda: follow(session),
            on_ask=lambda what: ask(session, what),
        )
    ]


def ticket_for(code: str) -> tuple[str, str]:
    """The id of the visitor in a class, and the ticket for it: one a session, and no more."""
    who: str = st.session_state.setdefault(VISITOR, secrets.token_hex(16))
    ticket: str = st.session_state.get(TICKET, {}).get(code, "")
    if not ticket:
        with suppress(NoSuchClassError, ClassStoreError):  # the page is then told which
            ticket = server_store().ticket(code, who)
        st.session_state[TICKET] = {code: ticket}
    return who, ticket


def resume(code: str, secret: str, base: str) -> None:
    """Lead the class whose secret the browser has, if the secret is right."""
    with suppress(NoSuchClassError, ClassStoreError):
        if server_store().is_lecturer(code, secret):
            st.session_state.setdefault(CLASS, (code, secret))
            st.session_state[BASE] = base


DOOR: dict[str, Callable[[str, str], None]] = {
    "close": lambda code, secret: server_store().set_door(code, secret, closed=True),
    "open": lambda code, secret: server_store().set_door(code, secret, closed=False),
    "remove": lambda code, secret: server_store().remove_all(code, secret),
}


def ask(session: Session, what: str) -> None:
    """Do what a button of the line asks for; to look again, it is enough that the page runs."""
    led = lecturer_of()
    if what == "brain" and led is not None:
        st.session_state[BRAIN] = not st.session_state.get(BRAIN)
    elif what == "end" and led is not None:
        st.session_state[BRAIN] = False
        try:
            with suppress(NoSuchClassError):  # it was over
                server_store().end(*led)
            st.session_state.pop(CLASS)
        except ClassStoreError:
            st.session_state[PROBLEM] = f"The class goes on. {GONE}"
    elif what in DOOR and led is not None:
        try:
            DOOR[what](*led)
        except (NoSuchClassError, ClassStoreError):
            st.session_state[PROBLEM] = f"The class is as it was. {GONE}"
    elif what == "ticket":
        st.session_state.pop(TICKET, None)
    elif what == "left":
        st.session_state.pop(JOINING, None)
        st.session_state.pop(CLASS, None)
        session.set_view_options(replace(session.view_options, follows=""))
    elif what == "alone":
        st.session_state[ALONE] = True
    elif what == "back":
        st.session_state[ALONE] = False
        follow(session)


def follow(session: Session) -> None:
    """Go to where the lecturer is."""
    code = session.view_options.follows
    if not code or lecturer_of() is not None or st.session_state.get(ALONE):
        return
    try:
        course, text = server_store().course(code), server_store().lecture(code)
    except (NoSuchClassError, ClassStoreError):
        return
    if not course.place.page:
        return
    st.session_state[FOLLOWED] = {code: course.moved}
    lecture = lecture_of_class(text, session.catalog)
    if lecture is not None:
        st.session_state[OWN] = lecture
    place = course.place
    session.set_view_options(
        replace(
            session.view_options,
            scene=place.scene,
            short=place.short,
            lecture="",
            presenting=False,
            exploring=False,
        )
    )
    session.do(ShowState(from_url(place.page, place.query, session.catalog)))


@st.cache_resource(show_spinner=False, max_entries=16)
def lecture_of_class(text: str, _catalog: Catalog) -> Lecture | None:
    """The lecture of a class, read once for all who follow it."""
    try:
        return read_lecture(text, _catalog, FACTS)
    except LectureError:
        return None


def publish_position(session: Session, run: Run | None) -> None:
    """Send the class to where this page is, if it leads one and is not exploring."""
    led, options = lecturer_of(), session.view_options
    if led is None or run is None or options.exploring:
        return
    state = replace(run.state, token=run.token)
    place = ClassPosition(state.page, to_url(state, session.catalog), options.scene, options.short)
    lecture = followed_lecture(session)
    if st.session_state.get(PUBLISHED) == (place, lecture):
        return
    try:
        server_store().move(*led, place, written_lecture(lecture, session.catalog))
    except NoSuchClassError:
        return
    except ClassStoreError:
        st.session_state[PROBLEM] = f"The class did not follow. {GONE}"
        return
    st.session_state[PUBLISHED] = (place, lecture)


def link_of(base: str, code: str) -> str:
    """The address that students open; that of this computer alone becomes its network address."""
    parts = urlsplit(base)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return ""
    host = own_address() if parts.hostname in LOOPBACK else parts.hostname
    shown = f"[{host}]" if ":" in host else host
    port = f":{parts.port}" if parts.port else ""
    path = parts.path.removesuffix("/")
    return urlunsplit((parts.scheme, f"{shown}{port}", f"{path}/class/{code}", "", ""))


@cache
def qr_code(link: str) -> str:
    """A link as a QR code, in a data URL."""
    code = segno.make(link, error="m", micro=False)
    return str(code.svg_data_uri(scale=10, border=3, light="#fff"))
