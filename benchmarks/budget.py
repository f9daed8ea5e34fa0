"""What a visit of the Journey brings over the wire, beside a page with one canvas.

And what a sentence makes it compute. What is counted, and the limits, stand in
tests/browser/budget.py and tests/parts/sentence_cost.py.
"""

import sys
import time

from playwright.sync_api import Browser

from benchmarks import serving
from benchmarks.measure import machine, ratios, table
from ffnviz.analysis.measuring import Spread
from tests.browser.budget import LIMITS, counts, visits
from tests.parts import sentence_cost
from tests.served import free_port

REPEATS = 5
# A telephone's line: 1.5 Mbit/s, and 150 ms before anything comes.
SLOW = {
    "offline": False,
    "latency": 150,
    "downloadThroughput": 1.5e6 / 8,
    "uploadThroughput": 0.75e6 / 8,
}
DRAWN = """() => [...document.querySelectorAll("*")]
    .some((e) => e.shadowRoot?.querySelector("canvas")?.width > 0)"""


def first_canvas_s(browser: Browser, address: str) -> float:
    """Seconds until a browser that keeps nothing yet shows a first picture over a slow line."""
    with browser.new_context() as context:
        page = context.new_page()
        line = context.new_cdp_session(page)
        line.send("Network.enable")
        line.send("Network.emulateNetworkConditions", SLOW)
        started = time.monotonic()
        page.goto(address, wait_until="commit")
        page.wait_for_function(DRAWN, polling=20)
        return time.monotonic() - started


def main() -> None:
    """Print the tables."""
    ports = [free_port(), free_port()]
    bare = serving.streamlit_command(serving.ROOT / "benchmarks" / "floor_page.py", ports[0])
    ours = [sys.executable, "-m", "ffnviz", "app", "--port", str(ports[1])]
    with (
        serving.chromium() as browser,
        serving.running(bare, ports[0]) as floor,
        serving.running(ours, ports[1]) as page,
    ):
        serving.wait_until_up(floor)
        serving.wait_until_up(page)
        rows = []
        pages = {"one canvas": floor, "Journey": page}
        for name, address in pages.items():
            for visit, wire in zip(("first", "second"), visits(browser, address), strict=True):
                kilobytes = sum(wire.fetched.values()) / 1_000
                rows.append((name, visit, len(wire.fetched), f"{kilobytes:,.0f}"))
        print("## Visits\n")
        print(table(("page", "visit", "requests", "kB"), rows))
        slow = {
            name: Spread.of([first_canvas_s(browser, at) for _ in range(REPEATS)])
            for name, at in pages.items()
        }
        print("\n## First picture over 1.5 Mbit/s and 150 ms\n")
        print(ratios(slow, "one canvas", "page", "s"))
        found = counts(browser, page) | sentence_cost.sentence_cost()
    print("\n## The Journey\n")
    limits = LIMITS | sentence_cost.LIMITS
    lines = [(name, f"{n:,.0f}", limits.get(name, "")) for name, n in found.items()]
    print(table(("what", "is", "limit"), lines))
    print(f"\n{machine()}")


if __name__ == "__main__":
    main()
