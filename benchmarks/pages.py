"""A click on a token, on the block, and a slider's move, on every page, against the floor page.

From the click to everything painted, in the browser's own time, and what each of these runs took on
the server. The floor is the page with one text box and one canvas: from Enter to painted.
"""

import random
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from playwright.sync_api import Browser, Page

from benchmarks.measure import machine, table
from benchmarks.page import ACT, enter_to_painted, sentence
from benchmarks.serving import ROOT, chromium, running, wait_until_up
from ffnviz.analysis.measuring import Spread
from tests.served import free_port

REPEATS = 15
WARM_UP = 3
TEXT = "the little girl opened a door and looked out of her window but it was dark there and she"
PARTS = {
    "journey": [""],
    "sparsity": [
        "bend",
        "bend&phi_view=all",
        "bend&phi_view=gate",
        "awake",
        "keep",
        "keep&keep_view=width",
        "awake&training_view=birth",
        "awake&training_view=never",
    ],
    "dimensions": [
        "flow",
        "flow&shapes_view=same",
        "cost",
        "cost&cost_view=growth",
        "wider",
        "separate",
        "warp",
    ],
    "vocabulary": ["softmax", "softmax&softmax_view=write&words=8", "lens", "parts"],
    "neurons": [
        "wakes",
        "wakes&activations_view=tags",
        "writes",
        "working",
        "switch",
        "plant",
        "compare",
    ],
    "lab": [
        "positions",
        "positions&positions_view=sharing",
        "positions&positions_view=convolution",
        "bend",
        "linear",
        "residual",
        "residual&residual_view=dropout",
    ],
    "timing": ["stages", "stages&stages_view=products"],
}
WITH_SLIDER = {
    "awake",
    "keep",
    "cost",
    "softmax",
    "softmax&softmax_view=write&words=8",
    "linear",
    "keep&keep_view=width",
    "residual&residual_view=dropout",
    "residual",
}


def repeated(act: Callable[[], float], log: Path, page: Page) -> tuple[Spread, Spread]:
    """Painted, and on the server, in milliseconds."""
    painted, on_server = [], []
    for repeat in range(WARM_UP + REPEATS):
        log.write_text("", encoding="utf-8")
        taken = act()
        page.wait_for_timeout(80)
        if repeat >= WARM_UP:
            painted.append(taken)
            on_server.append(sum(map(float, log.read_text(encoding="utf-8").split())))
    return Spread.of(painted), Spread.of(on_server)


def measure_floor(page: Page, address: str, log: Path) -> tuple[Spread, Spread]:
    """The floor page: a sentence, Enter, one canvas."""
    rng = random.Random(0)
    page.goto(address)
    page.wait_for_selector("[data-painted]")
    page.wait_for_timeout(2_000)
    return repeated(lambda: enter_to_painted(page, "floor", sentence(rng)), log, page)


def measure_part(
    page: Page, address: str, log: Path, part: str
) -> dict[str, tuple[Spread, Spread]]:
    """Each action of one part of a page."""
    page.goto(f"{address}?text={TEXT}&part={part}")
    page.wait_for_selector("[data-painted]")
    page.wait_for_timeout(2_000)
    if address.endswith("/timing"):
        page.get_by_role("button", name="Measure").click()
        page.wait_for_selector("figure[data-painted]")
        page.wait_for_timeout(1_000)
    kinds = ["token", "block", *(["slider"] if part in WITH_SLIDER else [])]
    return {kind: repeated(partial(page.evaluate, ACT, kind), log, page) for kind in kinds}


def rows(browser: Browser, addresses: dict[str, str], logs: dict[str, Path]) -> list[list[object]]:
    """A line for each action, the floor measured anew before every page."""
    found: list[list[object]] = []
    page = browser.new_page(viewport={"width": 1920, "height": 1080})
    floor_page = browser.new_page(viewport={"width": 1920, "height": 1080})
    for name, parts in PARTS.items():
        floor_page.bring_to_front()
        floor, floor_server = measure_floor(floor_page, addresses["floor"], logs["floor"])
        found.append(["floor", "Enter", floor, "1.00", floor_server, "1.0"])
        page.bring_to_front()
        for part in parts:
            done = measure_part(page, f"{addresses['app']}/{name}", logs["app"], part)
            for kind, (painted, server) in done.items():
                print(name, part, kind, painted, server, file=sys.stderr)
                found.append([
                    f"{name} {part.partition('&')[0]}".strip(), kind, painted,
                    f"{painted.median / floor.median:.2f}", server,
                    f"{server.median / floor_server.median:.1f}",
                ])  # fmt: skip
    return found


def main() -> None:
    """Print the table."""
    ports = {"app": free_port(), "floor": free_port()}
    scripts = {"app": ROOT / "app.py", "floor": ROOT / "benchmarks" / "floor_page.py"}
    with tempfile.TemporaryDirectory() as folder:
        logs = {name: Path(folder) / name for name in scripts}
        commands = {
            name: [sys.executable, "-m", "benchmarks.timed_server", str(logs[name]), str(script),
                   "--server.port", str(ports[name])]
            for name, script in scripts.items()
        }  # fmt: skip
        with (
            running(commands["app"], ports["app"]) as app,
            running(commands["floor"], ports["floor"]) as floor,
            chromium() as browser,
        ):
            addresses = {"app": app, "floor": floor}
            for address in addresses.values():
                wait_until_up(address)
            lines = rows(browser, addresses, logs)
    print("## A click or a slider's move to painted, and on the server; ms: median (quartiles)\n")
    print(table(("page", "action", "painted", "ratio", "on the server", "ratio"), lines))
    n_words = len(TEXT.split())
    print(f"\n{n_words} words, {REPEATS} runs of each, 1920 × 1080. {machine()}")


if __name__ == "__main__":
    main()
