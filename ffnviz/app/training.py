"""Trainings that a session has asked for: begun, paused, continued, stopped.

They are computed in a process of their own, one at a time. A paused one takes no processor: the
session keeps its networks, and to continue is a new order. Before a training begins, its networks
are shown as they are initialized.
"""

from dataclasses import replace
from typing import Any

from ffnviz.app.visit import Training, visit
from ffnviz.jobs.job import JobStatus, Order
from ffnviz.jobs.job_pool import JobPool, QueueIsFullError
from ffnviz.jobs.learning import PAUSE, Plan, Reading, learn
from ffnviz.models.config import config
from ffnviz.models.learned import NoRoomError, keep_learned
from ffnviz.parts.learn.moments import Course, Status
from ffnviz.parts.sheet import Measured, Measurement

REFRESH_S = 0.4
MOST_BEGINNINGS = 32  # that are kept for all sessions: a class watches the same sentence
PAGE = "learn"
POOL = JobPool()
_KNOWN: dict[tuple[Plan, ...], Training] = {}  # before the first step, by plans


def refresh_s(page: str) -> float | None:
    """The period at which the page runs by itself while a training runs; None if none does."""
    all_ = (*visit().trainings.values(), *visit().beginnings.values())
    running = any(t.job is not None and not t.job.ended for t in all_)
    return REFRESH_S if page == PAGE and running else None


def course_of(measurement: Measurement[Any]) -> Measured[Any]:
    """A training so far."""
    training = visit().trainings.get(measurement.name)
    if training is None:
        return _beginning(measurement)
    _take_in(training)
    _watch(training, measurement.args[1])
    course = Course(
        training.status,
        tuple(training.moments),
        training.reading,
        training.file,
        training.plans[0].steps,
        before=_before(training),
        learned=training.learned,
        problem=training.problem,
        networks=tuple(plan.name for plan in training.plans),
    )
    return Measured(measurement.setup, course, f"{len(training.moments)} {training.status}", "")


def do(measurement: Measurement[Any], what: str) -> None:
    """Do what a button asks for, one of train, pause, step, go and stop, if it is possible now."""
    name, (plans, text) = measurement.name, measurement.args
    training = visit().trainings.get(name)
    if config().train_minutes <= 0 or (training is None and what in ("pause", "stop")):
        return
    if what == "train" or training is None:
        _remove(name, visit().trainings)
        file, own = visit().own_text
        plans = tuple(replace(plan, own=own) for plan in plans)
        training = visit().trainings[name] = Training(plans, text, file)
        beginning = _remove(name, visit().beginnings)
        if beginning is not None and beginning.plans == plans:
            training.moments, training.reading = list(beginning.moments), beginning.reading
        _submit(training, plans, 1 if what == "step" else None)
    elif what == "stop":
        _remove(name, visit().trainings)
    elif what == "pause" and training.job is not None:
        POOL.send(training.job, PAUSE)
        if training.status is Status.WAITS:
            POOL.cancel(training.job)
    elif what in ("step", "go") and training.status is Status.PAUSED:
        assert training.learned is not None  # noqa: S101
        _submit(training, training.learned.learners, 1 if what == "step" else None)


def opened(name: str) -> list[str]:
    """Have the server keep a training's networks, and return their ids; none if it cannot."""
    training = visit().trainings.get(name)
    if training is None or training.learned is None or not training.learned.folders:
        return []
    try:
        return keep_learned(training.learned.folders)
    except NoRoomError as error:
        training.problem = str(error)
        return []


def read(file: str, text: str) -> None:
    """Have the session's next training read a file of the visitor's; an empty text resets it."""
    visit().own_text = (file, text)


def _beginning(measurement: Measurement[Any]) -> Measured[Any]:
    """A training's networks before their first step; none in a talk, whose scene is one screen."""
    name, (plans, text) = measurement.name, measurement.args
    file, own = visit().own_text
    if config().train_minutes <= 0 or visit().view_options.presenting:
        return Measured(measurement.setup, Course(Status.NEW, file=file), file, "")
    plans = tuple(replace(plan, own=own) for plan in plans)
    beginning = visit().beginnings.get(name)
    if beginning is None or beginning.plans != plans:
        _remove(name, visit().beginnings)
        beginning = _KNOWN.get(plans) or Training(plans, text, file)
        visit().beginnings[name] = beginning
        if not beginning.moments:
            _submit(beginning, plans, 0)
    _take_in(beginning)
    if beginning.moments and plans not in _KNOWN:
        while len(_KNOWN) >= MOST_BEGINNINGS:
            _KNOWN.pop(next(iter(_KNOWN)), None)
        _KNOWN[plans] = replace(beginning, job=None)
    course = Course(
        Status.NEW,
        tuple(beginning.moments),
        beginning.reading,
        file,
        plans[0].steps,
        problem=beginning.problem,
    )
    return Measured(measurement.setup, course, f"{file} {len(beginning.moments)}", "")


def _before(training: Training) -> int:
    """How many other trainings come before it in the queue."""
    jobs = POOL.before(training.job) if training.job else []
    return sum(job.order.work is learn for job in jobs)


def _remove(name: str, trainings: dict[str, Training]) -> Training | None:
    """Take a training out, if it is there, and cancel its job."""
    training = trainings.pop(name, None)
    if training is not None and training.job is not None:
        POOL.cancel(training.job)
    return training


def _submit(training: Training, begin: Any, steps: int | None) -> None:
    args = (begin, training.text, steps, 60 * config().train_minutes)
    try:
        training.job = POOL.submit(Order(learn, None, "cpu", {}, args), visit().tab_is_open)
        training.n_read, training.problem = 0, ""
    except QueueIsFullError as error:
        training.problem = str(error)


def _take_in(training: Training) -> None:
    """Read the new messages of its job, and the outcome once that has ended."""
    job = training.job
    if job is None:
        return
    ended = job.ended  # before its messages are read: none follows after that
    for message in job.updates[training.n_read :]:
        if isinstance(message, Reading):
            training.reading = message
        elif training.moments and message[0].step == training.moments[-1][0].step:
            training.moments[-1] = message
        else:
            training.moments.append(message)
        training.n_read += 1
    if ended:
        training.job = None
        if job.status is JobStatus.DONE:
            training.learned = job.result
        elif job.status is JobStatus.FAILED:
            training.problem = job.problem
        job.updates.clear()


def _watch(training: Training, text: str) -> None:
    """Watch another sentence from now on."""
    if text == training.text:
        return
    if training.job is None and training.learned is not None:
        training.text = text
        _submit(training, training.learned.learners, 0)
    elif training.status is Status.RUNS and training.job is not None:
        training.text = text
        POOL.send(training.job, text)
