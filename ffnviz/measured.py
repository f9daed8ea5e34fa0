"""Measurements: computed beside the pages, and kept until the next press of a button."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Generic, TypeVar

import streamlit as st
import torch
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime import exists, get_instance
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ffnviz.beside import POOL, Fate, Job, Order, QueueIsFullError, Shared
from ffnviz.components.slider import slider
from ffnviz.heavy import heavy
from ffnviz.model.device import device_name
from ffnviz.page import Navigator
from ffnviz.run import Run
from ffnviz.settings import count_setting

LOOK_EVERY_S = 0.5
STOPS = (10, 20, 50, 100, 200, 500)
REPEATS = count_setting("repeats", 50, 5, 1_000)

R = TypeVar("R")


@dataclass(frozen=True)
class Measured(Generic[R]):
    """A result, and what it was measured on.

    Attributes:
        of: twin, block, sentence, device and repeats: whatever it depends on.
        result: what was measured.
        when: the time of day.
        where: the device in words.
        shared: with whom it shared the machine.
    """

    of: tuple[object, ...]
    result: R
    when: str
    where: str
    shared: Shared | None = None


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Waits until no other visitor computes anything heavy, and says for how many it waits."""
    bars: list[DeltaGenerator] = []  # one, if there is any waiting
    said = 0

    def waiting(others: int) -> None:
        nonlocal said
        stop_if_unwanted()
        if others != said:
            said = others
            text = f"Waiting for {others} {'other' if others == 1 else 'others'} …"
            bars[:] = [bars[0].progress(0.0, text) if bars else st.progress(0.0, text)]

    with heavy(waiting):
        for bar in bars:
            bar.empty()
        yield


def stop_if_unwanted(_: float = 0.0) -> None:
    """Ends this run if its tab was closed or wants something newer; may be told a progress.

    Any use of the session does: Streamlit looks there whether the run is still wanted.
    """
    "measured" in st.session_state  # noqa: B015


@dataclass(frozen=True)
class Asked:
    """A measurement that was asked for.

    Attributes:
        job: on its way.
        of: what it is of.
        where: the device in words.
    """

    job: Job
    of: tuple[object, ...]
    where: str


def measure_button(
    name: str,
    of: tuple[object, ...],
    run: Run,
    work: Callable[..., R],
    *args: object,
    label: str = "Measure",
    doing: str = "Measuring …",
) -> Measured[R] | None:
    """A button that measures, with a progress bar; the last result, if there is one.

    It is computed in another process: the page goes on meanwhile.

    Args:
        name: of the measurement, unique on the page.
        of: what it depends on now; a result for something else is marked as old.
        run: what it is measured on.
        work: a function of a module: takes the run, what is told the progress, and `args`.
        args: can be pickled, as what comes back.
        label: on the button.
        doing: on the progress bar.
    """
    kept: dict[str, Measured[R]] = st.session_state.setdefault("measured", {})
    asked: dict[str, Asked] = st.session_state.setdefault("asked", {})
    problem = None
    if name in asked and asked[name].job.ended:
        problem = _take_in(asked.pop(name), name, kept)
    POOL.warm_up()
    if st.button(label, key=f"measure-{name}", disabled=name in asked) and name not in asked:
        order = Order(work, run.state, run.device, run.networks, args)
        where = f"{device_name(run.model.device)}; PyTorch {torch.__version__}"
        try:
            asked[name] = Asked(POOL.submit(order, _is_there()), of, where)
        except QueueIsFullError as error:
            problem = str(error)
    if problem:
        st.warning(problem)
    if name in asked:
        _on_its_way(name, doing)
    return kept.get(name)


def _is_there() -> Callable[[], bool]:
    """What tells whether this session's tab is open."""
    context = get_script_run_ctx()
    if context is None or not exists():
        return lambda: True
    return partial(get_instance().is_active_session, context.session_id)


def _take_in(asked: Asked, name: str, kept: dict[str, Measured[R]]) -> str:
    """Keep what came of it; why nothing did, if somebody has to know."""
    job = asked.job
    if job.fate is Fate.DONE:
        when = f"{datetime.now():%H:%M:%S}"
        kept[name] = Measured(asked.of, job.result, when, asked.where, job.shared)
    return job.problem


@st.fragment(run_every=LOOK_EVERY_S)
def _on_its_way(name: str, doing: str) -> None:
    """How far it is, and a button that stops it; the page runs again when it is done."""
    asked: Asked | None = st.session_state["asked"].get(name)
    if asked is None or asked.job.ended:
        st.rerun()
    others = POOL.others_before(asked.job)
    waits = f"Waiting for {others} {'other' if others == 1 else 'others'} …"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(asked.job.share, waits if others else doing)
        st.button("Cancel", key=f"cancel-{name}", on_click=POOL.cancel, args=(asked.job,))


def about(measured: Measured[R], of: tuple[object, ...], run: Run) -> None:
    """When and on what it was measured, and whether that is still what the page shows."""
    st.markdown(f"Measured at **{measured.when}** on {measured.where}.")
    shared = measured.shared
    if shared is not None and shared.much:
        st.markdown(
            f"The machine was busy with other things as well: this measurement had "
            f"{shared.processor:.0%} of a processor, and pages were made in {shared.pages:.0%} of "
            "the time. The times may be too long; measure again when it is quiet."
        )
    if measured.of != of:
        st.warning(
            f"This was measured for another sentence or setting. Measure again for this one: "
            f"{len(run.labels)} tokens, {run.card.label}, block "
            f"{run.state.block + 1}."
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
