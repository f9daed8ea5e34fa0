"""Page runs take turns, and what goes on beside them: nobody waits for ever."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ffnviz.jobs import run_queue as ahead
from ffnviz.jobs.memory import repeat
from ffnviz.jobs.run_queue import OLDEST_EVERY, PAUSES_MS, QueuedRun, RunQueue
from ffnviz.models.encoder.model import Model, load
from ffnviz.models.trace import Trace
from tests.run_factory import run_of

PATIENCE_S = 60
FOR_EVER_S = 3_600.0


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(16) as pool:
        yield pool


def waiting(turns: RunQueue, threads: ThreadPoolExecutor, asked: float, came: float) -> "Visitor":
    visitor = Visitor(turns, asked, came)
    visitor.waits = threads.submit(turns.wait, visitor.turn)
    while visitor.turn not in turns._waiting:
        assert not visitor.waits.done()
    return visitor


class Visitor:
    """Somebody in the queue."""

    def __init__(self, turns: RunQueue, asked: float, came: float) -> None:
        self.turn: QueuedRun = turns.place()
        self.turn.asked, self.turn.came = asked, came
        self.waits: Future[QueuedRun] = Future()


def order_of(turns: RunQueue, first: QueuedRun, line: list[Visitor]) -> list[int]:
    """In which order they are let in, each as soon as the one before has ended."""
    order, inside = [], first
    for _ in line:
        turns.end(inside)
        inside = next(v.turn for v in line if v.turn.began is not None and not v.turn.ended)
        order.append([v.turn for v in line].index(inside))
        line[order[-1]].waits.result(PATIENCE_S)
    turns.end(inside)
    return order


def test_who_stopped_typing_comes_first_and_then_the_newest(threads: ThreadPoolExecutor) -> None:
    turns = RunQueue(FOR_EVER_S)
    first = turns.wait()
    now = time.monotonic() + FOR_EVER_S  # those to come are typing still
    asked = (now + 1, -20.0, now + 3, -30.0, now + 2)
    line = [waiting(turns, threads, each, came=0.0) for each in asked]
    assert turns.queue == 5
    assert order_of(turns, first, line) == [3, 1, 2, 4, 0]

    turns = RunQueue(FOR_EVER_S)
    first, now = turns.wait(), time.monotonic()
    goes_on = waiting(turns, threads, asked=now + 60, came=now)
    stopped = waiting(turns, threads, asked=now - 0.6, came=now)
    stopped.turn.settles_s = 0.52
    assert order_of(turns, first, [goes_on, stopped]) == [1, 0]


def test_every_eighth_turn_goes_to_whoever_waits_longest(threads: ThreadPoolExecutor) -> None:
    turns = RunQueue(FOR_EVER_S)
    first = turns.wait()  # the first turn
    for_ever = waiting(turns, threads, asked=-1.0, came=-9.0)  # behind all who have stopped before
    line = [for_ever, *(waiting(turns, threads, -90.0 + n, came=float(n)) for n in range(9))]
    assert order_of(turns, first, line).index(0) == OLDEST_EVERY - 2


def test_who_overruns_does_not_keep_the_others(threads: ThreadPoolExecutor) -> None:
    turns = RunQueue(slice_s=0.01)
    slow = turns.wait()
    turn = threads.submit(turns.wait).result(PATIENCE_S)
    assert not slow.ended
    assert turns.slice_is_over(slow)
    turns.end(turn)
    turns.end(slow)
    turns.end(slow)  # said twice
    assert (turns.counted.runs, turns.counted.overran >= 1) == (2, True)


def test_within_their_slices_never_two_run_at_once(threads: ThreadPoolExecutor) -> None:
    turns, inside, most = RunQueue(FOR_EVER_S), [0], [0]
    counting = threading.Lock()

    def visit(_: int) -> None:
        turn = turns.wait()
        with counting:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
        with counting:
            inside[0] -= 1
        turns.end(turn)

    list(threads.map(visit, range(400)))
    assert most[0] == 1
    assert turns.counted.runs == 400


def test_who_types_fast_has_stopped_sooner_and_the_box_waits_for_a_busy_server() -> None:
    typing = {(0.4, 0.4): 0.52, (0.05,): 0.3, (0.9,): 1.05, (0.4, 5.0): 1.05, (): 1.05}
    for between, settles in typing.items():
        turn = RunQueue().place()
        for pause in between:
            turn.ask(turn.asked + pause)
        assert turn.settles_s == pytest.approx(settles)
    turns = RunQueue()
    pauses = [pause for _, pause in PAUSES_MS]
    assert turns.pause_ms == pauses[0]
    seen = []
    for wait in (0.0, 0.2, 5.0):
        turns._recent.clear()
        turns._recent.append(wait)
        seen.append(turns.pause_ms)
    assert seen == pauses == sorted(pauses)


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
def test_nothing_is_made_ahead_of_one_network_or_while_somebody_waits(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not ahead.trace_ahead(run_of(load(model_folder), "the old dog"))
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


def test_an_error_ends_no_thread(caplog: pytest.LogCaptureFixture) -> None:
    enough = threading.Event()
    times: list[int] = []

    def work() -> None:
        times.append(len(times))
        if len(times) > 2:
            enough.set()
            threading.Event().wait()  # for ever, so that no test after this one hears of it
        raise RuntimeError(f"time {len(times)}")

    repeat("now-and-then", 0.001, work)
    assert enough.wait(20)
    assert [record.getMessage() for record in caplog.records] == 2 * [
        "now-and-then goes on after an error."
    ]
    assert "time 2" in caplog.text
