"""The partner's trace is made beside the subject's, once, and only where nobody waits."""

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ffnviz.jobs import run_queue as ahead
from ffnviz.jobs.run_queue import RunQueue
from ffnviz.models.encoder.model import Model, load
from ffnviz.models.trace import Trace
from tests.run_factory import run_of


@pytest.fixture
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)


def traced_by(model: Model, threads: list[str]) -> Any:
    """A run with a partner; in which threads its trace was made is noted."""
    run, partner = run_of(model, "the old dog"), run_of(model, "the old dog").subject

    def trace() -> Trace:
        threads.append(threading.current_thread().name)
        return model.trace("the old dog")

    return replace(run, partner=replace(partner, new_trace=trace))


@pytest.mark.usefixtures("two_cores")
def test_it_is_made_once_and_in_another_thread(model_folder: Path) -> None:
    threads: list[str] = []
    run = traced_by(load(model_folder), threads)
    assert ahead.trace_ahead(run)
    ahead._executor().submit(int).result(60)
    here = load(model_folder).trace("the old dog").final
    assert (run.partner.whole.final == here).all()
    assert [name.startswith("trace-ahead") for name in threads] == [True]


@pytest.mark.usefixtures("two_cores")
def test_who_waits_for_a_turn_needs_the_core_more(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue, threads = RunQueue(), list[str]()
    queue._waiting.append(queue.place())
    monkeypatch.setattr(ahead, "RUN_QUEUE", queue)
    assert not ahead.trace_ahead(traced_by(load(model_folder), threads))
    assert threads == []


@pytest.mark.usefixtures("two_cores")
def test_what_goes_wrong_is_told_to_who_asks(model_folder: Path) -> None:
    run = traced_by(load(model_folder), [])

    def fails() -> Trace:
        raise MemoryError("no room")

    partner = replace(run.partner, new_trace=fails)
    assert ahead.trace_ahead(replace(run, partner=partner))
    ahead._executor().submit(int).result(60)
    with pytest.raises(MemoryError, match="no room"):
        _ = partner.whole


def test_one_network_has_nothing_beside_it(model_folder: Path) -> None:
    assert not ahead.trace_ahead(run_of(load(model_folder), "the old dog"))
