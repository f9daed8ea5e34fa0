"""How each part stands in a window: the share of it that is empty, and whether the page scrolls.

Empty is what no sentence or picture covers of the place that the sheet has, from its first row to
the foot, in squares of 20 pixels, as a share of the whole window. A card that is larger than its
picture is empty around it.
"""

import sys

from playwright.sync_api import Page as Tab

from benchmarks.measure import machine
from benchmarks.serving import chromium
from ffnviz.parts import PAGES
from tests.served import free_port, served

SIZES = ((1920, 1080), (1280, 720))
SQUARE = 20  # pixels
REST_MS = 1_500  # in which charts take their last size

COVERED = """(square) => {
    const boxes = [...document.querySelectorAll(".sheet > .rows .cell")]
        .map((cell) => cell.shadowRoot?.querySelector(".hung"))
        .filter((hung) => hung?.checkVisibility())
        .map((hung) => hung.getBoundingClientRect());
    const sheet = document.querySelector(".sheet > .rows").getBoundingClientRect();
    const foot = document.querySelector(".sheet > .below").getBoundingClientRect();
    const place = { ...sheet.toJSON(), bottom: foot.top };
    const within = (x, y) => ({ left, right, top, bottom }) =>
        x >= left && x <= right && y >= top && y < bottom;
    let empty = 0, all = 0;
    for (let y = square / 2; y < innerHeight; y += square) {
        for (let x = square / 2; x < innerWidth; x += square) {
            all += 1;
            empty += within(x, y)(place) && !boxes.some(within(x, y));
        }
    }
    const main = document.querySelector("[data-testid=stMain]");
    return [empty / all, main.scrollHeight - main.clientHeight];
}"""
READY = """() => document.querySelector('[data-test-script-state="notRunning"]') &&
    document.querySelector(".sheet .rows .cell") &&
    !document.querySelector("[data-cell$=-invitation]") &&
    !document.querySelector("[data-cell=rail]")?.shadowRoot?.querySelector(".busy")
        ?.checkVisibility() &&
    [...document.querySelectorAll(".sheet [data-kind=chart]")]
        .every((chart) => chart.shadowRoot?.querySelector("[data-painted]:not(span)"))"""


def looked_at(tab: Tab, address: str, size: tuple[int, int]) -> tuple[float, int]:
    """The empty share of the window, and how many pixels do not fit it."""
    tab.set_viewport_size({"width": size[0], "height": size[1]})
    tab.goto(address)
    tab.wait_for_function(READY, timeout=300_000)  # all claims take a while
    tab.wait_for_timeout(REST_MS)
    empty, beyond = tab.evaluate(COVERED, SQUARE)
    return float(empty), int(beyond)


def main() -> None:
    """Print the table."""
    print(f"{machine()}\n")
    print("| part | " + " | ".join(f"{w} × {h} empty | scrolls by" for w, h in SIZES) + " |")
    print("| --- |" + " ---: | ---: |" * len(SIZES))
    with served(free_port()) as server, chromium() as browser:
        tab = browser.new_page()
        tab.goto(server.url)  # the welcome is for who comes for the first time
        tab.evaluate("localStorage.setItem('ffnviz-welcome-closed', 'yes')")
        wanted = sys.argv[1:]  # pages; all if none is named
        for page in [page for page in PAGES if not wanted or page.name in wanted]:
            for part in page.parts:
                address = f"{server.url}/{page.name}?part={part.name}&repeats=5"
                seen = [looked_at(tab, address, size) for size in SIZES]
                cells = " | ".join(f"{empty:.0%} | {max(0, beyond)}" for empty, beyond in seen)
                print(f"| {page.title}: {part.title} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
