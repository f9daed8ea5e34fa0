"""Who waits for a class: told of what changes for them, by any server, and of no more."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from ffnviz.lecture.classroom import hub as hubs
from ffnviz.lecture.classroom.hub import BEAT, Hub
from ffnviz.lecture.classroom.live_class import ClassPosition, ClassStoreError, Opened
from tests.lecture.class_stores import Kept, alone, come, run_alone

ANNA, BEN = "a" * 32, "b" * 32


@pytest.fixture
def opened(kept: Kept) -> Opened:
    opened = kept.store.open("")
    for who in (ANNA, BEN):
        come(kept.store, opened.code, who)
    return opened


async def until(stream: AsyncIterator[str], words: str) -> str:
    """What was told when it first had these words."""
    async for told in stream:
        if words in told:
            return told
    pytest.fail(f"never told of {words}")


def test_a_student_at_one_server_follows_the_lecturer_at_another(
    kept: Kept, opened: Opened
) -> None:
    here, there = Hub(kept.another()), Hub(kept.another())

    async def follow() -> None:
        lecturer, student = here.events(opened.code, ""), there.events(opened.code, ANNA)
        assert '"scene": null' in await anext(student)
        await anext(lecturer)
        for scene in range(2):
            here.store.move(opened.code, opened.secret, ClassPosition("lab", {}, scene))
            await until(student, f'"scene": {scene}')
        there.store.vote(opened.code, ANNA, 1, 2)
        await until(lecturer, '"counts": {"1": [0, 0, 1, 0, 0, 0]}')
        here.store.reveal(opened.code, opened.secret, 1)
        assert '"counts": {"1": [0, 0, 1, 0, 0, 0]}' in await until(student, '"revealed": [1]')
        here.store.end(opened.code, opened.secret)
        await until(student, "event: over")
        await until(lecturer, "event: over")
        with pytest.raises(StopAsyncIteration):
            await anext(student)

    run_alone(follow())
    assert not here._audiences
    assert not there._work


def test_many_who_wait_share_one_look_at_the_store(kept: Kept, opened: Opened) -> None:
    hub, looks = Hub(kept.store), 0
    course = kept.store.course

    def counted(code: str) -> object:
        nonlocal looks
        looks += 1
        return course(code)

    kept.store.course = counted  # type: ignore[method-assign,assignment]

    async def listen() -> None:
        streams = [hub.events(opened.code, f"{n:032}") for n in range(50)]
        await asyncio.gather(*(anext(stream) for stream in streams))
        before = looks
        waiting = [asyncio.ensure_future(until(stream, '"scene": 1')) for stream in streams]
        await asyncio.to_thread(
            kept.another().move, opened.code, opened.secret, ClassPosition("lab", {}, 1)
        )
        await asyncio.gather(*waiting)
        assert looks - before <= 3
        assert len(hub._work) == 3

    run_alone(listen())


@alone
async def test_what_a_student_answers_wakes_the_lecturer_alone(kept: Kept, opened: Opened) -> None:
    hub = Hub(kept.store)

    lecturer, student = hub.events(opened.code, ""), hub.events(opened.code, BEN)
    await anext(lecturer)
    await anext(student)
    waiting = asyncio.ensure_future(anext(student))
    await asyncio.to_thread(kept.another().vote, opened.code, ANNA, 0, 3)
    await until(lecturer, '"counts": {"0": [0, 0, 0, 1, 0, 0]}')
    assert not waiting.done()
    hub.store.reveal(opened.code, opened.secret, 0)
    assert '"counts": {"0": [0, 0, 0, 1, 0, 0]}' in await waiting


@alone
async def test_who_is_there_is_said_now_and_then_and_who_has_gone_is_noticed(
    kept: Kept, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hubs, "BEAT_S", 0.05)
    hub = Hub(kept.store)

    lecturer, student = hub.events(opened.code, ""), hub.events(opened.code, ANNA)
    assert '"people": 2' in await anext(lecturer)
    await anext(student)
    assert await anext(student) == BEAT  # a proxy sees that the answer goes on
    await asyncio.to_thread(kept.pass_time, 61)
    await until(lecturer, '"people": 1')  # Anna still; Ben was heard of no more


@alone
async def test_who_waits_goes_on_waiting_while_the_store_is_gone(
    kept: Kept, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hubs, "BEAT_S", 0.05)
    hub, course = Hub(kept.store), kept.store.course

    def gone(*_: object) -> None:
        raise ClassStoreError("gone")

    student = hub.events(opened.code, ANNA)
    await anext(student)
    hub.store.course = hub.store.stay = gone  # type: ignore[method-assign,assignment]
    assert [await anext(student) for _ in range(3)] == [BEAT] * 3
    hub.store.course = course  # type: ignore[method-assign]
    await asyncio.to_thread(
        kept.another().move, opened.code, opened.secret, ClassPosition("lab", {}, 4)
    )
    await until(student, '"scene": 4')


@alone
async def test_a_server_that_is_to_stop_ends_all_waiting(kept: Kept, opened: Opened) -> None:
    hub = Hub(kept.store)

    student = hub.events(opened.code, ANNA)
    await anext(student)
    waiting = asyncio.ensure_future(anext(student))
    await asyncio.sleep(0)
    hub._close()
    with pytest.raises(StopAsyncIteration):
        await waiting
