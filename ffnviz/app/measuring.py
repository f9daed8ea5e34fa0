"""Measurements of the sheet that is shown, computed beside the pages.

They come by themselves, in another process, while the page goes on. Who looks at the same waits
for the same; what nobody looks at any more is cancelled. A result is kept for everybody, with the
time at which it was measured, until somebody asks for another.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable
from datetime import datetime
from typing import Any

import streamlit as st

from ffnviz.app import training
from ffnviz.app.mounting import mount_cell
from ffnviz.app.visit import Request, Requests, visit
from ffnviz.jobs.job import Job, JobStatus, Order
from ffnviz.jobs.job_pool import JOB_POOL, QueueIsFullError
from ffnviz.parts.sheet import Measured, Measurement, where
from ffnviz.pictures.cell import Cell
from ffnviz.state.cache import bytes_held
from ffnviz.state.run import Run

LOOK_EVERY_S = 0.5
MOST_KEPT, LARGEST_KEPT = 128, 2**20  # results that all share, and bytes of one

Key = tuple[object, ...]

_KEPT: OrderedDict[Key, Measured[Any]] = OrderedDict()  # the last used last
_UNDER_WAY: dict[Key, Request] = {}
_LOCK = threading.Lock()


def result_of(measurement: Measurement[Any], run: Run) -> Measured[Any] | None:
    """The last result, or what there is so far; what has none of its setup begins."""
    if measurement.live:
        return training.course_of(measurement)
    requests, name, setup = visit().requests, measurement.name, measurement.setup
    JOB_POOL.warm_up()
    request = requests.under_way.get(name)
    if request is not None and request.setup != setup:
        _leave(name)
    elif request is not None and request.job.ended:
        _take_in(name)
    result = requests.results.get(name)
    if not measurement.on_request and (result is None or result.setup != setup):
        with _LOCK:
            result = _KEPT.get(_key(measurement, run), result)
        if result is not None:
            requests.results[name] = result
        new = result is None or result.setup != setup
        if new and requests.refused.get(name) != setup and not visit().moving:
            start(measurement, run)
    request = requests.under_way.get(name)
    if request is not None and request.job.updates:
        so_far = request.job.updates[-1]
        return Measured(setup, so_far, f"{len(request.job.updates)}", request.where, partial=True)
    return result


def start(measurement: Measurement[Any], run: Run) -> None:
    """Measure, or wait for what somebody else measures just now."""
    requests, tab_is_open, name = visit().requests, visit().tab_is_open, measurement.name
    if name in requests.under_way:
        return
    order = Order(measurement.work, run.state, run.device, run.networks, measurement.args)
    key = _key(measurement, run)
    try:
        with _LOCK:
            for ended in [each for each, one in _UNDER_WAY.items() if one.job.ended]:
                del _UNDER_WAY[ended]
            request = _UNDER_WAY.get(key)
            if request is None:
                waiting: dict[Requests, Callable[[], bool]] = {}
                job = JOB_POOL.submit(order, lambda: any(each() for each in [*waiting.values()]))
                request = Request(job, measurement.setup, where(run), key, waiting)
            request.waiting[requests] = tab_is_open
            _UNDER_WAY[key] = requests.under_way[name] = request
    except QueueIsFullError as error:
        requests.problems.append(str(error))
        requests.refused[name] = measurement.setup


def _key(measurement: Measurement[Any], run: Run) -> Key:
    return (measurement.name, run.card.id, run.device, measurement.setup)


def is_under_way(measurement: Measurement[Any]) -> bool:
    """Whether this session waits for it."""
    return measurement.name in visit().requests.under_way


def with_buttons(
    measurements: Iterable[Measurement[Any]],
) -> dict[str, tuple[Measurement[Any], bool]]:
    """The measurements that can be made again, by name, with whether they are under way.

    Until there is a result of their setup, the button is where that will stand.
    """
    requests = visit().requests
    return {
        each.name: (each, each.name in requests.under_way)
        for each in measurements
        if not (each.once or each.live)
        and (result := requests.results.get(each.name)) is not None
        and result.setup == each.setup
    }


def _take_in(name: str) -> None:
    """Keep the outcome of a request that has ended, for all."""
    requests = visit().requests
    request = requests.under_way.pop(name)
    job = request.job
    if job.status is not JobStatus.DONE:
        requests.refused[name] = request.setup  # what failed does not begin again by itself
        requests.problems += [job.problem] if job.problem else []
        return
    requests.refused.pop(name, None)
    with _LOCK:
        if request.result is None:  # nobody else who waited for it has taken it in
            when = f"{datetime.now():%H:%M:%S}"
            request.result = Measured(
                request.setup, job.result, when, request.where, job.contention
            )
            if bytes_held(job.result) <= LARGEST_KEPT:
                _KEPT[request.key] = request.result
                _KEPT.move_to_end(request.key)
                while len(_KEPT) > MOST_KEPT:
                    _KEPT.popitem(last=False)
    requests.results[name] = request.result


def _leave(name: str) -> None:
    """Wait for a request no more; if nobody else does, it is cancelled."""
    requests = visit().requests
    request = requests.under_way.pop(name)
    with _LOCK:
        request.waiting.pop(requests, None)
        left_alone = not request.waiting
        if left_alone and _UNDER_WAY.get(request.key) is request:
            del _UNDER_WAY[request.key]
    if left_alone:
        JOB_POOL.cancel(request.job)


def leave_all_but(names: Collection[str]) -> None:
    """Wait for nothing that is not looked at any more."""
    for name in [each for each in visit().requests.under_way if each not in names]:
        _leave(name)


def cancel(measurement: Measurement[Any]) -> None:
    """Wait for a measurement no more, and not begin it again by itself."""
    if is_under_way(measurement):
        _leave(measurement.name)
        visit().requests.refused[measurement.name] = measurement.setup


def forget(prefix: str, but: str = "") -> None:
    """Have measurements whose names begin so measured anew when they are next shown."""
    requests = visit().requests
    for name in {*requests.results, *requests.refused}:
        if name.startswith(prefix) and name != but:
            requests.results.pop(name, None)
            requests.refused.pop(name, None)


def problems() -> list[str]:
    """What went wrong since the last call."""
    requests = visit().requests
    new, requests.problems = requests.problems, []
    return new


def watch(measurements: Iterable[Measurement[Any]]) -> None:
    """Show how far those under way are; run the page again when one has ended or has got on."""
    under_way = visit().requests.under_way
    seen = {
        each.name: len(under_way[each.name].job.updates)
        for each in measurements
        if each.name in under_way
    }
    if seen:
        _watch(seen)


@st.fragment(run_every=LOOK_EVERY_S)
def _watch(seen: dict[str, int]) -> None:
    under_way = visit().requests.under_way
    watched = {name: under_way[name].job for name in seen if name in under_way}
    if len(watched) < len(seen) or any(
        job.ended or len(job.updates) > seen[name] for name, job in watched.items()
    ):
        st.rerun()
    told = [_told(name, job) for name, job in watched.items()]
    mount_cell(Cell("progress", "progress", {"measurements": told}))


def _told(name: str, job: Job) -> dict[str, Any]:
    """What the browser hears of a measurement under way.

    The seconds left include all that must end before; None if nobody knows.
    """
    before = JOB_POOL.before(job)
    n = len(before)
    seconds = [each.left for each in (*before, job)]
    known = [each for each in seconds if each is not None]
    return {
        "name": name,
        "share": job.share,
        "waits": f"Waiting for {n} other{'s' * (n > 1)} …" if n else "",
        "left": sum(known) if len(known) == len(seconds) else None,
    }
