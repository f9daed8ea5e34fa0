"""A lecture hall that only follows and votes: a stream of events each, no page, real sockets.

Students come from as many addresses as lecture halls share; the lecturer goes to a scene, all hear
of it, and all vote within a few seconds, each over a new connection, as a browser does that has not
asked for anything for a while. Then the answers are revealed. What a vote takes is counted from the
connection's first packet to the last of the answer.

    python -m benchmarks.class_votes --students 1000 --rounds 5 --workers 1
"""

import argparse
import asyncio
import json
import os
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ffnviz.lecture.chosen import OURS
from ffnviz.lecture.classroom.live_class import MOST_OPTIONS, ClassPosition, Opened
from ffnviz.lecture.classroom.store import ClassStore
from ffnviz.lecture.classroom.store_sqlite import SqliteStore
from ffnviz.server.classroom_routes import AT_ONCE, TICKET
from tests.served import Server, Worked, served, usage

WITHIN_S = 4.0  # all vote
PATIENCE_S = 60.0
REST_S = 3.0


@dataclass
class Follower:
    """A student's browser without its page.

    Attributes:
        port: of the server.
        address: this student's.
        code: of the class.
        who: the student.
        ticket: theirs.
        events: that were heard.
    """

    port: int
    address: str
    code: str
    who: str
    ticket: str
    events: list[dict[str, Any]] = field(default_factory=list)
    heard: asyncio.Event = field(default_factory=asyncio.Event)

    async def come(self) -> None:
        """Ask for the stream of events; wait until the first has come."""
        asked = f"GET /class/{self.code}/events?who={self.who} HTTP/1.1"
        reader, self.stream = await self._open([asked, f"{TICKET}: {self.ticket}"])
        self.listening = asyncio.create_task(self._listen(reader))
        await self.until(lambda events: bool(events))

    async def until(self, there: Callable[[list[dict[str, Any]]], bool]) -> float:
        """When something has been heard.

        Raises:
            TimeoutError: if it is not.
        """
        async with asyncio.timeout(PATIENCE_S):
            while not there(self.events):
                self.heard.clear()
                await self.heard.wait()
        return time.perf_counter()

    async def vote(self, scene: int, option: int) -> float:
        """Answer a scene's question; the seconds that it took."""
        sent = json.dumps({"who": self.who, "scene": scene, "option": option})
        began = time.perf_counter()
        lines = [f"POST /class/{self.code}/vote HTTP/1.1", "Content-Type: application/json",
                 f"Content-Length: {len(sent)}", "Connection: close"]  # fmt: skip
        reader, writer = await self._open(lines, sent)
        answer = await asyncio.wait_for(reader.read(), PATIENCE_S)
        writer.close()
        assert answer.startswith(b"HTTP/1.1 204"), answer[:200]
        return time.perf_counter() - began

    async def leave(self) -> None:
        """Close the tab."""
        self.listening.cancel()
        self.stream.close()
        with suppress(OSError):
            await self.stream.wait_closed()

    async def _open(
        self, lines: Sequence[str], body: str = ""
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", self.port, local_addr=(self.address, 0)
        )
        head = [lines[0], f"Host: localhost:{self.port}", *lines[1:], "", body]
        writer.write("\r\n".join(head).encode())
        return reader, writer

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        async for line in reader:
            if line.startswith(b"data: {") and len(line) > len(b"data: {}\n"):
                self.events.append(json.loads(line[6:]))
                self.heard.set()


@dataclass(frozen=True)
class Round:
    """What one question took, in seconds, an entry a student; and the server's processor time."""

    moved: list[float]
    votes: list[float]
    revealed: list[float]
    a_vote: float


async def one_round(
    server: Server, store: ClassStore, opened: Opened, hall: list[Follower], scene: int
) -> Round:
    """The lecturer goes to a scene, all vote, and the answers are shown."""
    began = time.perf_counter()
    store.move(opened.code, opened.secret, ClassPosition("journey", {}, scene))
    there = [each.until(lambda heard: heard[-1]["scene"] == scene) for each in hall]
    moved = [at - began for at in await asyncio.gather(*there)]
    await asyncio.sleep(REST_S)
    rng, before = random.Random(scene), Worked.now(server.pid).server

    async def answers(student: Follower) -> float:
        await asyncio.sleep(rng.uniform(0, WITHIN_S))
        return await student.vote(scene, rng.randrange(MOST_OPTIONS))

    votes = await asyncio.gather(*map(answers, hall))
    a_vote = (Worked.now(server.pid).server - before) / len(hall)
    counted = store.course(opened.code).counts[scene]
    assert sum(counted) == len(hall), f"{sum(counted)} votes of {len(hall)} were counted"
    began = time.perf_counter()
    store.reveal(opened.code, opened.secret, scene)
    shown = [each.until(lambda heard: str(scene) in heard[-1]["counts"]) for each in hall]
    return Round(moved, votes, [at - began for at in await asyncio.gather(*shown)], a_vote)


async def measured(server: Server, store: ClassStore, n: int, rounds: int) -> None:
    """All come, some questions are asked, and what it took is printed."""
    opened = store.open(OURS.read_text(encoding="utf-8"))
    port = int(server.url.rpartition(":")[2])
    hall = []
    for number in range(n):
        who, address = f"{number:032}", f"127.0.{1 + number // AT_ONCE}.1"
        hall.append(Follower(port, address, opened.code, who, store.ticket(opened.code, who)))
    before, began = Worked.now(server.pid), time.perf_counter()
    for first in range(0, n, AT_ONCE // 2):
        await asyncio.gather(*(each.come() for each in hall[first : first + AT_ONCE // 2]))
    took, cost = time.perf_counter() - began, Worked.now(server.pid).server - before.server
    heard = sum(len(each.events) for each in hall)
    print(
        f"{n} came in {took:.1f} s, for {1e3 * cost / n:.1f} ms each; {heard / n:.1f} events each"
    )
    before, began = Worked.now(server.pid), time.perf_counter()
    found = [await one_round(server, store, opened, hall, scene) for scene in range(rounds)]
    seconds = time.perf_counter() - began
    others = Worked.now(server.pid).others_since(before) / seconds
    for name in ("moved", "votes", "revealed"):
        values = np.concatenate([getattr(each, name) for each in found])
        p50, p95, most = np.percentile(values, [50, 95, 100])
        print(f"{name:>9}: {p50:.3f} s (p50), {p95:.3f} s (p95), {most:.3f} s (all)")
    least = min(each.a_vote for each in found)
    print(
        f"a vote costs {1e3 * least:.2f} ms of processor time; {usage(server.pid)}; "
        f"others took {others:.2f} cores; load {os.getloadavg()[0]:.1f}"
    )
    for each in hall:
        await each.leave()


def main() -> None:
    """A server, a class, four lines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--students", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--port", type=int, default=9_330)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "classes.sqlite"
        options = ["--host", "0.0.0.0", "--class-store", str(path)]
        with served(chosen.port, chosen.workers, options=options) as server:
            work = measured(server, SqliteStore(path), chosen.students, chosen.rounds)
            asyncio.run(work)


if __name__ == "__main__":
    main()
