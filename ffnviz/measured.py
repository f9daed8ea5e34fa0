"""Measurements: one at a time in the whole process; a first by itself, more at a button."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Generic, TypeVar

import streamlit as st
import torch
from streamlit.delta_generator import DeltaGenerator

from ffnviz.analysis.spread import Progress
from ffnviz.components.slider import slider
from ffnviz.heavy import heavy
from ffnviz.model.device import device_name
from ffnviz.page import Navigator
from ffnviz.run import Run
from ffnviz.settings import count_setting

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
    """

    of: tuple[object, ...]
    result: R
    when: str
    where: str


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


def measure_button(
    name: str,
    of: tuple[object, ...],
    run: Run,
    measure: Callable[[Progress], R],
    label: str = "Measure",
    doing: str = "Measuring …",
) -> Measured[R]:
    """A button that measures anew, with a progress bar; a first result is there without a press.

    The first result for a network and settings is kept for everybody: whoever comes later has it
    at once, with the time at which it was measured.

    Args:
        name: of the measurement, unique on the page.
        of: what it depends on now; a result for something else is marked as old.
        run: whose device it is measured on.
        measure: takes what is told the progress.
        label: on the button.
        doing: on the progress bar.
    """
    kept: dict[str, Measured[R]] = st.session_state.setdefault("measured", {})
    pressed = st.button(label, key=f"measure-{name}")
    if not pressed and name in kept:
        return kept[name]
    with _progress(doing) as progress:
        work = partial(_measured, of, run, measure, progress)
        kept[name] = work() if pressed else run.subject.cached(("measured", name, of), work)
    return kept[name]


def on_request(
    name: str,
    of: tuple[object, ...],
    run: Run,
    measure: Callable[[Progress], R],
    label: str,
    doing: str,
) -> Measured[R] | None:
    """The same for what takes long and few want: nothing is measured until it is asked for."""
    kept: dict[str, Measured[R]] = st.session_state.setdefault("measured", {})
    if st.button(label, key=f"measure-{name}"):
        with _progress(doing) as progress:
            kept[name] = _measured(of, run, measure, progress)
    return kept.get(name)


def _measured(
    of: tuple[object, ...], run: Run, measure: Callable[[Progress], R], progress: Progress
) -> Measured[R]:
    with one_at_a_time():
        result = measure(progress)
    where = f"{device_name(run.model.device)}; PyTorch {torch.__version__}"
    return Measured(of, result, f"{datetime.now():%H:%M:%S}", where)


@contextmanager
def _progress(doing: str) -> Iterator[Progress]:
    bar = st.progress(0.0, doing)

    def progress(share: float) -> None:
        bar.progress(min(1.0, share), doing)

    yield progress
    bar.empty()


def about(measured: Measured[R], of: tuple[object, ...], run: Run) -> None:
    """When and on what it was measured, and whether that is still what the page shows."""
    st.markdown(f"Measured at **{measured.when}** on {measured.where}.")
    if measured.of != of:
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
