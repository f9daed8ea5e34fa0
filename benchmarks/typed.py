"""What one typed sentence costs the server: processor time, beside a page with one text box.

One person types sentences that nobody typed before, each after the page of the last one is there.
Processor time is what the server had, by the system's own count, over all of them.
"""

import asyncio
import random
import subprocess
import sys
from collections.abc import Sequence

from benchmarks.measure import machine
from benchmarks.page import sentence
from benchmarks.serving import ROOT, process_of, streamlit_command, wait_until_up
from tests.person import Person
from tests.served import Worked, free_port

SENTENCES = 100
ROUNDS = 3
REST_S = 0.05


async def milliseconds_a_sentence(port: int, process: "subprocess.Popen[bytes]") -> list[float]:
    """For each round, the mean over its sentences."""
    rng = random.Random(port)
    person = Person(f"ws://localhost:{port}/_stcore/stream", rng)
    await person.open()
    found = []
    for round_ in range(-1, ROUNDS):  # the first is to get warm
        before = Worked.now(process.pid).server
        for _ in range(SENTENCES):
            await person.type(sentence(rng))
            await person.page_there()
            await asyncio.sleep(REST_S)
        if round_ >= 0:
            found.append(1_000 * (Worked.now(process.pid).server - before) / SENTENCES)
    await person.close()
    return found


def measured(command: Sequence[str], port: int) -> list[float]:
    """The same for the server that a command starts."""
    with process_of(command) as process:
        wait_until_up(f"http://localhost:{port}")
        return asyncio.run(milliseconds_a_sentence(port, process))


def main() -> None:
    """Print the table."""
    ports = {"floor": free_port(), "Journey": free_port()}
    commands = {
        "floor": streamlit_command(ROOT / "benchmarks" / "floor_page.py", ports["floor"]),
        "Journey": [sys.executable, "-m", "ffnviz", "app", "--port", str(ports["Journey"])],
    }
    means = {name: measured(commands[name], ports[name]) for name in commands}
    print("## Processor time for one typed sentence, ms\n")
    print("| page | each round | ratio |\n| --- | --- | --- |")
    for name, rounds in means.items():
        ratio = min(rounds) / min(means["floor"])
        print(f"| {name} | {', '.join(f'{mean:.1f}' for mean in rounds)} | {ratio:.1f} |")
    print(f"\n24 tokens, {ROUNDS} rounds of {SENTENCES} sentences. {machine()}")


if __name__ == "__main__":
    main()
