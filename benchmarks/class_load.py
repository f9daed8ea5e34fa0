"""A class types at once: how long after the last key everybody's page is there.

Each person types sentences key by key, as a browser sends them: a text leaves when no key has come
for as long as the box waits. A page is settled when its last run is finished and no other follows.

    python -m benchmarks.class_load --people 30 --seconds 40 --key 1 --workers 1
"""

import argparse
import asyncio
import os
import random
import time
from dataclasses import dataclass, field

import numpy as np
import websockets
from numpy.typing import NDArray
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from benchmarks.served import Server, Worked, served, usage

WORDS = "the old man opened a door and saw his little dog run over green hills".split()  # noqa: SIM905
LETTERS_A_KEY = 4  # so many letters appear at once: fewer keys, the same pace
QUIET_S = 1.0  # no other run for so long: settled
PATIENCE_S = 180


@dataclass
class Person:
    """Somebody with a page open.

    Attributes:
        url: of the server's socket.
        rng: what they type.
        runs: pages they got.
        broken: stack traces they got.
        settled: for each sentence, seconds from its last key, and from when it was sent.
    """

    url: str
    rng: random.Random
    query: str = ""
    runs: int = 0
    broken: int = 0
    settled: list[tuple[float, float]] = field(default_factory=list)
    _box: str = ""
    _pause_s: float = 0.25
    _finished: float = 0.0
    _done: asyncio.Event = field(default_factory=asyncio.Event)

    async def open(self) -> None:
        """Open the page, and wait until it is there."""
        self._socket = await websockets.connect(
            self.url, subprotocols=["streamlit"], max_size=None, compression=None, open_timeout=120
        )
        self._reading = asyncio.create_task(self._read())
        await self.send(None)
        await asyncio.wait_for(self._done.wait(), PATIENCE_S)

    async def close(self) -> None:
        """Close the tab."""
        self._reading.cancel()
        await self._socket.close()

    async def type_sentences(self, until: float, key_s: float) -> None:
        """One sentence after the other, with a pause to look at each."""
        await asyncio.sleep(self.rng.random() * 2)
        while time.perf_counter() < until:
            words = [self.rng.choice(WORDS) for _ in range(self.rng.randint(5, 14))]
            await self._type(" ".join(words), key_s)
            await asyncio.sleep(self.rng.random() * 4)

    async def _type(self, sentence: str, key_s: float) -> None:
        if key_s:
            for n in range(LETTERS_A_KEY, len(sentence), LETTERS_A_KEY):
                await asyncio.sleep(min(key_s, self._pause_s))
                if key_s >= self._pause_s:
                    await self.send(sentence[:n])
                    await asyncio.sleep(key_s - self._pause_s)
        last_key = time.perf_counter()
        await asyncio.sleep(self._pause_s if key_s else 0.0)
        sent = time.perf_counter()
        await self.send(sentence)
        while True:
            await self._done.wait()
            finished = self._finished
            await asyncio.sleep(QUIET_S)
            if self._finished == finished:
                self.settled.append((finished - last_key, finished - sent))
                return

    async def send(self, text: str | None) -> None:
        """Ask for the page, with a text in the box."""
        message = BackMsg()
        message.rerun_script.query_string = self.query
        if text is not None:
            widget = message.rerun_script.widget_states.widgets.add()
            widget.id, widget.string_value = self._box, text
        self._done.clear()
        await self._socket.send(message.SerializeToString())

    async def _read(self) -> None:
        async for raw in self._socket:
            message = ForwardMsg()
            message.ParseFromString(raw if isinstance(raw, bytes) else raw.encode())
            kind = message.WhichOneof("type")
            if kind == "delta" and message.delta.WhichOneof("type") == "new_element":
                element = message.delta.new_element
                if element.WhichOneof("type") == "text_input":
                    self._box = element.text_input.id
                    self._pause_s = element.text_input.live_debounce_ms / 1_000
                self.broken += element.WhichOneof("type") == "exception"
            elif kind == "script_finished":
                self.runs += 1
                self._finished = time.perf_counter()
                self._done.set()


@dataclass(frozen=True)
class Load:
    """What a class met with.

    Attributes:
        settled: seconds from the last key, one a sentence.
        after_sending: the same without the box's pause.
        runs_per_s: pages finished.
        pause_ms: of the box at the end, the mean.
        broken: stack traces.
        page_ms: the server's processor time for a page.
        others: processors that other programs kept busy meanwhile.
    """

    settled: NDArray[np.float64]
    after_sending: NDArray[np.float64]
    runs_per_s: float
    pause_ms: float
    broken: int
    page_ms: float
    others: float


async def class_types(
    server: Server, n: int, seconds: float, key_s: float, query: str = ""
) -> Load:
    """N people type for so many seconds."""
    people = [Person(server.socket, random.Random(i), query) for i in range(n)]
    for person in people:
        await person.open()
    before, began = sum(person.runs for person in people), time.perf_counter()
    worked = Worked.now(server.pid)
    until = began + seconds
    await asyncio.gather(*(person.type_sentences(until, key_s) for person in people))
    took = time.perf_counter() - began
    runs = sum(person.runs for person in people) - before
    now = Worked.now(server.pid)
    page_ms = 1_000 * (now.server - worked.server) / max(1, runs)
    for person in people:
        await person.close()
    times = np.array([pair for person in people for pair in person.settled])
    pause = float(np.mean([1_000 * person._pause_s for person in people]))
    broken = sum(person.broken for person in people)
    others = now.others_since(worked) / took
    return Load(times[:, 0], times[:, 1], runs / took, pause, broken, page_ms, others)


def row(n: int, key_s: float, load: Load) -> str:
    """One line of the table."""
    sent = [f"{1e3 * np.percentile(load.after_sending, q):8.0f}" for q in (50, 95, 100)]
    key = [f"{1e3 * np.percentile(load.settled, q):8.0f}" for q in (50, 95)]
    return (
        f"{n:6} {key_s:5g} {len(load.settled):9} {load.runs_per_s:7.1f} {load.page_ms:7.0f} "
        f"{' '.join(sent)} {' '.join(key)} {load.pause_ms:6.0f} {load.broken:6} {load.others:6.1f}"
    )


HEAD = (
    "                        pages/s  CPU ms   ms after sending it         after last key   ms\n"
    "people key_s sentences           a page      p50      p95      max      p50      p95  pause "
    "broken others"
)


def main() -> None:
    """A server, a class, a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, nargs="+", default=[30])
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--key", type=float, default=1.0, help="seconds between keys; 0: no keys")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--query", default="", help="of the URL they open, after the “?”")
    parser.add_argument("--port", type=int, default=9_300)
    chosen = parser.parse_args()
    print(HEAD, flush=True)
    with served(chosen.port, chosen.workers) as server:
        for n in chosen.people:
            load = class_types(server, n, chosen.seconds, chosen.key, chosen.query)
            print(row(n, chosen.key, asyncio.run(load)), flush=True)
        print(f"{usage(server.pid)}; load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
