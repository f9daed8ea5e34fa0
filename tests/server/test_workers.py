"""Several workers at one address: each serves any page, and if one dies no sentence is lost."""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeVar
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
from tests.served import Server, free_port, served, started_by, wait_for
from tests.student import Student

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

PEOPLE = 6
PATIENCE_S = 60
T = TypeVar("T")


@pytest.fixture(scope="module")
def server(store: SqliteStore, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    port = free_port()
    options = ["--host", "0.0.0.0", "--class-store", str(store.path)]
    log = tmp_path_factory.mktemp("log") / "log"
    with served(port, workers=2, log=log, options=options) as started:
        yield started


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> SqliteStore:
    """Where the workers keep their classes, as a third process has it."""
    return SqliteStore(tmp_path_factory.mktemp("classes") / "classes.sqlite")


def workers(server: Server) -> list[int]:
    """The processes that serve, without what they started."""
    return [
        pid
        for pid in started_by(server.pid)
        if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()
        and b"resource_tracker" not in Path(f"/proc/{pid}/cmdline").read_bytes()
    ]


def metric(server: Server, name: str) -> float:
    with urllib.request.urlopen(f"{server.url}/metrics") as answer:
        text = answer.read().decode()
    samples = (s for family in text_string_to_metric_families(text) for s in family.samples)
    return sum(sample.value for sample in samples if sample.name == name)


def until(value: Callable[[], T], wanted: T) -> None:
    end = time.monotonic() + PATIENCE_S
    while (now := value()) != wanted:
        assert time.monotonic() < end, f"{now} and not {wanted}"
        time.sleep(0.1)


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
        await asyncio.to_thread(until, lambda: metric(server, "ffnviz_sessions"), float(PEOPLE))
        before = workers(server)
        assert len(before) == 2
        os.kill(before[0], signal.SIGKILL)
        again = await all_open()  # as a page does whose socket broke
        assert [person.shown for person in again] == [sentence(n) for n in range(PEOPLE)]
        await again[0].come_back("The first thing typed after that.")
        assert again[0].shown == "The first thing typed after that."
        assert sum(person.broken for person in (*people, *again)) == 0
        await asyncio.to_thread(until, lambda: len(workers(server)), 2)  # another takes its place
        for person in (*people, *again):
            await person.close()

    with ThreadPoolExecutor(1) as thread:  # in this one a browser's test may have left a loop
        thread.submit(lambda: asyncio.run(go_on())).result()
    until(lambda: metric(server, "ffnviz_sessions"), 0.0)
    assert metric(server, "ffnviz_page_runs_total") >= 2 * PEOPLE  # the dead worker's count, too


def opened_by(pid: int) -> Iterator[str]:
    """What a process has open now."""
    for file in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):  # closed meanwhile
            yield str(file.readlink())


def worker_of(student: Student, server: Server) -> int:
    """The process at the other end of a student's stream of events."""
    port = student.writer.get_extra_info("sockname")[1]
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:  # a busy worker takes a stream up some time after it is opened
        for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
            fields = line.split()
            if int(fields[2].rpartition(":")[2], 16) == port and fields[9] != "0":
                for pid in workers(server):
                    if f"socket:[{fields[9]}]" in set(opened_by(pid)):
                        return pid
        time.sleep(0.01)
    pytest.fail("no worker has the stream")


def post(server: Server, what: str, sent: dict[str, object], secret: str = "") -> None:
    """As a page of the class does, at whichever worker takes it."""
    headers = {"Content-Type": "application/json", **({SECRET: secret} if secret else {})}
    request = urllib.request.Request(
        f"{server.url}/class/{what}", json.dumps(sent).encode(), headers
    )
    with urllib.request.urlopen(request) as answer:
        assert answer.status == 204


def test_a_class_goes_on_over_all_workers_if_one_dies(server: Server, store: SqliteStore) -> None:
    scenes = lecture().scenes
    opened = store.open(OURS.read_text(encoding="utf-8"))
    code, students = opened.code, [Student(server, opened.code, n, store) for n in range(PEOPLE)]

    async def come() -> set[int]:
        """Everybody, with streams at more than one worker."""
        await asyncio.gather(*(student.come() for student in students))
        await asyncio.gather(*(student.heard.wait() for student in students))
        while len(found := {worker_of(student, server) for student in students}) < 2:
            student = students[0]
            student.writer.close()  # it comes again, at the same worker or another
            before = student.writer
            while student.writer is before:
                await asyncio.sleep(0.05)
            await asyncio.sleep(0.2)
        for student in students:
            student.heard.clear()
        return found

    async def move(place: int) -> None:
        state = scenes[place].state
        url = to_url(state, catalog())
        query = urlencode({**url, "scene": place + 1, "class": code})
        store.move(code, opened.secret, ClassPosition(state.page, url, place))
        await asyncio.gather(*(student.follow(state.page, query) for student in students))
        assert {student.person.shown for student in students} == {state.sentence}

    async def go_on() -> None:
        at = await come()
        await move(0)
        for n in range(PEOPLE):
            sent: dict[str, object] = {"who": f"{n:032}"}
            vote = sent | {"scene": 1, "option": n % 2}
            await asyncio.to_thread(post, server, f"{code}/vote", vote)
            say = sent | {"text": f"Sentence {n}."}
            await asyncio.to_thread(post, server, f"{code}/sentence", say)
        assert store.course(code).counts == {1: [PEOPLE // 2, PEOPLE // 2, 0, 0, 0, 0]}
        assert len(store.sentences(code)) == store.course(code).people == PEOPLE
        await move(2)
        os.kill(min(at), signal.SIGKILL)
        people = [student.person for student in students]
        gone = await asyncio.gather(*(person.is_gone(within_s=1) for person in people))
        await asyncio.gather(
            *(person.open() for person, is_gone in zip(people, gone, strict=True) if is_gone)
        )
        await move(12)
        await asyncio.to_thread(post, server, f"{code}/reveal", {"scene": 1}, opened.secret)
        assert store.course(code).revealed == {1}
        assert sum(store.course(code).counts[1]) == PEOPLE
        store.end(code, opened.secret)
        await asyncio.wait_for(
            asyncio.gather(*(student.listening for student in students)), PATIENCE_S
        )
        assert all(student.over for student in students)
        assert sum(student.person.broken for student in students) == 0
        for student in students:
            await student.leave()
        await asyncio.to_thread(until, lambda: len(workers(server)), 2)

    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(go_on())).result()


def test_files_are_at_every_worker_and_another_sites_page_opens_no_session(server: Server) -> None:
    """Each request is a connection of its own, which either of the two may take."""
    files = (
        "pictures/shell.js",
        "pictures/saving.js",
        "picture/adapter.js",
        "plotly/plotly.min.js",
    )
    for name in files * 5:
        url = f"{server.url}/_stcore/bidi-components/ffnviz.{name}"
        with urllib.request.urlopen(url) as answer:
            assert answer.status == 200
            assert answer.headers["X-Content-Type-Options"] == "nosniff"

    with (
        pytest.raises(websockets.InvalidStatus, match="403"),
        connect(server.socket, origin=websockets.Origin("https://evil.example")),
    ):
        pass


def test_ctrl_c_ends_all_workers_and_is_told() -> None:
    port = free_port()
    command = [sys.executable, "-m", "ffnviz", "app", "--port", str(port), "--workers", "2"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as app:
        assert app.stdout is not None
        assert b"Ctrl-C ends it" in app.stdout.readline()
        wait_for(f"http://localhost:{port}/_stcore/health")
        app.send_signal(signal.SIGINT)
        assert app.wait(PATIENCE_S) == 130
