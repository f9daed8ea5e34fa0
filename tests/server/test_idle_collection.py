"""Garbage is collected while nobody waits, and only if there can be some."""

import pytest

from ffnviz.server.idle_collection import (
    AT_LEAST_EVERY_S,
    QUIET_FOR_S,
    IdleCollector,
)


class Clock:
    """Time that passes when told to."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("ffnviz.server.idle_collection.time.monotonic", clock.monotonic)
    monkeypatch.setattr("ffnviz.jobs.memory.threading.Thread.start", lambda _: None)
    return clock


@pytest.fixture
def collections(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    done: list[str] = []
    monkeypatch.setattr(
        "ffnviz.jobs.memory.gc.collect",
        lambda: done.append("collected"),
    )
    return done


def test_it_collects_once_when_it_has_been_quiet(clock: Clock, collections: list[str]) -> None:
    collector = IdleCollector()
    collector.page_ran()
    clock.now += QUIET_FOR_S + 1
    assert collector.collect_if_idle()
    assert not collector.collect_if_idle()
    assert collections == ["collected"]


def test_it_does_not_collect_while_pages_run(clock: Clock, collections: list[str]) -> None:
    collector = IdleCollector()
    collector.page_ran()
    clock.now += QUIET_FOR_S / 2
    assert not collector.collect_if_idle()
    assert collections == []


def test_a_server_that_is_never_quiet_collects_now_and_then(
    clock: Clock, collections: list[str]
) -> None:
    collector = IdleCollector()
    seconds = int(4 * AT_LEAST_EVERY_S)
    for _ in range(seconds):
        clock.now += 1.0
        collector.page_ran()
        collector.collect_if_idle()
    assert len(collections) == 4


def test_it_does_not_collect_when_no_page_ran(clock: Clock, collections: list[str]) -> None:
    collector = IdleCollector()
    clock.now += 100
    assert not collector.collect_if_idle()
    assert collections == []


def test_it_collects_again_after_new_activity(clock: Clock, collections: list[str]) -> None:
    collector = IdleCollector()
    for _ in range(2):
        collector.page_ran()
        clock.now += QUIET_FOR_S + 1
        assert collector.collect_if_idle()
    assert collections == ["collected", "collected"]
