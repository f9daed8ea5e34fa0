"""A class types at once: how long after the last key everybody's page is there.

Each person types sentences key by key, as a browser sends them: a text leaves when no key has come
for as long as the box waits. A page is settled when its last run is finished and no other follows.
Others may have long work computed meanwhile, as soon as one is done the next.

    python -m benchmarks.class_load --people 30 100 --seconds 40 --key 1 --workers 1 --measuring 5
    python -m benchmarks.class_load --people 5 --key 0.3 --seconds 45 --training 1 --repeats 5

With repeats, each is typed alone first and then beside the others, and the ratio of both is told.
"""

import argparse
import asyncio
import os
import random
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tests.person import Person
from tests.served import Server, Worked, served, usage

LEARN = ("learn", "part=train")
TRAIN = {"cell": "learn-bar", "name": "ask", "value": "train"}
TRAIN_EVERY_S = 45.0  # sooner than one is trained: it begins anew
LONG_WORK = ("lab", "part=claims", "Test all claims")
PRESS_EVERY_S = 0.5
WARM_UP_S = 10.0
REST_S = 12.0  # until what nobody waits for any more has ended


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
        busy: processors that the server kept busy, with all it had computed.
    """

    settled: NDArray[np.float64]
    after_sending: NDArray[np.float64]
    runs_per_s: float
    pause_ms: float
    broken: int
    page_ms: float
    others: float
    busy: float


async def class_types(
    server: Server, n: int, seconds: float, key_s: float, measuring: int = 0, training: int = 0
) -> Load:
    """N people type for so many seconds; some have long work computed, or a network trained."""
    people = [Person(server.socket, random.Random(i)) for i in range(n)]
    page, query, label = LONG_WORK
    busy = [Person(server.socket, random.Random(i), page, query) for i in range(measuring)]
    trainers = [Person(server.socket, random.Random(i), *LEARN) for i in range(training)]
    for person in (*people, *busy, *trainers):
        await person.open()
    pressing = [asyncio.create_task(keep_training(person)) for person in trainers]
    pressing += [asyncio.create_task(keep_pressing(person, label)) for person in busy]
    before, began = sum(person.runs for person in people), time.perf_counter()
    worked = Worked.now(server.pid)
    until = began + seconds
    await asyncio.gather(*(person.type_sentences(until, key_s) for person in people))
    took = time.perf_counter() - began
    runs = sum(person.runs for person in people) - before
    now = Worked.now(server.pid)
    for task in pressing:
        task.cancel()
    for person in (*people, *busy, *trainers):
        await person.close()
    times = np.array([pair for person in people for pair in person.settled])
    return Load(
        times[:, 0],
        times[:, 1],
        runs / took,
        float(np.mean([1_000 * person.pause_s for person in people])),
        sum(person.broken for person in (*people, *busy, *trainers)),
        1_000 * (now.server - worked.server) / max(1, runs),
        now.others_since(worked) / took,
        (now.server - worked.server) / took,
    )


async def keep_pressing(person: Person, label: str) -> None:
    """Press a button whenever it is there; while its work is on its way it is not."""
    while True:
        await person.press(label)
        await asyncio.sleep(PRESS_EVERY_S)


async def keep_training(person: Person) -> None:
    """Train, and begin anew before it is over; the page runs along."""
    while True:
        await person.tell(TRAIN)
        await asyncio.sleep(TRAIN_EVERY_S)


def row(n: int, key_s: float, load: Load) -> str:
    """One line of the table."""
    sent = [f"{1e3 * np.percentile(load.after_sending, q):8.0f}" for q in (50, 95, 100)]
    key = [f"{1e3 * np.percentile(load.settled, q):8.0f}" for q in (50, 95)]
    return (
        f"{n:6} {key_s:5g} {len(load.settled):9} {load.runs_per_s:7.1f} {load.page_ms:7.0f} "
        f"{' '.join(sent)} {' '.join(key)} {load.pause_ms:6.0f} {load.broken:6} {load.others:6.1f} "
        f"{load.busy:5.1f}"
    )


HEAD = (
    "                        pages/s  CPU ms   ms after sending it         after last key   ms\n"
    "people key_s sentences           a page      p50      p95      max      p50      p95  pause "
    "broken others  busy"
)


def beside(server: Server, n: int, chosen: argparse.Namespace) -> str:
    """Alone and beside others in turn; says how much longer typing took beside them."""
    others = (chosen.measuring, chosen.training)
    found: dict[bool, list[NDArray[np.float64]]] = {False: [], True: []}
    asyncio.run(class_types(server, n, WARM_UP_S, chosen.key))
    for _ in range(chosen.repeats):
        for with_others, times in found.items():
            time.sleep(REST_S)
            load = asyncio.run(
                class_types(
                    server, n, chosen.seconds, chosen.key, *(others if with_others else (0, 0))
                )
            )
            print(row(n, chosen.key, load), "beside" if with_others else "alone", flush=True)
            times.append(load.after_sending)
    pairs = zip(found[True], found[False], strict=True)
    each = sorted(float(np.percentile(a, 95) / np.percentile(b, 95)) for a, b in pairs)
    first, second = (1e3 * np.percentile(np.concatenate(found[has]), 95) for has in (False, True))
    return (
        f"p95 of all: {first:.0f} ms alone, {second:.0f} ms beside others, ratio "
        f"{second / first:.2f}; of each repeat {', '.join(f'{ratio:.2f}' for ratio in each)}"
    )


def main() -> None:
    """A server, a class, a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, nargs="+", default=[30])
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--key", type=float, default=1.0, help="seconds between keys; 0: no keys")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--measuring", type=int, default=0, help="others who test all claims")
    parser.add_argument("--training", type=int, default=0, help="others who train on Learn")
    parser.add_argument("--repeats", type=int, default=0, help="alone and beside others, in turn")
    parser.add_argument("--port", type=int, default=9_300)
    chosen = parser.parse_args()
    print(HEAD, flush=True)
    with served(chosen.port, chosen.workers) as server:
        for n in chosen.people:
            if chosen.repeats:
                print(beside(server, n, chosen), flush=True)
                continue
            others = (chosen.measuring, chosen.training)
            load = class_types(server, n, chosen.seconds, chosen.key, *others)
            print(row(n, chosen.key, asyncio.run(load)), flush=True)
        print(f"{usage(server.pid)}; load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
