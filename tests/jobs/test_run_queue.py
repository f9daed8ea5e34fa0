"""Page runs take turns: one at a time, the newest request last, and nobody waits for ever."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from ffnviz.jobs.run_queue import OLDEST_EVERY, PAUSES_MS, QueuedRun, RunQueue

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


def test_nobody_waits_where_nobody_runs() -> None:
    turns = RunQueue(FOR_EVER_S)
    for n in range(3):
        turns.end(turns.wait())
        assert turns.counted.runs == n + 1
    assert turns.queue == 0


def test_who_has_stopped_typing_comes_first_and_then_the_newest(
    threads: ThreadPoolExecutor,
) -> None:
    turns, now = (
        RunQueue(FOR_EVER_S),
        time.monotonic() + FOR_EVER_S,
    )  # those to come are typing still
    first = turns.wait()
    asked = (now + 1, -20.0, now + 3, -30.0, now + 2)
    line = [waiting(turns, threads, each, came=0.0) for each in asked]
    assert turns.queue == 5
    assert order_of(turns, first, line) == [3, 1, 2, 4, 0]


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


def test_the_box_waits_longer_the_busier_the_server_is() -> None:
    turns = RunQueue()
    pauses = [pause for _, pause in PAUSES_MS]
    assert turns.pause_ms == pauses[0]
    seen = []
    for wait in (0.0, 0.2, 5.0):
        turns._recent.clear()
        turns._recent.append(wait)
        seen.append(turns.pause_ms)
    assert seen == pauses == sorted(pauses)


@pytest.mark.parametrize(
    ("pauses", "settles"),
    [([0.4, 0.4], 0.52), ([0.05], 0.3), ([0.9], 1.05), ([0.4, 5.0], 1.05), ([], 1.05)],
)
def test_who_types_fast_has_stopped_sooner(pauses: list[float], settles: float) -> None:
    turn = RunQueue().place()
    for pause in pauses:
        turn.ask(turn.asked + pause)
    assert turn.settles_s == pytest.approx(settles)


def test_who_stopped_typing_fast_comes_before_who_goes_on(threads: ThreadPoolExecutor) -> None:
    turns = RunQueue(FOR_EVER_S)
    first, now = turns.wait(), time.monotonic()
    goes_on = waiting(turns, threads, asked=now + 60, came=now)
    stopped = waiting(turns, threads, asked=now - 0.6, came=now)
    stopped.turn.settles_s = 0.52
    assert order_of(turns, first, [goes_on, stopped]) == [1, 0]
