"""Measurements of the sheet that is shown, computed beside the pages.

A first result comes by itself and is kept for everybody: later visitors have it at once, with the
time at which it was measured. More come at a button. They are computed in another process; the page
goes on meanwhile.
"""

import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import streamlit as st

from ffnviz.app import training
from ffnviz.app.mounting import mount_cell
from ffnviz.jobs.job import Job, JobStatus, Order
from ffnviz.jobs.job_pool import JOB_POOL, QueueIsFullError
from ffnviz.parts.results import where
from ffnviz.parts.sheet import Measured, Measurement
from ffnviz.pictures.cell import Cell
from ffnviz.state.run import Run

LOOK_EVERY_S = 0.5


@dataclass(frozen=True)
class Request:
    """A measurement that is under way."""

    job: Job
    setup: tuple[object, ...]  # the measurement's
    where: str  # the device in words
    by_all: bool = False  # whether it began by itself, for all who look, who cannot cancel it


@dataclass
class Requests:
    """What one session has measured and asked for, by the names of the measurements."""

    results: dict[str, Measured[Any]] = field(default_factory=dict)  # the last of each
    under_way: dict[str, Request] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)  # failed or cancelled: a button begins anew
    problems: list[str] = field(default_factory=list)  # to be said once


def _requests() -> Requests:
    requests: Requests = st.session_state.setdefault("requests", Requests())
    return requests


def result_of(measurement: Measurement[Any], run: Run) -> Measured[Any] | None:
    """The last result of a measurement, if there is one; a first begins to be measured."""
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
    """Measure again, as the button asks."""
    if measurement.name not in _requests().under_way:
        _start(measurement, run, by_all=False)


def with_buttons(
    measurements: Iterable[Measurement[Any]],
) -> dict[str, tuple[Measurement[Any], bool]]:
    """The measurements that have a button or are under way, by name, with whether they are."""
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
            else Request(JOB_POOL.submit(order, _tab_is_open()), setup, where(run))
        )  # fmt: skip
    except QueueIsFullError as error:
        requests.problems.append(str(error))
        requests.refused.add(name)


_BY_ALL: dict[tuple[object, ...], tuple[Request, list[Callable[[], bool]]]] = {}
_LOCK = threading.Lock()


def _asked_by_all(
    name: tuple[object, ...], order: Order, setup: tuple[object, ...], where: str
) -> Request:
    """The request of a first result, which all share who ask while it is under way."""
    with _LOCK:
        for key in [key for key, (request, _) in _BY_ALL.items() if request.job.ended]:
            del _BY_ALL[key]
        if (*name, setup) not in _BY_ALL:
            tabs: list[Callable[[], bool]] = []
            job = JOB_POOL.submit(order, lambda: any(is_open() for is_open in tabs))
            _BY_ALL[*name, setup] = Request(job, setup, where, by_all=True), tabs
        request, tabs = _BY_ALL[*name, setup]
        tabs.append(_tab_is_open())
        return request


def _tab_is_open() -> Callable[[], bool]:
    """A function that says, from any thread, whether this session's tab is open."""
    is_open: Callable[[], bool] = st.session_state.get("tab_is_open", lambda: True)
    return is_open


def _take_in(name: str, run: Run) -> None:
    """Keep the outcome of a request that has ended; a first result for all."""
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
    """Have measurements whose names begin so measured anew when they are next shown."""
    requests = _requests()
    for name in {*requests.results, *requests.refused}:
        if name.startswith(prefix) and name != but:
            requests.results.pop(name, None)
            requests.refused.discard(name)


def problems() -> list[str]:
    """What went wrong since the last call."""
    requests = _requests()
    new, requests.problems = requests.problems, []
    return new


def cancel(measurement: Measurement[Any]) -> None:
    """Stop a measurement that this session asked for."""
    request = _requests().under_way.get(measurement.name)
    if request is not None and not request.by_all:
        JOB_POOL.cancel(request.job)


def watch(measurements: Iterable[Measurement[Any]]) -> None:
    """Show how far those under way are; run the page again when one has ended."""
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
