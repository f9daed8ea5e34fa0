"""Measurements, computed beside the pages: a first by itself, kept for all; more at a button."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

import streamlit as st
import torch

from ffnviz.jobs.job_pool import JOB_POOL, Contention, Job, JobStatus, Order, QueueIsFullError
from ffnviz.jobs.serial_queue import heavy
from ffnviz.models.device import device_name
from ffnviz.parts.part import Navigator
from ffnviz.parts.results import REPEATS, STOPS
from ffnviz.pictures.declare import is_collecting
from ffnviz.pictures.slider import slider
from ffnviz.state.run import Run

LOOK_EVERY_S = 0.5

R = TypeVar("R")


@dataclass(frozen=True)
class Measurement(Generic[R]):
    """A result, and what it was measured on.

    Attributes:
        setup: twin, block, sentence, device and repeats: whatever it depends on.
        result: what was measured.
        when: the time of day.
        where: the device in words.
        shared: with whom it shared the machine.
    """

    setup: tuple[object, ...]
    result: R
    when: str
    where: str
    shared: Contention | None = None


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Waits until no other visitor computes anything heavy, and says for how many it waits."""
    bars: list[Any] = []  # one, if there is any waiting
    said = 0

    def waiting(others: int) -> None:
        nonlocal said
        stop_if_unwanted()
        if others != said:
            said = others
            text = _waiting_for(others)
            bars[:] = [bars[0].progress(0.0, text) if bars else st.progress(0.0, text)]

    with heavy(waiting):
        for bar in bars:
            bar.empty()
        yield


def _waiting_for(others: int) -> str:
    return f"Waiting for {others} {'other' if others == 1 else 'others'} …"


def stop_if_unwanted(_: float = 0.0) -> None:
    """Ends this run if its tab was closed or wants something newer; may be told a progress.

    Any use of the session does: Streamlit looks there whether the run is still wanted.
    """
    "measured" in st.session_state  # noqa: B015


@dataclass(frozen=True)
class MeasurementRequest:
    """A measurement that was asked for.

    Attributes:
        job: on its way.
        setup: what it is of.
        where: the device in words.
        by_all: whether it began by itself, for all who look at it, so that none may cancel it.
    """

    job: Job
    setup: tuple[object, ...]
    where: str
    by_all: bool = False


def measure_button(
    name: str,
    setup: tuple[object, ...],
    run: Run,
    work: Callable[..., R],
    *args: object,
    label: str = "Measure",
    doing: str = "Measuring …",
    once: bool = False,
) -> Measurement[R] | None:
    """A button that measures anew, with a progress bar; a first result comes without a press.

    The first result for a network and settings is kept for everybody: whoever comes later has it
    at once, with the time at which it was measured. It is computed in another process: the page
    goes on meanwhile, and this returns None until there is a result.

    Args:
        name: of the measurement, unique on the page.
        setup: what it depends on now; a result for something else is marked as old.
        run: what the page shows.
        work: a function of a module, called in another process with a Run, what is told the
            progress, and `args`; it returns what can be pickled.
        args: what it needs besides.
        label: on the button.
        doing: on the progress bar.
        once: whether another measurement would have the same result, so that there is a button only
            where the first has failed.
    """
    kept: dict[str, Measurement[R]] = st.session_state.setdefault("measured", {})
    if name not in kept:
        with suppress(LookupError):
            kept[name] = run.subject.cached(("measured", name, setup), _not_there)
    order = Order(work, run.state, run.device, run.networks, args)
    by_itself = name not in kept
    return _measured(name, setup, run, order, label, doing, by_itself=by_itself, once=once)


def on_request(
    name: str,
    setup: tuple[object, ...],
    run: Run,
    work: Callable[..., R],
    *args: object,
    label: str,
    doing: str,
) -> Measurement[R] | None:
    """The same for what takes long and few want: nothing is measured until it is asked for."""
    order = Order(work, run.state, run.device, run.networks, args)
    return _measured(name, setup, run, order, label, doing, by_itself=False)


def _not_there() -> Measurement[R]:
    raise LookupError


def _measured(
    name: str,
    setup: tuple[object, ...],
    run: Run,
    order: Order,
    label: str,
    doing: str,
    *,
    by_itself: bool,
    once: bool = False,
) -> Measurement[R] | None:
    if is_collecting():
        return _at_once(setup, run, order)
    kept: dict[str, Measurement[R]] = st.session_state.setdefault("measured", {})
    asked: dict[str, MeasurementRequest] = st.session_state.setdefault("asked", {})
    refused: set[str] = st.session_state.setdefault("refused", set())
    problem = None
    if name in asked and asked[name].job.ended:
        problem = _take_in(asked.pop(name), name, kept, run)
        refused.add(name)  # neither what failed nor what was cancelled begins again by itself
    JOB_POOL.warm_up()
    pressed = (not once or (name in refused and name not in kept)) and st.button(
        label, key=f"measure-{name}", disabled=name in asked
    )
    if (pressed or (by_itself and name not in refused)) and name not in asked:
        where = f"{device_name(run.model.device)}; PyTorch {torch.__version__}"
        try:
            if pressed:
                asked[name] = MeasurementRequest(JOB_POOL.submit(order, _is_there()), setup, where)
            else:
                asked[name] = _asked_by_all((name, run.card.id, run.device), order, setup, where)
        except QueueIsFullError as error:
            problem = str(error)
            refused.add(name)
    if problem:
        st.warning(problem)
    if name in asked:
        _on_its_way(name, doing)
    return kept.get(name)


def _at_once(setup: tuple[object, ...], run: Run, order: Order) -> Measurement[R]:
    """For a file: it is made once, and nobody waits beside it."""
    result: Any = order.work(run, lambda _: None, *order.args)
    where = f"{device_name(run.model.device)}; PyTorch {torch.__version__}"
    return Measurement(setup, result, f"{datetime.now():%H:%M:%S}", where)


_BY_ALL: dict[tuple[object, ...], tuple[MeasurementRequest, list[Callable[[], bool]]]] = {}
_LOCK = threading.Lock()


def _asked_by_all(
    name: tuple[object, ...], order: Order, setup: tuple[object, ...], where: str
) -> MeasurementRequest:
    """A first result: one for all who ask while it is on its way."""
    with _LOCK:
        for key in [key for key, (asked, _) in _BY_ALL.items() if asked.job.ended]:
            del _BY_ALL[key]
        if (*name, setup) not in _BY_ALL:
            askers: list[Callable[[], bool]] = []
            job = JOB_POOL.submit(order, lambda: any(is_there() for is_there in askers))
            _BY_ALL[*name, setup] = MeasurementRequest(job, setup, where, by_all=True), askers
        asked, askers = _BY_ALL[*name, setup]
        askers.append(_is_there())
        return asked


def _is_there() -> Callable[[], bool]:
    """What tells whether this session's tab is open; the app knows."""
    known: Callable[[], bool] = st.session_state.get("tab_is_open", lambda: True)
    return known


def _take_in(
    asked: MeasurementRequest, name: str, kept: dict[str, Measurement[R]], run: Run
) -> str:
    """Keep what came of it, a first result for all; why nothing did, if somebody has to know."""
    job = asked.job
    if job.status is JobStatus.DONE:
        when = f"{datetime.now():%H:%M:%S}"
        found = Measurement(asked.setup, job.result, when, asked.where, job.contention)
        first = run.subject.cached(("measured", name, asked.setup), lambda: found)
        kept[name] = first if asked.by_all else found
    return job.problem


@st.fragment(run_every=LOOK_EVERY_S)
def _on_its_way(name: str, doing: str) -> None:
    """How far it is, and a button that stops it; the page runs again when it is done."""
    asked: MeasurementRequest | None = st.session_state["asked"].get(name)
    if asked is None or asked.job.ended:
        st.rerun()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(asked.job.share, _before(asked.job) or doing)
        if not asked.by_all:
            st.button("Cancel", key=f"cancel-{name}", on_click=JOB_POOL.cancel, args=(asked.job,))


def _before(job: Job) -> str:
    """What a measurement waits for, in words; empty if it runs."""
    own = {id(asked.job) for asked in st.session_state["asked"].values()}
    before = JOB_POOL.before(job)
    others = sum(id(each) not in own for each in before)
    if before and not others:
        return "Waiting for the measurement that you asked for before …"
    return _waiting_for(others) if others else ""


def about(measured: Measurement[R], setup: tuple[object, ...], run: Run) -> None:
    """When and on what it was measured, and whether that is still what the page shows."""
    st.markdown(f"Measured at **{measured.when}** on {measured.where}.")
    shared = measured.shared
    if shared is not None and shared.matters:
        st.markdown(
            f"The machine was busy with other things as well: this measurement had "
            f"{shared.processor:.0%} of a processor, and pages were made in {shared.pages:.0%} of "
            "the time. The times may be too long; measure again when it is quiet."
        )
    if measured.setup != setup:
        st.warning(
            "This was measured for another sentence or setting. Press “Measure” for this one: "
            f"{len(run.labels)} tokens, {run.card.label}, block {run.state.block + 1}."
        )


def repeats_slider(navigator: Navigator, key: str) -> None:
    """How often each thing is run."""
    repeats = navigator.value(REPEATS)
    stops = sorted({*STOPS, repeats})
    slider(
        "runs of each",
        [f"{stop:,}" for stop in stops],
        stops.index(repeats),
        key=f"repeats-{key}",
        on_choose=lambda stop, done: navigator.choose(REPEATS, stops[stop], done),
    )
