"""From `make run` to the first painted page, against `streamlit run` of a page that imports torch.

The environment is there already, the browser is open, and both start in turn. The clock starts
with the command and stops when everything on the page is painted.
"""

import time

from playwright.sync_api import Browser

from benchmarks import serving
from benchmarks.measure import machine, ratios
from ffnviz.analysis.measuring import Spread
from tests.served import free_port

REPEATS = 7
DONE = {
    "make run": ".maps[data-painted]",
    "torch page": "text=is there",
}


def start_to_painted(browser: Browser, name: str) -> float:
    """Seconds from the command to the painted page."""
    port = free_port()
    if name == "make run":
        command = ["make", "--no-print-directory", "run", f"PORT={port}"]
    else:
        command = serving.streamlit_command(serving.ROOT / "benchmarks" / "torch_page.py", port)
    page = browser.new_page(viewport={"width": 1920, "height": 1080})
    started = time.perf_counter()
    with serving.running(command, port) as address:
        serving.wait_until_up(address)
        page.goto(address)
        page.wait_for_selector(DONE[name], timeout=120_000)
        page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')
        taken = time.perf_counter() - started
    page.close()
    return taken


def main() -> None:
    """Print the table."""
    samples: dict[str, list[float]] = {name: [] for name in DONE}
    with serving.chromium() as browser:
        for repeat in range(REPEATS + 1):
            for name in DONE:
                taken = start_to_painted(browser, name)
                if repeat:  # the first fills the disk cache
                    samples[name].append(taken)
    spreads = {name: Spread.of(taken) for name, taken in samples.items()}
    print("## Command to first painted page, s: median (quartiles)\n")
    print(ratios(spreads, "torch page", "command", "s"))
    print(f"\nWarm environment. {machine()}")


if __name__ == "__main__":
    main()
