"""A class follows its lecturer: how long after a scene changes every student's page is complete.

A student is a session and a stream of events, as a page has them; on an event the student asks for
the lecturer's page by its address, which is a whole run of the page (a browser asks for a part of
it: what stands here is the most it can take). First the same students wait, and nothing happens.

    python -m benchmarks.class_follow --students 100 --scenes 6 --workers 1
"""

import argparse
import asyncio
import os
import tempfile
import time
from pathlib import Path
from urllib.parse import urlencode

import numpy as np

from ffnviz.app.catalog import build_catalog
from ffnviz.lecture.chosen import OURS, lecture_file
from ffnviz.lecture.classroom.live_class import ClassPosition, Opened
from ffnviz.lecture.classroom.store import ClassStore
from ffnviz.lecture.classroom.store_sqlite import SqliteStore
from ffnviz.state.state import to_url
from tests.served import Server, Worked, served, usage
from tests.student import Student

IDLE_S = 20.0
BETWEEN_S = 8.0  # scenes


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
