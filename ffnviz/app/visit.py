"""What is kept of a visit: one value in st.session_state, and beside it only what is a widget's.

Fields are set anew or emptied, never deleted: what they held is then released.
"""

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from ffnviz.jobs.job import Job, JobStatus
from ffnviz.jobs.learning import Learned, Moment, Plan, Reading
from ffnviz.lecture.classroom.live_class import ClassPosition
from ffnviz.lecture.lecture import Draft, Lecture
from ffnviz.parts.learn.moments import Status
from ffnviz.parts.sheet import Measured
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.sheet_message import Browser
from ffnviz.state.state import Hidden, State, ViewOptions

VISIT = "visit"
# Of widgets, whose values Streamlit puts there and takes away: the sentence box, and the sheet.
# A single cell has its own key (`mount_cell`), and a box of the desk's form has `form_key`'s.
TEXT, SHEET = "text", "sheet"


@dataclass
class Training:
    """A training of this session."""

    plans: tuple[Plan, ...]  # of the networks, one each, all of as many steps
    text: str  # the sentence that is watched
    file: str  # the name of the visitor's own text; empty for the everyday sentences
    job: Job | None = None  # None while nothing is computed
    n_read: int = 0  # messages of the job that were taken in
    moments: list[Moment] = field(default_factory=list)
    reading: Reading = field(default_factory=Reading)
    learned: Learned | None = None
    problem: str = ""

    @property
    def status(self) -> Status:
        """The status that the page shows."""
        if self.job is not None and not self.job.ended:
            return Status.WAITS if self.job.status is JobStatus.WAITS else Status.RUNS
        if self.learned is None:
            return Status.NEW
        return Status.ENDED if self.learned.ended or self.learned.spent else Status.PAUSED


@dataclass(eq=False)
class Request:
    """A measurement that is under way."""

    job: Job
    setup: tuple[object, ...]  # the measurement's
    where: str  # the device in words
    key: tuple[object, ...]  # under which others find it, and its result
    # who waits for it, by session, with whether their tab is open
    waiting: dict["Requests", Callable[[], bool]]
    result: Measured[Any] | None = None


@dataclass(eq=False)
class Requests:
    """What one session has measured and waits for, by the names of the measurements."""

    results: dict[str, Measured[Any]] = field(default_factory=dict)  # the last of each
    under_way: dict[str, Request] = field(default_factory=dict)
    # the setups that failed or were cancelled: a button begins anew
    refused: dict[str, tuple[object, ...]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)  # to be said once


@dataclass
class Visit:
    """All that is kept of one visit."""

    # What is looked at, and its URL: the Session's.
    state: State | None = None  # None until a page is opened
    view_options: ViewOptions = field(default_factory=ViewOptions)  # how it is shown
    came_with: frozenset[str] = frozenset()  # the parameters that the visit began with, by name
    url: Mapping[str, str] = field(default_factory=dict)  # that was written last
    shown: State | None = None  # what was looked at then; None if it may lead on unseen
    turn_to: str | None = None  # the page that a click asked for, until it is opened
    moving: bool = False  # whether a control is still being moved: the URL, and so Back, waits
    left: dict[str, str] = field(default_factory=dict)  # what was set on parts, by setting
    last_parts: Mapping[str, str] = field(default_factory=dict)  # the last part of each page
    # networks that a link asks for and this server has not; until something is done
    not_here: list[str] = field(default_factory=list)
    no_lecture: str = ""  # that a link asks for and is not here; until another is begun
    hidden_words: Hidden = field(default_factory=dict)  # those that the visitor has hidden
    learned: Sequence[str] = ()  # the ids of the networks that were trained here
    show_next: str | None = None  # a network that is to join those to choose from, and be shown
    gpu: bool = True  # whether the GPU computes, if there is one
    tab_is_open: Callable[[], bool] = lambda: True  # whether somebody may still see the page

    # The sheet that is drawn, and what is measured for it.
    browser: Browser = field(default_factory=Browser)  # what it has of the sheet
    refresh_s: float | None = None  # the period at which the page was told to run by itself
    kept_results: dict[str, Sequence[Any]] = field(default_factory=dict)  # rows, by measurement
    note: tuple[State | None, Cell | None] = (None, None)  # of an upload, after the state it is of
    requests: Requests = field(default_factory=Requests)  # for measurements
    take_home: tuple[object, ...] | None = None  # the setup of the file that was asked for
    own_text: tuple[str, str] = ("", "")  # the visitor's own to train on: the file's name, its text
    beginnings: dict[str, Training] = field(default_factory=dict)  # not begun, by measurement
    trainings: dict[str, Training] = field(default_factory=dict)  # by measurement

    # The way through a lecture.
    lecture_begun: bool = False  # whether the link's scene was gone to
    own_lecture: Lecture | None = None  # the visitor's, or that of the class they follow
    left_scene: ViewOptions | None = None  # where the visitor left the lecture
    before_lecture: State | None = None  # what they looked at when they began it
    outcome: str = ""  # what came of the menu's last entry, to be said once

    # A lecture of one's own, and the desk where it is made.
    draft: Draft | None = None  # None until the visitor, or their browser, has one
    n_forms: int = 0  # how often another draft has taken the place of one
    desk: str | None = None  # the page in place of which the visitor sees the desk
    previewing: bool = False  # whether what is presented is a preview, which leads back to it
    chosen_scene: int | None = None  # the number of the one that is edited
    asked_numbers: int | None = None  # that of the scene for which the numbers were asked for
    desk_problem: str = ""  # why a file could not be opened
    # what was asked for, its file's name, and the text of the lecture it is of
    handout: tuple[str, str, str] | None = None

    # A class that is led or followed.
    led: tuple[str, str] | None = None  # the code and the secret of the class that this page leads
    class_base: str = ""  # the address that its browser has the page from
    just_opened: str = ""  # the code of the class that was opened here
    published: tuple[ClassPosition, Lecture] | None = None  # where the class was sent last
    class_problem: str = ""  # to be said once
    shows_sentences: bool = False  # whether the lecturer looks at what the class has sent
    joining: bool = False  # whether the visitor is about to type a code
    alone: bool = False  # whether a student goes their own way for a while
    followed: Mapping[str, int] = field(default_factory=dict)  # the last move, by the class's code
    class_id: str = field(default_factory=lambda: secrets.token_hex(16))  # the visitor's in classes
    tickets: Mapping[str, str] = field(default_factory=dict)  # of one class, by its code


def visit() -> Visit:
    """What is kept of this visit.

    Streamlit ends a run here if a newer one has taken its place. So ask where you read or write,
    and hold nothing of it over a computation.
    """
    kept: Visit | None = st.session_state.get(VISIT)
    if kept is None:
        kept = st.session_state[VISIT] = Visit()
    return kept
