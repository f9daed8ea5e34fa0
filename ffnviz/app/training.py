"""Trainings that a session has asked for: begun, paused, gone on with, forgotten.

They are computed in a process of their own, one at a time. A paused one takes no processor: the
session keeps its networks, and going on is a new order. Before one is begun, its networks are shown
as they begin.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st

from ffnviz.jobs.job_pool import Job, JobPool, JobStatus, Order, QueueIsFullError
from ffnviz.jobs.learning import PAUSE, Learned, Moment, Plan, Reading, learn
from ffnviz.models.config import config
from ffnviz.models.learned import NoRoomError, keep_learned
from ffnviz.parts.course import Course, Status
from ffnviz.parts.sheet import Measured, Measurement

REFRESH_S = 0.4
MOST_BEGINNINGS = 32  # that are kept for all sessions: a class watches the same sentence
PAGE = "learn"
POOL = JobPool()


@dataclass
class Training:
    """A training of this session.

    Attributes:
        steps: of its plan.
        text: the sentence that is watched.
        job: what computes it; None before it was asked for.
        heard: how many of the things that the job told were taken in.
        file: the name of the text of one's own that it reads; empty for the everyday sentences.
        plans: of the networks, one each; empty once it has begun.
    """

    steps: int
    text: str
    job: Job | None = None
    heard: int = 0
    moments: list[Moment] = field(default_factory=list)
    reading: Reading = field(default_factory=Reading)
    file: str = ""
    learned: Learned | None = None
    problem: str = ""
    plans: tuple[Plan, ...] = ()

    @property
    def status(self) -> Status:
        """How it stands."""
        if self.job is not None and not self.job.ended:
            return Status.WAITS if self.job.status is JobStatus.WAITS else Status.RUNS
        if self.learned is None:
            return Status.NEW
        over = self.learned.ended or self.learned.spent
        return Status.ENDED if over else Status.PAUSED


_KNOWN: dict[tuple[Plan, ...], Training] = {}  # by plans, before the first step


def refresh_s(page: str) -> float | None:
    """How often the page runs by itself: while something learns, so that it is seen; or never."""
    all_ = (*_trainings().values(), *_beginnings().values())
    running = any(t.job is not None and not t.job.ended for t in all_)
    return REFRESH_S if page == PAGE and running else None


def course_of(measurement: Measurement[Any]) -> Measured[Any]:
    """What is known of a training by now."""
    training = _trainings().get(measurement.name)
    if training is None:
        return _beginning(measurement)
    _take_in(training)
    _watch(training, measurement.args[1])
    course = Course(
        training.status, tuple(training.moments), training.reading, training.file,
        training.steps, _before(training), training.learned,
        training.problem,
    )  # fmt: skip
    return Measured(measurement.setup, course, f"{len(training.moments)} {training.status}", "")


def do(measurement: Measurement[Any], what: str) -> None:
    """What a button asks for: train, pause, step, go, stop; what cannot be done now is left."""
    plans, text = measurement.args
    training = _trainings().get(measurement.name)
    if config().train_minutes <= 0:
        return
    if what == "train" or training is None:
        _forget(measurement.name, _trainings())
        file, own = _own_text()
        plans = tuple(replace(plan, own=own) for plan in plans)
        training = _trainings()[measurement.name] = Training(plans[0].steps, text, file=file)
        begins = _forget(measurement.name, _beginnings())
        if begins is not None and begins.plans == plans:
            training.moments, training.reading = list(begins.moments), begins.reading
        _submit(training, plans, 1 if what == "step" else None)
    elif what == "stop":
        _forget(measurement.name, _trainings())
    elif what == "pause" and training.job is not None:
        POOL.say(training.job, PAUSE)
        if training.status is Status.WAITS:
            POOL.cancel(training.job)
    elif what in ("step", "go") and training.status is Status.PAUSED:
        assert training.learned is not None  # noqa: S101
        _submit(training, training.learned.learners, 1 if what == "step" else None)


def opened(name: str) -> list[str]:
    """The ids of a training's networks, which this server now keeps; none if it cannot."""
    training = _trainings().get(name)
    if training is None or training.learned is None or not training.learned.folders:
        return []
    try:
        return keep_learned(training.learned.folders)
    except NoRoomError as error:
        training.problem = str(error)
        return []


def read(file: str, text: str) -> None:
    """Have the next training of this session read a file of one's own; nothing else if empty."""
    st.session_state["own_text"] = (file, text)


def _own_text() -> tuple[str, str]:
    own: tuple[str, str] = st.session_state.get("own_text", ("", ""))
    return own


def _beginning(measurement: Measurement[Any]) -> Measured[Any]:
    """Its networks before their first step; none in a talk, whose scene is one screen."""
    name, (plans, text) = measurement.name, measurement.args
    file, own = _own_text()
    showing = st.session_state.get("showing")
    if config().train_minutes <= 0 or (showing is not None and showing.presenting):
        return Measured(measurement.setup, Course(Status.NEW, file=file), file, "")
    plans = tuple(replace(plan, own=own) for plan in plans)
    begins = _beginnings().get(name)
    if begins is None or begins.plans != plans:
        _forget(name, _beginnings())
        begins = _KNOWN.get(plans) or Training(plans[0].steps, text, file=file, plans=plans)
        _beginnings()[name] = begins
        if not begins.moments:
            _submit(begins, plans, 0)
    _take_in(begins)
    if begins.moments and plans not in _KNOWN:
        while len(_KNOWN) >= MOST_BEGINNINGS:
            _KNOWN.pop(next(iter(_KNOWN)), None)
        _KNOWN[plans] = replace(begins, job=None)
    course = Course(Status.NEW, tuple(begins.moments), begins.reading, file, begins.steps,
                    problem=begins.problem)  # fmt: skip
    return Measured(measurement.setup, course, f"{file} {len(begins.moments)}", "")


def _beginnings() -> dict[str, Training]:
    beginnings: dict[str, Training] = st.session_state.setdefault("beginnings", {})
    return beginnings


def _trainings() -> dict[str, Training]:
    trainings: dict[str, Training] = st.session_state.setdefault("trainings", {})
    return trainings


def _before(training: Training) -> int:
    """How many other trainings come first."""
    jobs = POOL.before(training.job) if training.job else []
    return sum(job.order.work is learn for job in jobs)


def _forget(name: str, among: dict[str, Training]) -> Training | None:
    """Take one out, if it is there; nobody waits for its job any more."""
    training = among.pop(name, None)
    if training is not None and training.job is not None:
        POOL.cancel(training.job)
    return training


def _submit(training: Training, begin: Any, steps: int | None) -> None:
    args = (begin, training.text, steps, 60 * config().train_minutes)
    is_open = st.session_state.get("tab_is_open", lambda: True)
    try:
        training.job, training.heard = POOL.submit(Order(learn, None, "cpu", {}, args), is_open), 0
        training.problem = ""
    except QueueIsFullError as error:
        training.problem = str(error)


def _take_in(training: Training) -> None:
    """What its job has told, and what came of it."""
    job = training.job
    if job is None:
        return
    ended = job.ended  # before what it told is read: nothing is told after that
    for told in job.told[training.heard :]:
        if isinstance(told, Reading):
            training.reading = told
        elif training.moments and told[0].step == training.moments[-1][0].step:
            training.moments[-1] = told
        else:
            training.moments.append(told)
        training.heard += 1
    if ended:
        training.job = None
        if job.status is JobStatus.DONE:
            training.learned = job.result
        elif job.status is JobStatus.FAILED:
            training.problem = job.problem
        job.told.clear()


def _watch(training: Training, text: str) -> None:
    """Watch another sentence from now on."""
    if text == training.text:
        return
    if training.job is None and training.learned is not None:
        training.text = text
        _submit(training, training.learned.learners, 0)
    elif training.status is Status.RUNS and training.job is not None:
        training.text = text
        POOL.say(training.job, text)
