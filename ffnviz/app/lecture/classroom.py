"""A page that takes part in a class: the lecturer's, or a student's that follows it."""

from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from urllib.parse import urlsplit, urlunsplit

import segno
import streamlit as st

from ffnviz.app.lecture.story import followed_lecture
from ffnviz.app.session import Session
from ffnviz.app.visit import visit
from ffnviz.lecture.classroom import live_class
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

LOOPBACK = ("localhost", "127.0.0.1", "::1")


def open_class(session: Session) -> None:
    """Open a class that follows this page."""
    try:
        opened = server_store().open(written_lecture(followed_lecture(session), session.catalog))
    except live_class.ClassStoreError:
        visit().class_problem = f"A class cannot be opened just now. {live_class.GONE}"
        return
    kept = visit()
    kept.led, kept.published, kept.just_opened = (opened.code, opened.secret), None, opened.code


def class_line(session: Session) -> list[Cell]:
    """The line of the class; without one, a cell that asks the browser whether it led one."""
    if not config().has_classes:
        return []
    kept = visit()
    led, code = kept.led, kept.view_options.follows
    if led is not None:
        link = link_of(kept.class_base, led[0])
        shown = Attendance(
            "lecturer",
            *led,
            link=link,
            qr=qr_code(link[:300]) if link else "",
            just_opened=kept.just_opened == led[0],
            brain=kept.shows_sentences,
        )
    elif code:
        shown = Attendance(
            "student",
            code,
            who=kept.class_id,
            ticket=ticket_for(code),
            alone=kept.alone,
            followed=kept.followed.get(code, 0),
            longest=live_class.LONGEST_SENTENCE,
        )
    else:
        shown = Attendance("joining" if kept.joining else "")
    return [
        classroom_cell(
            shown,
            key="classroom",
            on_resume=resume,
            on_moved=lambda: follow(session),
            on_ask=partial(ask, session),
        )
    ]


def ticket_for(code: str) -> str:
    """The visitor's ticket for a class: one a session, and no more."""
    ticket = visit().tickets.get(code, "")
    if not ticket:
        # The page is then told which.
        with suppress(live_class.NoSuchClassError, live_class.ClassStoreError):
            ticket = server_store().ticket(code, visit().class_id)
        visit().tickets = {code: ticket}
    return ticket


def resume(code: str, secret: str, base: str) -> None:
    """Lead the class whose secret the browser has, if the secret is right."""
    with suppress(live_class.NoSuchClassError, live_class.ClassStoreError):
        if server_store().is_lecturer(code, secret):
            visit().led = visit().led or (code, secret)
            visit().class_base = base


def ask(session: Session, what: str) -> None:
    """Do what a button of the line asks for; to look again, it is enough that the page runs."""
    led = visit().led
    if what == "brain" and led is not None:
        visit().shows_sentences = not visit().shows_sentences
    elif what == "end" and led is not None:
        visit().shows_sentences = False
        try:
            with suppress(live_class.NoSuchClassError):  # it was over
                server_store().end(*led)
            visit().led = None
        except live_class.ClassStoreError:
            visit().class_problem = f"The class goes on. {live_class.GONE}"
    elif what in ("close", "open", "remove") and led is not None:
        try:
            if what == "remove":
                server_store().remove_all(*led)
            else:
                server_store().set_door(*led, closed=what == "close")
        except (live_class.NoSuchClassError, live_class.ClassStoreError):
            visit().class_problem = f"The class is as it was. {live_class.GONE}"
    elif what == "ticket":
        visit().tickets = {}
    elif what == "left":
        visit().joining, visit().led = False, None
        visit().view_options = replace(visit().view_options, follows="")
    elif what == "alone":
        visit().alone = True
    elif what == "back":
        visit().alone = False
        follow(session)


def follow(session: Session) -> None:
    """Go to where the lecturer is."""
    code = visit().view_options.follows
    if not code or visit().led is not None or visit().alone:
        return
    try:
        course, text = server_store().course(code), server_store().lecture(code)
    except (live_class.NoSuchClassError, live_class.ClassStoreError):
        return
    if not course.place.page:
        return
    visit().followed = {code: course.moved}
    lecture = lecture_of_class(text, session.catalog)
    if lecture is not None:
        visit().own_lecture = lecture
    place = course.place
    visit().view_options = replace(
        visit().view_options,
        scene=place.scene,
        short=place.short,
        lecture="",
        presenting=False,
        exploring=False,
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
    led, options = visit().led, visit().view_options
    if led is None or run is None or options.exploring:
        return
    state = replace(run.state, token=run.token)
    url = to_url(state, session.catalog)
    place = live_class.ClassPosition(state.page, url, options.scene, options.short)
    lecture = followed_lecture(session)
    if visit().published == (place, lecture):
        return
    try:
        server_store().move(*led, place, written_lecture(lecture, session.catalog))
    except live_class.NoSuchClassError:
        return
    except live_class.ClassStoreError:
        visit().class_problem = f"The class did not follow. {live_class.GONE}"
        return
    visit().published = (place, lecture)


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
