"""Several workers at one address: each serves any page, and if one dies no sentence is lost."""

import asyncio
import os
import random
import signal
import socket
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import pytest
import websockets
from prometheus_client.parser import text_string_to_metric_families
from websockets.sync.client import connect

from benchmarks.person import Person
from benchmarks.served import Server, served, started_by

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

PEOPLE = 6
PATIENCE_S = 60
T = TypeVar("T")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with socket.create_server(("localhost", 0)) as listener:
        port = listener.getsockname()[1]
    with served(port, workers=2, log=tmp_path_factory.mktemp("log") / "log") as started:
        yield started


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


def test_the_pages_files_are_at_every_worker(server: Server) -> None:
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


def test_another_sites_page_opens_no_session(server: Server) -> None:
    with (
        pytest.raises(websockets.InvalidStatus, match="403"),
        connect(server.socket, origin=websockets.Origin("https://evil.example")),
    ):
        pass
