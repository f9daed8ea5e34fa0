"""What a visit of the Journey brings over the wire, beside a page with one canvas.

And what a sentence makes it compute. What is counted, and the limits, stand in
tests/browser/budget.py and tests/parts/sentence_cost.py.
"""

import sys

from benchmarks import serving
from benchmarks.measure import machine, table
from tests.browser.budget import LIMITS, counts, visits
from tests.parts import sentence_cost
from tests.served import free_port


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
        for name, address in (("one canvas", floor), ("Journey", page)):
            for visit, wire in zip(("first", "second"), visits(browser, address), strict=True):
                kilobytes = sum(wire.fetched.values()) / 1_000
                rows.append((name, visit, len(wire.fetched), f"{kilobytes:,.0f}"))
        print("## Visits\n")
        print(table(("page", "visit", "requests", "kB"), rows))
        found = counts(browser, page) | sentence_cost.sentence_cost()
    print("\n## The Journey\n")
    limits = LIMITS | sentence_cost.LIMITS
    lines = [(name, f"{n:,.0f}", limits.get(name, "")) for name, n in found.items()]
    print(table(("what", "is", "limit"), lines))
    print(f"\n{machine()}")


if __name__ == "__main__":
    main()
