"""Several workers at one address: each serves any page, and if one dies no sentence is lost."""

import asyncio
import json
import os
import random
import signal
import sys
import urllib.request
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
import websockets
from prometheus_client.parser import text_string_to_metric_families
from websockets.sync.client import connect

from ffnviz.lecture.chosen import OURS
from ffnviz.lecture.classroom.live_class import ClassPosition
from ffnviz.lecture.classroom.store_sqlite import SqliteStore
from ffnviz.server.classroom_routes import SECRET
from ffnviz.state.state import to_url
from tests.lecture.lecture_runs import catalog, lecture
from tests.person import Person
from tests.served import Server, free_port, served, started_by
from tests.student import Student
from tests.waiting import until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

PEOPLE = 4
PATIENCE_S = 120


@pytest.fixture(scope="module")
def server(store: SqliteStore, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Two workers, which Ctrl-C ends."""
    log = tmp_path_factory.mktemp("log") / "log"
    options = ["--host", "0.0.0.0", "--class-store", str(store.path)]
    with served(free_port(), workers=2, log=log, options=options) as started:
        yield started
        started.process.send_signal(signal.SIGINT)
        assert started.process.wait(PATIENCE_S) == 130
    assert "Ctrl-C ends it" in log.read_text().partition("\n")[0]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> SqliteStore:
    """Where the workers keep their classes, as a third process has it."""
    return SqliteStore(tmp_path_factory.mktemp("classes") / "classes.sqlite")


def workers(server: Server) -> list[int]:
    """The processes that serve, without what they started."""
    commands = {pid: Path(f"/proc/{pid}/cmdline").read_bytes() for pid in started_by(server.pid)}
    return [pid for pid, command in commands.items() if b"multiprocessing.spawn" in command]


def metric(server: Server, name: str) -> float:
    with urllib.request.urlopen(f"{server.url}/metrics") as answer:
        text = answer.read().decode()
    samples = (s for family in text_string_to_metric_families(text) for s in family.samples)
    return sum(sample.value for sample in samples if sample.name == name)


def alone(work: Coroutine[Any, Any, None]) -> None:
    """In a thread of its own: in this one a browser's test may have left a loop."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, work).result()


def sentence(n: int) -> str:
    return f"Person {n} sat on the mat."


async def opened(server: Server, n: int) -> Person:
    query = f"text={sentence(n).replace(' ', '+')}"
    person = Person(server.socket, random.Random(n), "neurons", query)
    await person.open()
    return person


def test_a_worker_that_dies_loses_nobodys_sentence(server: Server) -> None:
    async def all_open() -> list[Person]:
        return [await opened(server, n) for n in range(PEOPLE)]

    async def go_on() -> None:
        people = await all_open()
        assert [person.shown for person in people] == [sentence(n) for n in range(PEOPLE)]
        await asyncio.to_thread(until, lambda: metric(server, "ffnviz_sessions") == PEOPLE)
        before = workers(server)
        assert len(before) == 2
        os.kill(before[0], signal.SIGKILL)
        again = await all_open()  # as a page does whose socket broke
        assert [person.shown for person in again] == [sentence(n) for n in range(PEOPLE)]
        await again[0].come_back("The first thing typed after that.")
        assert again[0].shown == "The first thing typed after that."
        assert sum(person.broken for person in (*people, *again)) == 0
        await asyncio.to_thread(until, lambda: len(workers(server)) == 2)
        for person in (*people, *again):
            await person.close()

    alone(go_on())
    until(lambda: metric(server, "ffnviz_sessions") == 0)
    assert metric(server, "ffnviz_page_runs_total") >= 2 * PEOPLE  # the dead worker's count, too


def post(server: Server, what: str, sent: dict[str, object], secret: str = "") -> None:
    """As a page of the class does, at whichever worker takes it."""
    headers = {"Content-Type": "application/json", **({SECRET: secret} if secret else {})}
    request = urllib.request.Request(
        f"{server.url}/class/{what}", json.dumps(sent).encode(), headers
    )
    with urllib.request.urlopen(request) as answer:
        assert answer.status == 204


def test_a_class_goes_on_though_each_worker_dies(server: Server, store: SqliteStore) -> None:
    opened = store.open(OURS.read_text(encoding="utf-8"))
    code, students = opened.code, [Student(server, opened.code, n, store) for n in range(PEOPLE)]
    people = [student.person for student in students]

    async def move(place: int) -> None:
        state = lecture().scenes[place].state
        url = to_url(state, catalog())
        query = urlencode({**url, "scene": place + 1, "class": code})
        store.move(code, opened.secret, ClassPosition(state.page, url, place))
        await asyncio.gather(*(student.follow(state.page, query) for student in students))
        assert {person.shown for person in people} == {state.sentence}

    async def go_on() -> None:
        await asyncio.gather(*(student.come() for student in students))
        for student in students:
            await student.heard.wait()
            student.heard.clear()
        await move(0)
        for n in range(PEOPLE):
            sent: dict[str, object] = {"who": f"{n:032}"}
            vote = sent | {"scene": 1, "option": n % 2}
            await asyncio.to_thread(post, server, f"{code}/vote", vote)
            say = sent | {"text": f"Sentence {n}."}
            await asyncio.to_thread(post, server, f"{code}/sentence", say)
        assert store.course(code).counts == {1: [PEOPLE // 2, PEOPLE // 2, 0, 0, 0, 0]}
        assert len(store.sentences(code)) == store.course(code).people == PEOPLE
        for pid, place in zip(workers(server), (10, 13), strict=True):  # of other sentences
            os.kill(pid, signal.SIGKILL)
            gone = await asyncio.gather(*(person.is_gone(within_s=1) for person in people))
            left = [person for person, is_gone in zip(people, gone, strict=True) if is_gone]
            await asyncio.gather(*(person.open() for person in left))
            await move(place)
            await asyncio.to_thread(until, lambda: len(workers(server)) == 2)
        await asyncio.to_thread(post, server, f"{code}/reveal", {"scene": 1}, opened.secret)
        assert store.course(code).revealed == {1}
        assert sum(store.course(code).counts[1]) == PEOPLE
        store.end(code, opened.secret)
        listening = asyncio.gather(*(student.listening for student in students))
        await asyncio.wait_for(listening, PATIENCE_S)  # all hear that it is over
        assert sum(person.broken for person in people) == 0
        for student in students:
            await student.leave()

    alone(go_on())


def test_files_are_at_every_worker_and_another_sites_page_opens_no_session(server: Server) -> None:
    """Each request is a connection of its own, which either of the two may take."""
    files = ("pictures/shell.js", "picture/adapter.js", "plotly/plotly.min.js")
    for name in files * 5:
        url = f"{server.url}/_stcore/bidi-components/ffnviz.{name}"
        with urllib.request.urlopen(url) as answer:
            assert answer.status == 200
            assert answer.headers["X-Content-Type-Options"] == "nosniff"

    evil = websockets.Origin("https://evil.example")
    with pytest.raises(websockets.InvalidStatus, match="403"), connect(server.socket, origin=evil):
        pass
