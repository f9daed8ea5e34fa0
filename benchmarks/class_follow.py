"""A class follows its lecturer: how long after a scene changes every student's page is complete.

A student is a session and a stream of events, as a page has them; on an event the student asks for
the lecturer's page by its address, which is a whole run of the page (a browser asks for a part of
it: what stands here is the most it can take). First the same students wait, and nothing happens.

    python -m benchmarks.class_follow --students 100 --scenes 6 --workers 1
"""

import argparse
import asyncio
import json
import os
import random
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import numpy as np

from benchmarks.person import Person
from benchmarks.served import Server, Worked, served, usage
from ffnviz.app.main import build_catalog
from ffnviz.lecture.chosen import OURS, lecture_file
from ffnviz.lecture.classroom.live_class import ClassPosition, Opened
from ffnviz.lecture.classroom.store import ClassStore
from ffnviz.lecture.classroom.store_sqlite import SqliteStore
from ffnviz.server.classroom_routes import TICKET
from ffnviz.state.state import to_url

IDLE_S = 20.0
BETWEEN_S = 8.0  # scenes


class Student:
    """One who follows."""

    def __init__(self, server: Server, code: str, number: int, store: ClassStore) -> None:
        self.person = Person(server.socket, random.Random(number), "", f"class={code}")
        self.host, self.port = urlsplit(server.url).hostname, urlsplit(server.url).port
        self.path = f"/class/{code}/events?who={number:032}"
        self.ticket = store.ticket(code, f"{number:032}")  # as the page's session is given one
        self.moved = -1
        self.over = False  # whether the class is
        self.heard = asyncio.Event()

    async def come(self) -> None:
        """Open the page, and wait for events."""
        await self.person.open()
        self.listening = asyncio.create_task(self.listen())

    async def listen(self) -> None:
        """Read events, and come again where the server has gone, as a page does."""
        while not self.over:
            with suppress(OSError):
                await self.read()
            await asyncio.sleep(0.1)

    async def read(self) -> None:
        """Events, one a line, as long as the answer goes on."""
        reader, self.writer = await asyncio.open_connection(self.host, self.port)
        asked = (f"GET {self.path} HTTP/1.1", f"Host: {self.host}:{self.port}",
                 f"{TICKET}: {self.ticket}")  # fmt: skip
        self.writer.write("".join(f"{line}\r\n" for line in (*asked, "")).encode())
        try:
            async for line in reader:
                if line.startswith(b"data: {") and b"moved" in line:
                    moved = json.loads(line[6:])["moved"]
                    if moved != self.moved:
                        self.moved = moved
                        self.heard.set()
                self.over |= line.startswith(b"event: over")
        finally:
            self.writer.close()
            with suppress(OSError):
                await self.writer.wait_closed()

    async def follow(self, page: str, query: str) -> float:
        """When the page that the lecturer turned to is there."""
        await self.heard.wait()
        self.heard.clear()
        await self.person.go(page, query)
        return time.perf_counter()

    async def leave(self) -> None:
        """Close the tab."""
        self.listening.cancel()
        await self.person.close()


async def measured(
    server: Server, store: ClassStore, opened: Opened, n: int, scenes: int
) -> tuple[list[float], float, float, float]:
    """Seconds of each student and scene; processors while idle and all in all; those of others."""
    students = [Student(server, opened.code, number, store) for number in range(n)]
    for student in students:
        await student.come()
    await asyncio.sleep(3)
    before = Worked.now(server.pid)
    await asyncio.sleep(IDLE_S)
    idle = (Worked.now(server.pid).server - before.server) / IDLE_S
    for student in students:
        student.heard.clear()
    took: list[float] = []
    lecture, there = lecture_file(OURS, build_catalog()), build_catalog()
    before, began = Worked.now(server.pid), time.perf_counter()
    for place, scene in enumerate(lecture.scenes[:scenes]):
        url = to_url(scene.state, there)
        query = urlencode({**url, "scene": place + 1, "class": opened.code})
        changed = time.perf_counter()
        following = [student.follow(scene.state.page, query) for student in students]
        store.move(opened.code, opened.secret, ClassPosition(scene.state.page, url, place))
        took += [done - changed for done in await asyncio.gather(*following)]
        await asyncio.sleep(BETWEEN_S)
    now, seconds = Worked.now(server.pid), time.perf_counter() - began
    for student in students:
        await student.leave()
    broken = sum(student.person.broken for student in students)
    assert broken == 0, f"{broken} stack traces"
    return took, idle, (now.server - before.server) / seconds, now.others_since(before) / seconds


def main() -> None:
    """A server, a class, a line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--students", type=int, default=100)
    parser.add_argument("--scenes", type=int, default=6)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--port", type=int, default=9_310)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "classes.sqlite"
        store = SqliteStore(path)
        opened = store.open(OURS.read_text(encoding="utf-8"))
        options = ["--host", "0.0.0.0", "--class-store", str(path)]
        with served(chosen.port, chosen.workers, options=options) as server:
            work = measured(server, store, opened, chosen.students, chosen.scenes)
            took, idle, busy, others = asyncio.run(work)
            held = usage(server.pid)
    p50, p95, worst = np.percentile(took, [50, 95, 100])
    print(
        f"{chosen.students} students, {chosen.scenes} scenes, {chosen.workers} workers: waiting, "
        f"they cost {100 * idle:.1f}% of a core; a page is there after {p50:.2f} s (p50), "
        f"{p95:.2f} s (p95), {worst:.2f} s (all); {busy:.2f} cores meanwhile, others took "
        f"{others:.2f}; load {os.getloadavg()[0]:.1f}; {held}"
    )


if __name__ == "__main__":
    main()
