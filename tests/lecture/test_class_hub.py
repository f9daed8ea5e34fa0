"""Who waits for a class: told of what changes for them, and let in, over real HTTP."""

import asyncio
import secrets
import socket
import threading
import time
from collections.abc import AsyncIterator, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import uvicorn
from starlette.applications import Starlette

from ffnviz.lecture.classroom import hub as hubs
from ffnviz.lecture.classroom import store_sqlite
from ffnviz.lecture.classroom.hub import BEAT, Hub
from ffnviz.lecture.classroom.live_class import MOST_PEOPLE, ClassPosition, ClassStoreError, Opened
from ffnviz.lecture.classroom.store import ClassStore
from ffnviz.server import classroom_routes
from ffnviz.server.classroom_routes import (
    AT_ONCE,
    EACH_S,
    TICKET,
    Arrivals,
    RushError,
    class_routes,
)
from tests.lecture.class_stores import ANNA, InFile, Kept, alone


async def until(stream: AsyncIterator[str], words: str) -> str:
    """What was told when it first had these words."""
    async for told in stream:
        if words in told:
            return told
    pytest.fail(f"never told of {words}")


@alone
async def test_a_student_at_one_server_follows_a_lecturer_at_another(
    kept: Kept, opened: Opened
) -> None:
    here, there = Hub(kept.another()), Hub(kept.another())
    lecturer, student = here.events(opened.code, ""), there.events(opened.code, ANNA)
    assert '"scene": null' in await anext(student)
    await anext(lecturer)
    for scene in range(2):
        here.store.move(opened.code, opened.secret, ClassPosition("lab", {}, scene))
        await until(student, f'"scene": {scene}')
    beside = there.events(opened.code, "")
    await anext(beside)
    waiting = asyncio.ensure_future(anext(student))
    await asyncio.to_thread(there.store.vote, opened.code, ANNA, 1, 2)
    for stream in (lecturer, beside):
        await until(stream, '"counts": {"1": [0, 0, 1, 0, 0, 0]}')
    assert not waiting.done()  # what a student answers wakes the lecturer alone, at each server
    here.store.reveal(opened.code, opened.secret, 1)
    told = await waiting
    assert '"revealed": [1]' in told
    assert '"counts": {"1": [0, 0, 1, 0, 0, 0]}' in told
    here.store.end(opened.code, opened.secret)
    for stream in (student, beside, lecturer):
        await until(stream, "event: over")
        with pytest.raises(StopAsyncIteration):
            await anext(stream)
    assert not here._audiences
    assert not there._work


@alone
async def test_many_who_wait_share_one_look_at_the_store(
    kept: Kept, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub, looks = Hub(kept.store), Mock(wraps=kept.store.course)
    monkeypatch.setattr(kept.store, "course", looks)
    streams = [hub.events(opened.code, f"{n:032}") for n in range(50)]
    await asyncio.gather(*(anext(stream) for stream in streams))
    before = looks.call_count
    waiting = [asyncio.ensure_future(until(stream, '"scene": 1')) for stream in streams]
    await asyncio.to_thread(
        kept.another().move, opened.code, opened.secret, ClassPosition("lab", {}, 1)
    )
    await asyncio.gather(*waiting)
    assert looks.call_count - before <= 3
    assert len(hub._work) == 3


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


GHOSTS, HONEST = 150, 20
PATIENCE_S = 60


@dataclass(frozen=True)
class Door:
    """A server of one class."""

    port: int
    store: ClassStore
    opened: Opened
    writers: list[asyncio.StreamWriter] = field(default_factory=list)

    def see(self, work: Coroutine[Any, Any, None]) -> None:
        """In a loop of its own: the browser's may run in this thread. All hang up at the end."""

        async def to_the_end() -> None:
            try:
                await asyncio.wait_for(work, PATIENCE_S)
            finally:
                for writer in self.writers:
                    writer.close()
                    with suppress(OSError):
                        await writer.wait_closed()

        with ThreadPoolExecutor(1) as pool:
            pool.submit(asyncio.run, to_the_end()).result()

    async def come(self, who: str, ticket: str) -> tuple[int, asyncio.StreamWriter]:
        """The status of the answer to a student's page, whose stream then stays open."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        self.writers.append(writer)
        lines = (
            f"GET /class/{self.opened.code}/events?who={who} HTTP/1.1",
            f"Host: 127.0.0.1:{self.port}",
            f"{TICKET}: {ticket}",
        )
        writer.write("".join(f"{line}\r\n" for line in (*lines, "")).encode())
        return int((await reader.readline()).split()[1]), writer

    async def come_in(self, who: str) -> asyncio.StreamWriter:
        """As an honest page does: with a ticket of its session, again and again until it is in."""
        while True:
            status, writer = await self.come(who, self.store.ticket(self.opened.code, who))
            if status == 200:
                return writer
            writer.close()
            await asyncio.sleep(0.2)

    async def people(self, n: int) -> None:
        """Wait until so many are there."""
        while (now := self.store.course(self.opened.code).people) != n:
            await asyncio.sleep(0.05)
        assert now == n


@pytest.fixture
def door(tmp_path: Path) -> Iterator[Door]:
    kept = InFile(tmp_path)
    hub = Hub(kept.store)
    with socket.create_server(("127.0.0.1", 0), backlog=1_024) as listener:
        app = Starlette(routes=class_routes(hub))
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield Door(listener.getsockname()[1], kept.another(), kept.store.open(""))
        server.force_exit = server.should_exit = True
        thread.join()


def names(n: int) -> list[str]:
    return [secrets.token_hex(16) for _ in range(n)]


def test_ghosts_without_tickets_or_who_hang_up_keep_nobody_out(door: Door) -> None:
    async def all_come() -> None:
        made_up = [door.come(who, secrets.token_hex(32)) for who in names(GHOSTS)]
        assert {status for status, _ in await asyncio.gather(*made_up)} == {403}
        assert door.store.course(door.opened.code).people == 0
        ghosts = names(GHOSTS)
        tickets = [door.store.ticket(door.opened.code, who) for who in ghosts]
        came = await asyncio.gather(*map(door.come, ghosts, tickets))
        let_in = [writer for status, writer in came if status == 200]
        assert AT_ONCE <= len(let_in) < GHOSTS
        for _, writer in came:
            writer.close()
        honest = await asyncio.gather(*map(door.come_in, names(HONEST)))
        assert len(honest) == HONEST
        await door.people(HONEST)  # the ghosts' places are free

    door.see(all_come())


def test_the_lecturer_empties_a_class_that_ghosts_have_filled(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(classroom_routes, "AT_ONCE", 2 * GHOSTS)
    monkeypatch.setattr(store_sqlite, "MOST_PEOPLE", GHOSTS)

    async def all_come() -> None:
        code, secret = door.opened.code, door.opened.secret
        tickets = {who: door.store.ticket(code, who) for who in names(GHOSTS)}
        ghosts = await asyncio.gather(*(door.come(*each) for each in tickets.items()))
        assert [status for status, _ in ghosts] == [200] * GHOSTS
        await door.people(GHOSTS)
        honest = [asyncio.ensure_future(door.come_in(who)) for who in names(HONEST)]
        await asyncio.sleep(1)
        assert not any(each.done() for each in honest)
        door.store.remove_all(code, secret)
        await asyncio.gather(*honest)
        await door.people(HONEST)
        again = await asyncio.gather(*(door.come(*each) for each in tickets.items()))
        assert {status for status, _ in again} == {403}
        door.store.set_door(code, secret, closed=True)
        late = names(1)[0]
        assert (await door.come(late, door.store.ticket(code, late)))[0] == 403
        await door.people(HONEST)

    door.see(all_come())


def test_a_lecture_hall_behind_one_address_is_in_within_seconds() -> None:
    now = 0.0
    door = Arrivals(lambda: now)
    waiting = MOST_PEOPLE
    while waiting:
        before = waiting
        for _ in range(before):
            try:
                door.admit("the hall")
            except RushError:
                break
            waiting -= 1
        assert before - waiting <= (AT_ONCE if now == 0 else EACH_S)
        now += 1.0
    assert now - 1 == (MOST_PEOPLE - AT_ONCE) / EACH_S
    door.admit("another address")
