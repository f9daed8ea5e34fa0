"""One heavy computation at a time; who waits knows for how many, and may leave."""

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from ffnviz.jobs import serial_queue as heavy_module
from ffnviz.jobs.serial_queue import SerialQueue, heavy

PATIENCE_S = 60  # for what must happen; no test takes as long


@pytest.fixture(autouse=True)
def looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heavy_module, "LOOK_EVERY_S", 0.001)


@pytest.fixture
def visitors() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as pool:
        yield pool


class Visitor:
    """Somebody who passes the gate, and what happens to them."""

    def __init__(self, gate: SerialQueue, visitors: ThreadPoolExecutor) -> None:
        self.told: list[int] = []
        self.waits, self.entered, self.done = (threading.Event() for _ in range(3))
        self.closes_tab = False
        self.result: Future[None] = visitors.submit(self._visit, gate)

    def _visit(self, gate: SerialQueue) -> None:
        with gate.passed(self._waiting):
            self.entered.set()
            assert self.done.wait(PATIENCE_S)

    def _waiting(self, others: int) -> None:
        self.told.append(others)
        self.waits.set()
        if self.closes_tab:
            raise ConnectionError("the tab was closed")


def test_nobody_waits_at_an_open_gate() -> None:
    told: list[int] = []
    for _ in range(2):
        with heavy(told.append):
            pass
    assert told == []


def test_who_waits_is_told_for_how_many_and_goes_in_in_turn(visitors: ThreadPoolExecutor) -> None:
    gate, line = SerialQueue(), []
    for _ in range(3):
        line.append(Visitor(gate, visitors))
        happens = line[0].entered if len(line) == 1 else line[-1].waits
        assert happens.wait(PATIENCE_S)
    first, second, third = line
    assert (set(second.told), set(third.told)) == ({1}, {2})
    assert not second.entered.is_set()
    first.done.set()
    assert second.entered.wait(PATIENCE_S)
    assert not third.entered.is_set()
    second.done.set()
    third.done.set()
    for visitor in line:
        visitor.result.result(PATIENCE_S)
    assert first.told == []
    assert third.told == sorted(third.told, reverse=True)


def test_who_is_stopped_leaves_the_queue(visitors: ThreadPoolExecutor) -> None:
    gate = SerialQueue()
    first = Visitor(gate, visitors)
    assert first.entered.wait(PATIENCE_S)
    second = Visitor(gate, visitors)
    assert second.waits.wait(PATIENCE_S)
    third = Visitor(gate, visitors)
    assert third.waits.wait(PATIENCE_S)
    second.closes_tab = True
    with pytest.raises(ConnectionError, match="tab was closed"):
        second.result.result(PATIENCE_S)
    assert not second.entered.is_set()
    first.done.set()
    assert third.entered.wait(PATIENCE_S)
    third.done.set()
    third.result.result(PATIENCE_S)


def fails(gate: SerialQueue) -> None:
    with gate.passed():
        raise ValueError("out of memory")


def test_who_fails_inside_gives_the_place_back(visitors: ThreadPoolExecutor) -> None:
    gate = SerialQueue()
    with pytest.raises(ValueError, match="out of memory"):
        fails(gate)
    after = Visitor(gate, visitors)
    assert after.entered.wait(PATIENCE_S)
    after.done.set()


@pytest.mark.parametrize("places", [1, 3])
def test_never_more_are_inside_than_there_are_places(
    places: int, visitors: ThreadPoolExecutor
) -> None:
    gate, inside, most = SerialQueue(places), [0], [0]
    counting, all_there = threading.Lock(), threading.Barrier(places)

    def visit(_: int) -> None:
        with gate.passed():
            with counting:
                inside[0] += 1
                most[0] = max(most[0], inside[0])
            all_there.wait(PATIENCE_S)  # so many are let in, or this breaks
            with counting:
                inside[0] -= 1

    list(visitors.map(visit, range(8 * places)))
    assert most[0] == places
