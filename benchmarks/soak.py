"""People over all pages and parts for a long time, and a thousand who come and go: what stays?

    python -m benchmarks.soak --minutes 30 --people 20 --sessions 1000

Each person turns to a part, types, presses what buttons measure, and turns to the next. Memory,
file descriptors and threads are of the server and all it started.
"""

import argparse
import asyncio
import random
import tempfile
import time
from pathlib import Path
from urllib.parse import urlencode

from ffnviz.parts import PAGES
from tests.person import WORDS, Person
from tests.served import Server, served, usage

BUTTONS = ("Measure", "Test all claims", "Fit", "Differentiate", "Measure on the probe sentences",
           "Write 10", "Write a word")  # fmt: skip
AT_ONCE = 20
REST_S = 45  # the server looks for ended sessions every ten seconds, when it is quiet
ERRORS = ("Traceback", "ERROR", "Exception")


async def wanders(person: Person, until: float) -> None:
    """From part to part, as long as there is time."""
    await person.open()
    while time.perf_counter() < until:
        page = person.rng.choice(PAGES)
        part = person.rng.choice(page.parts)
        text = " ".join(person.rng.choices(WORDS, k=person.rng.randint(1, 40)))
        query = {"part": part.name, "text": text}
        for setting in part.settings:
            if setting.options:
                query[setting.name] = person.rng.choice(list(setting.options))
        await person.close()
        person = Person(person.url, person.rng, page.name, urlencode(query), person.runs,
                        person.broken)  # fmt: skip
        await person.open()
        for _ in range(3):
            await asyncio.sleep(person.rng.uniform(1, 5))
            await person.type(" ".join(person.rng.choices(WORDS, k=12)))
        for label in BUTTONS:
            await person.press(label)
        await asyncio.sleep(person.rng.uniform(1, 5))
    await person.close()
    assert person.broken == 0, "there was a stack trace on a page"


async def soak(server: Server, people: int, minutes: float, every_s: float) -> None:
    """Everybody wanders; a line now and then."""
    began = time.perf_counter()
    until = began + 60 * minutes
    all_of_them = [Person(server.socket, random.Random(i)) for i in range(people)]
    tasks = [asyncio.create_task(wanders(person, until)) for person in all_of_them]
    while not all(task.done() for task in tasks):
        print(f"{(time.perf_counter() - began) / 60:5.1f} min  {usage(server.pid)}", flush=True)
        await asyncio.wait(tasks, timeout=every_s)
    for task in tasks:
        task.result()


async def come_and_go(server: Server, sessions: int) -> None:
    """So many pages are opened, typed in once, and closed."""

    async def visit(n: int) -> None:
        person = Person(server.socket, random.Random(n), "", f"text=visit+number+{n}")
        await person.open()
        await person.type(f"visit {n} goes on")
        await asyncio.sleep(0.2)
        await person.close()

    for first in range(0, sessions, AT_ONCE):
        await asyncio.gather(*(visit(n) for n in range(first, min(sessions, first + AT_ONCE))))


def main() -> None:
    """A server, the people, and what is left when they have gone."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--sessions", type=int, default=100)
    parser.add_argument("--every", type=float, default=30, help="seconds between two lines")
    parser.add_argument("--port", type=int, default=9_320)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        with served(chosen.port, log=log) as server:
            asyncio.run(come_and_go(server, AT_ONCE))
            print(f"warm       {usage(server.pid)}", flush=True)
            if chosen.minutes:
                asyncio.run(soak(server, chosen.people, chosen.minutes, chosen.every))
                time.sleep(REST_S)
                print(f"all gone   {usage(server.pid)}", flush=True)
            for n in (chosen.sessions // 2,) * 2 if chosen.sessions > 1 else ():
                began = time.perf_counter()
                asyncio.run(come_and_go(server, n))
                took = time.perf_counter() - began
                time.sleep(REST_S)
                print(f"{n} came and went in {took:.0f} s: {usage(server.pid)}", flush=True)
        lines = [line for line in log.read_text().splitlines() if any(e in line for e in ERRORS)]
        print(f"errors in the log: {len(lines)}", *lines[:5], sep="\n  ")


if __name__ == "__main__":
    main()
