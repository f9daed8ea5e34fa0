"""What a server holds after a class has left: visits that read a long sentence and close the tab.

Prints resident memory, open files and threads before, right after and once the closed sessions have
expired. `python -m benchmarks.memory 192` makes so many visits; each types a sentence of its own.
`python -m benchmarks.memory --workers 4` shows what several processes hold together.
"""

import argparse
import asyncio
import random
import sys
import time
from pathlib import Path
from urllib.parse import urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

from benchmarks.measure import machine, table
from benchmarks.page import sentence
from benchmarks.serving import process_of, wait_until_up
from tests.served import free_port, started_by

VISITS = 192
WORDS = 140
AT_ONCE = 4
EXPIRED_AFTER_S = 150
PART = "sparsity"


def held(pid: int) -> tuple[float, int, int]:
    """Resident memory in MB, open files, threads."""
    process = Path("/proc") / str(pid)
    status = dict(
        line.split(":", 1) for line in (process / "status").read_text().splitlines() if ":" in line
    )
    files = len(list((process / "fd").iterdir()))
    return int(status["VmRSS"].split()[0]) / 1024, files, int(status["Threads"])


async def visit(port: int, text: str) -> None:
    """Open the page by a link, wait until its script has ended, and close the tab."""
    message = BackMsg()
    query = {"text": text, "part": "awake"}
    message.rerun_script.query_string = urlencode(query)
    message.rerun_script.page_name = PART
    async with connect(
        f"ws://localhost:{port}/_stcore/stream",
        subprotocols=[Subprotocol("streamlit")],
        max_size=None,
    ) as socket:
        await socket.send(message.SerializeToString())
        while True:
            told = ForwardMsg()
            told.ParseFromString(await asyncio.wait_for(socket.recv(), 120))
            if told.WhichOneof("type") == "script_finished":
                return


async def visits(port: int, n: int) -> None:
    """So many of them, a few at the same time."""
    chance = random.Random(1)
    gate = asyncio.Semaphore(AT_ONCE)

    async def one() -> None:
        async with gate:
            await visit(port, sentence(chance, WORDS))

    await asyncio.gather(*(one() for _ in range(n)))


def shared(n_workers: int) -> None:
    """Print what each of several processes holds, and its share of what they map together."""
    port = free_port()
    options = ["--port", str(port), "--workers", str(n_workers)]
    with process_of([sys.executable, "-m", "ffnviz", "app", *options]) as server:
        wait_until_up(f"http://localhost:{port}")
        held_by: dict[int, list[float]] = {}
        while len(held_by) < n_workers:  # whoever is asked loads the networks
            asyncio.run(visits(port, 2 * n_workers))
            parts = {pid: proportional(pid) for pid in started_by(server.pid)}
            held_by = {pid: found for pid, found in parts.items() if found[2]}
    rows = [(pid, *(f"{megabytes:.0f}" for megabytes in found)) for pid, found in held_by.items()]
    header = ("process", "resident MB", "proportional", "weights, resident", "proportional")
    print(table(header, rows))


def proportional(pid: int) -> list[float]:
    """Resident and proportional MB of a process, and of the weights that it maps (Linux)."""
    whole, weights = [0.0, 0.0], [0.0, 0.0]
    is_weights = False
    for line in (Path("/proc") / str(pid) / "smaps").read_text().splitlines():
        name, _, value = line.partition(":")
        if name in ("Rss", "Pss"):
            for sums in (whole, *([weights] if is_weights else [])):
                sums[name == "Pss"] += int(value.split()[0]) / 1024
        elif " " in name:  # another mapping
            is_weights = line.endswith(".f32")
    return [*whole, *weights]


def main() -> None:
    """Make the visits and print the table; or those of several processes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("visits", type=int, nargs="?", default=VISITS)
    parser.add_argument("--workers", type=int, default=1, help="show what so many share")
    chosen = parser.parse_args()
    print(machine())
    if chosen.workers > 1:
        shared(chosen.workers)
        return
    n, port = chosen.visits, free_port()
    with process_of([sys.executable, "-m", "ffnviz", "app", "--port", str(port)]) as server:
        wait_until_up(f"http://localhost:{port}")
        rows = [("at rest, nobody has come", *held(server.pid))]
        asyncio.run(visits(port, 1))
        rows.append(("after one visit", *held(server.pid)))
        asyncio.run(visits(port, n))
        rows.append((f"after {n} visits of {WORDS} words", *held(server.pid)))
        time.sleep(EXPIRED_AFTER_S)
        rows.append((f"{EXPIRED_AFTER_S} s later", *held(server.pid)))
    for name, memory, files, threads in rows:
        print(f"{name:<36}{memory:8.0f} MB {files:5} files {threads:4} threads")


if __name__ == "__main__":
    main()
