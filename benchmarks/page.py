"""From Enter or a click to everything painted: the Journey against a page with one canvas.

The Journey is served by `ffnviz app`, the other by `streamlit run`, both with this folder's
settings, and asked in turn by the same browser. A sentence is put into the box and Enter pressed;
the clock, the browser's own, stops in the second animation frame after every picture of the page
says that it shows this sentence and the script has ended. Then, on the Journey, another token and
another block are clicked.
"""

import random
import sys
import zlib

from playwright.sync_api import Browser, Page

from benchmarks import serving
from benchmarks.measure import machine, ratios
from ffnviz.analysis.measuring import Spread
from tests.served import free_port

REPEATS = 30
CLICKS = {"journey, a token": "token", "journey, a block": "block"}
WORDS = [
    "the",
    "little",
    "girl",
    "opened",
    "a",
    "door",
    "and",
    "looked",
    "out",
    "of",
    "her",
    "window",
    "but",
    "it",
    "was",
    "dark",
    "there",
]

# Called with the text to wait for; true once all that the page draws shows it.
READY = {
    "journey": """(text) => {
        const shown = JSON.stringify(text).slice(1, -1);
        const pictures = window.pictures ||= (() => {
            const found = [];
            const walk = (node) => {
                for (const child of node.querySelectorAll("*")) {
                    if (child.dataset && child.dataset.painted) found.push(child);
                    if (child.shadowRoot) walk(child.shadowRoot);
                }
            };
            walk(document);
            return found;
        })();
        return pictures.length === 5 && pictures.every((p) => p.dataset.painted.includes(shown));
    }""",
    "floor": """(seed) => {
        const canvas = window.canvas ||= [...document.querySelectorAll("*")]
            .map((e) => e.shadowRoot && e.shadowRoot.querySelector("canvas")).find(Boolean);
        return canvas && canvas.dataset.painted === String(seed);
    }""",
}

PRESS_AND_WAIT = """async ([ready, wanted]) => {
    const isReady = eval(ready);
    const app = document.querySelector('[data-testid="stApp"]');
    const box = document.querySelector("input[type=text]");
    const frame = () => new Promise(requestAnimationFrame);
    const started = performance.now();
    box.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
    box.dispatchEvent(new KeyboardEvent("keypress", { key: "Enter", bubbles: true }));
    for (;;) {
        await frame();
        if (isReady(wanted) && app.dataset.testScriptState === "notRunning") break;
        if (performance.now() - started > 20000) throw new Error("not painted within 20 s");
    }
    await frame();
    return performance.now() - started;
}"""

# Acts, and returns the milliseconds until every picture says something new and the script ended.
ACT = """async (kind) => {
    const roots = [...document.querySelectorAll("*")].map((e) => e.shadowRoot).filter(Boolean);
    const all = (query) => roots.flatMap((root) => [...root.querySelectorAll(query)]);
    const app = document.querySelector('[data-testid="stApp"]');
    const pictures = () => all("[data-painted]");
    const before = pictures().map((picture) => picture.dataset.painted);
    const act = {
        token: () => {
            const others = all('.row [aria-pressed="false"]');
            others[Math.floor(Math.random() * others.length)].click();
        },
        block: () => all('[role="radio"][aria-checked="false"]')
            .find((button) => /^block/.test(button.textContent)).click(),
        slider: () => {
            const [slider] = all("input[type=range]");
            slider.value = String((Number(slider.value) + 3) % (Number(slider.max) + 1));
            slider.dispatchEvent(new Event("input", { bubbles: true }));
        },
    }[kind];
    const frame = () => new Promise(requestAnimationFrame);
    const started = performance.now();
    act();
    for (;;) {
        await frame();
        const changed = pictures().map((picture, i) => picture.dataset.painted !== before[i]);
        const done = kind === "slider" ? changed.some(Boolean) : changed.every(Boolean);
        if (done && app.dataset.testScriptState === "notRunning") break;
        if (performance.now() - started > 10000) throw new Error("not painted within 10 s");
    }
    await frame();
    return performance.now() - started;
}"""


def sentence(rng: random.Random, n_words: int = 23) -> str:
    """About so many tokens that have not been seen before in this order."""
    return " ".join(rng.choice(WORDS) for _ in range(n_words)) + "."


def enter_to_painted(page: Page, name: str, text: str) -> float:
    """Milliseconds from Enter to everything painted."""
    wanted = text if name == "journey" else zlib.crc32(text.encode())
    box = page.get_by_role("textbox").first
    # Typed in one go right before Enter, so that no live update can begin earlier.
    box.evaluate(
        """(input, text) => {
            const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
            input.focus();
            set.call(input, text);
            input.dispatchEvent(new Event("input", { bubbles: true }));
        }""",
        text,
    )
    return float(page.evaluate(PRESS_AND_WAIT, [READY[name], wanted]))


def measure(browser: Browser, addresses: dict[str, str]) -> dict[str, Spread]:
    """Both pages in turn."""
    rng = random.Random(0)
    pages = {}
    for name, address in addresses.items():
        pages[name] = browser.new_page(viewport={"width": 1920, "height": 1080})
        pages[name].goto(address)
        pages[name].wait_for_selector("[data-painted]", timeout=120_000)
        pages[name].wait_for_timeout(3_000)
    samples: dict[str, list[float]] = {name: [] for name in (*pages, *CLICKS)}
    for repeat in range(REPEATS + 3):
        for name, page in pages.items():
            page.bring_to_front()
            taken = enter_to_painted(page, name, sentence(rng))
            if repeat >= 3:
                samples[name].append(taken)
            page.wait_for_timeout(200)
        for click in CLICKS:
            taken = float(pages["journey"].evaluate(ACT, CLICKS[click]))
            if repeat >= 3:
                samples[click].append(taken)
            pages["journey"].wait_for_timeout(200)
    return {name: Spread.of(taken) for name, taken in samples.items()}


def main() -> None:
    """Print the table."""
    ports = {"journey": free_port(), "floor": free_port()}
    journey = [sys.executable, "-m", "ffnviz", "app", "--port", str(ports["journey"])]
    floor = serving.streamlit_command(serving.ROOT / "benchmarks" / "floor_page.py", ports["floor"])
    with (
        serving.running(journey, ports["journey"]) as journey_address,
        serving.running(floor, ports["floor"]) as floor_address,
        serving.chromium() as browser,
    ):
        addresses = {"journey": journey_address, "floor": floor_address}
        for address in addresses.values():
            serving.wait_until_up(address)
        spreads = measure(browser, addresses)
    print("## Enter to painted, ms: median (quartiles)\n")
    print(ratios(spreads, "floor", "page", "ms"))
    print(f"\n24 tokens, 1920 × 1080. {machine()}")


if __name__ == "__main__":
    main()
