"""Measurements of the sheet that is shown, computed beside the pages.

A first result comes by itself and is kept for everybody: whoever comes later has it at once, with
the time at which it was measured. More come at a button. They are computed in other processes; the
page goes on meanwhile.
"""

import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import streamlit as st

from ffnviz.app import training
from ffnviz.app.mounting import mount_cell
from ffnviz.jobs.job_pool import JOB_POOL, Job, JobStatus, Order, QueueIsFullError
from ffnviz.parts.results import where
from ffnviz.parts.sheet import Measured, Measurement
from ffnviz.pictures.cell import Cell
from ffnviz.state.run import Run

LOOK_EVERY_S = 0.5


@dataclass(frozen=True)
class Request:
    """A measurement that is under way.

    Attributes:
        job: what computes it.
        setup: what it is of.
        where: the device in words.
        by_all: whether it began by itself, for all who look at it, so that none may cancel it.
    """

    job: Job
    setup: tuple[object, ...]
    where: str
    by_all: bool = False


@dataclass
class Requests:
    """What one session has measured and asked for, by the names of the measurements.

    Attributes:
        results: the last of each.
        under_way: asked for and not ended.
        refused: that neither begin again by themselves nor are without a button: what failed, what
            was cancelled.
        problems: to be said once.
    """

    results: dict[str, Measured[Any]]
    under_way: dict[str, Request]
    refused: set[str]
    problems: list[str]


def _requests() -> Requests:
    requests: Requests = st.session_state.setdefault("requests", Requests({}, {}, set(), []))
    return requests


def result_of(measurement: Measurement[Any], run: Run) -> Measured[Any] | None:
    """Its last result, if there is one; a first begins to be measured."""
    if measurement.live:
        return training.course_of(measurement)
    requests, name = _requests(), measurement.name
    JOB_POOL.warm_up()
    if name in requests.under_way and requests.under_way[name].job.ended:
        _take_in(name, run)
    if name not in requests.results and not measurement.on_request:
        with suppress(LookupError):
            key = ("measured", name, measurement.setup)
            requests.results[name] = run.subject.cached(key, _not_there)
    first = name not in requests.results and not measurement.on_request
    if first and name not in requests.under_way and name not in requests.refused:
        _start(measurement, run, by_all=True)
    return requests.results.get(name)


def start(measurement: Measurement[Any], run: Run) -> None:
    """Measure again: somebody pressed the button."""
    if measurement.name not in _requests().under_way:
        _start(measurement, run, by_all=False)


def with_buttons(
    measurements: Iterable[Measurement[Any]],
) -> dict[str, tuple[Measurement[Any], bool]]:
    """Those that have a button or are under way, by name; with whether they are."""
    requests = _requests()
    return {
        each.name: (each, each.name in requests.under_way)
        for each in measurements
        if not (each.once or each.live)
        or each.name in requests.under_way
        or (each.name in requests.refused and each.name not in requests.results)
    }


def _not_there() -> Measured[Any]:
    raise LookupError


def _start(measurement: Measurement[Any], run: Run, *, by_all: bool) -> None:
    requests, name, setup = _requests(), measurement.name, measurement.setup
    order = Order(measurement.work, run.state, run.device, run.networks, measurement.args)
    try:
        requests.under_way[name] = (
            _asked_by_all((name, run.card.id, run.device), order, setup, where(run)) if by_all
            else Request(JOB_POOL.submit(order, _is_there()), setup, where(run))
        )  # fmt: skip
    except QueueIsFullError as error:
        requests.problems.append(str(error))
        requests.refused.add(name)


_BY_ALL: dict[tuple[object, ...], tuple[Request, list[Callable[[], bool]]]] = {}
_LOCK = threading.Lock()


def _asked_by_all(
    name: tuple[object, ...], order: Order, setup: tuple[object, ...], where: str
) -> Request:
    """A first result: one for all who ask while it is on its way."""
    with _LOCK:
        for key in [key for key, (request, _) in _BY_ALL.items() if request.job.ended]:
            del _BY_ALL[key]
        if (*name, setup) not in _BY_ALL:
            askers: list[Callable[[], bool]] = []
            job = JOB_POOL.submit(order, lambda: any(is_there() for is_there in askers))
            _BY_ALL[*name, setup] = Request(job, setup, where, by_all=True), askers
        request, askers = _BY_ALL[*name, setup]
        askers.append(_is_there())
        return request


def _is_there() -> Callable[[], bool]:
    """What tells whether this session's tab is open; the session knows."""
    known: Callable[[], bool] = st.session_state.get("tab_is_open", lambda: True)
    return known


def _take_in(name: str, run: Run) -> None:
    """Keep what came of it, a first result for all."""
    requests = _requests()
    request = requests.under_way.pop(name)
    requests.refused.add(name)  # neither what failed nor what was cancelled begins again by itself
    job = request.job
    if job.status is JobStatus.DONE:
        when = f"{datetime.now():%H:%M:%S}"
        result = Measured(request.setup, job.result, when, request.where, job.contention)
        first = run.subject.cached(("measured", name, request.setup), lambda: result)
        requests.results[name] = first if request.by_all else result
    if job.problem:
        requests.problems.append(job.problem)


def forget(prefix: str, but: str = "") -> None:
    """Measure anew, when it is next shown, what has a name that begins so."""
    requests = _requests()
    names = {*requests.results, *requests.refused}
    for name in [name for name in names if name.startswith(prefix) and name != but]:
        requests.results.pop(name, None)
        requests.refused.discard(name)


def problems() -> list[str]:
    """What went wrong since it was last asked; each is said once."""
    requests = _requests()
    said, requests.problems = requests.problems, []
    return said


def cancel(measurement: Measurement[Any]) -> None:
    """Stop one that this session asked for."""
    request = _requests().under_way.get(measurement.name)
    if request is not None and not request.by_all:
        JOB_POOL.cancel(request.job)


def watch(measurements: Iterable[Measurement[Any]]) -> None:
    """While any of these is under way, tell the browser how far; run again when one has ended."""
    names = [each.name for each in measurements if each.name in _requests().under_way]
    if names:
        _watch(names)


@st.fragment(run_every=LOOK_EVERY_S)
def _watch(names: list[str]) -> None:
    under_way = _requests().under_way
    watched = {name: under_way[name] for name in names if name in under_way}
    if len(watched) < len(names) or any(each.job.ended for each in watched.values()):
        st.rerun()
    shares = [
        {"name": name, "share": each.job.share, "waits": _waits_for(each.job),
         "mine": not each.by_all}
        for name, each in watched.items()
    ]  # fmt: skip
    mount_cell(Cell("progress", "progress", {"measurements": shares}))


def _waits_for(job: Job) -> str:
    """What a measurement waits for, in words; empty if it runs."""
    own = {id(request.job) for request in _requests().under_way.values()}
    before = JOB_POOL.before(job)
    others = sum(id(each) not in own for each in before)
    if before and not others:
        return "Waiting for the measurement that you asked for before …"
    return f"Waiting for {others} {'other' if others == 1 else 'others'} …" if others else ""
