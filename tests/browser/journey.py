"""The page as a person has it before them, and how it is waited for."""

import json
import re
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Download, FloatRect, Locator, Page, expect

FIRST = "A fly has [MASK] legs, not four."  # what the first visit shows
PATIENCE_MS = 30_000
LOOK_MS = 50  # so often a long wait looks through the page
SOON_MS = 400  # a timer that is due so soon may ask the server for something, or draw

# The points under the pointer, as plotly.js has found them: until then a click is none of a point.
FOUND = """() => [...document.querySelectorAll("*")].some((e) =>
    e.shadowRoot?.querySelector(".plot")?._hoverdata?.length)"""

# Plotly looks every 50 ms at where the pointer is; if that comes due between press and release, it
# takes the click for a drag. A hand is slower than that.
RESTED = "() => new Promise((done) => setTimeout(done, 60))"

# True once the script has ended and every picture says that it shows the wanted sentence; what a
# picture says may go on with the settings of its page. The Journey has five pictures.
PAINTED = """(text) => {
    const app = document.querySelector('[data-testid="stApp"]');
    if (!app || app.dataset.testScriptState !== "notRunning") return false;
    const pictures = [...document.querySelectorAll("*")].filter((e) => e.shadowRoot)
        .flatMap((e) => [...e.shadowRoot.querySelectorAll(".plot, [data-painted]")])
        .map((e) => e.closest("figure") ?? e);
    const says = pictures.map((p) => p.dataset.painted ?? "");
    const page = location.pathname.replaceAll("/", "") || "journey";
    const request = says.reduce((a, b) => (b.length < a.length ? b : a), says[0]);
    return (page === "journey" ? pictures.length === 5 : pictures.length >= 2)
        && says.every((s) => s && s.includes(text) && s.startsWith(request));
}"""

# Notes when the page last asked its server for a run of the script, and when one last began and
# ended: the fields of Streamlit's messages that say so. A run that gave way to a newer one has not
# ended; what only looks, by the clock, how far a measurement is need not be answered. `due` are the
# timers that will soon be up: what was clicked is sent by one, and what came is drawn by one.
WIRE = """(() => {
    const wire = { asked: 0, begun: 0, ended: 0, seen: 0, frames: 0, due: new Set() };
    window.wire = wire;
    const now = () => performance.now();
    const { setTimeout, clearTimeout } = window;
    window.setTimeout = (what, wait = 0, ...given) => {
        const timer = setTimeout(() => {
            wire.due.delete(timer);
            what(...given);
        }, wait);
        if (wait <= SOON_MS) wire.due.add(timer);
        return timer;
    };
    window.clearTimeout = (timer) => {
        wire.due.delete(timer);
        clearTimeout(timer);
    };
    const varint = (bytes, at) => {
        let value = 0;
        for (let shift = 1; ; shift *= 128) {
            value += (bytes[at] & 127) * shift;
            if (bytes[at++] < 128) return [value, at];
        }
    };
    // The fields of a message by number: a number, or bytes.
    const fields = (bytes) => {
        const found = new Map();
        for (let at = 0, key, value; at < bytes.length; ) {
            [key, at] = varint(bytes, at);
            [value, at] = varint(bytes, at);
            const length = (key & 7) === 2 ? value : 0;
            found.set(key >> 3, length ? bytes.subarray(at, at + length) : value);
            at += length;
        }
        return found;
    };
    const RERUN = 11, BY_THE_CLOCK = 6, BEGUN = 4, ENDED = 6, GAVE_WAY = 2;
    const asks = (bytes) => {
        const rerun = fields(bytes).get(RERUN);
        const asked = rerun instanceof Uint8Array ? fields(rerun) : new Map();
        return rerun !== undefined && !asked.get(BY_THE_CLOCK);
    };
    const heard = ({ data }) => {
        const got = fields(new Uint8Array(data));
        if (got.has(BEGUN)) wire.begun = now();
        if (got.has(ENDED) && got.get(ENDED) !== GAVE_WAY) wire.ended = now();
    };
    window.WebSocket = class extends window.WebSocket {
        constructor(...given) {
            super(...given);
            this.addEventListener("message", heard);
        }
        send(data) {
            if (data instanceof Uint8Array && asks(data)) wire.asked = now();
            super.send(data);
        }
    };
})();""".replace("SOON_MS", str(SOON_MS))

# True once the page has answered what was done with it since it was last waited for: it asked its
# server and got all of an answer, or nothing is due that could still ask; and, if that is wanted,
# all pictures are painted. A sheet that fills its window may still give its charts another height.
SETTLED = """(all) => {
    const { wire } = window;
    const answered = wire.begun > wire.asked && wire.ended >= wire.begun;
    const app = document.querySelector('[data-testid="stApp"]');
    const ready = (wire.asked <= wire.seen || answered) && wire.due.size === 0
        && app?.dataset.testScriptState === "notRunning";
    if (!ready) {
        wire.frames = 0;
        return false;
    }
    const cells = [...document.querySelectorAll(".sheet .cell")];
    const heights = cells.map((cell) => cell.offsetHeight).join();
    const still = heights === wire.heights;
    wire.heights = heights;
    wire.frames = still && (!all || (PAINTED)("")) ? wire.frames + 1 : 0;
    if (wire.frames < 5) return false;
    wire.seen = performance.now();
    wire.frames = 0;
    return true;
}""".replace("PAINTED", PAINTED)


def box_of(element: Locator) -> FloatRect:
    """Where an element stands that is on the page."""
    box = element.bounding_box()
    assert box is not None, f"{element} is not seen"
    return box


def middle(element: Locator) -> tuple[float, float]:
    """Its place for the pointer."""
    box = box_of(element)
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def download(button: Locator) -> Download:
    """What a click on it brings."""
    with button.page.expect_download() as found:
        button.click()
    return found.value


class Journey:
    """The page as a person has it before them."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.address = address

    def open(self, **query: str) -> "Journey":
        """Go to the page with these query parameters and wait for all of it."""
        return self.open_page("", **query)

    def open_page(self, page: str, **query: str) -> "Journey":
        """Go to one of the pages, by its name in the URL."""
        self.page.goto(f"{self.address}/{page}?{urlencode(query)}")
        return self.wait_for(query.get("text", FIRST))

    def wait_for(self, text: str) -> "Journey":
        """Wait until everything shows this sentence."""
        shown = json.dumps(repr(text)[1:-1])[1:-1] if "\\" in repr(text) else text
        self.page.wait_for_function(PAINTED, arg=shown, timeout=PATIENCE_MS, polling=LOOK_MS)
        self.page.evaluate("wire.seen = performance.now()")
        return self

    def settle(self) -> "Journey":
        """Wait until all pictures show the same thing, whatever it is."""
        return self._wait_for_answer(painted=True)

    def answered(self) -> "Journey":
        """Wait for the server's answer only, as where a part has no picture yet."""
        return self._wait_for_answer(painted=False)

    def _wait_for_answer(self, *, painted: bool) -> "Journey":
        self.page.wait_for_function(SETTLED, arg=painted, timeout=PATIENCE_MS)
        return self

    def click_at(self, x: float, y: float) -> "Journey":
        """Click on a point of a chart, by its place on the screen."""
        mouse = self.page.mouse
        mouse.move(x - 5, y - 5)
        mouse.move(x, y)
        self.page.wait_for_function(FOUND)
        self.page.evaluate(RESTED)
        mouse.down()
        mouse.up()
        return self.settle()

    @property
    def box(self) -> Locator:
        return self.page.get_by_role("textbox", name="Sentence", exact=True)

    @property
    def chips(self) -> Locator:
        tokens = self.page.get_by_role("group", name="Tokens of the sentence")
        return tokens.locator("[aria-pressed]")

    def write(self, text: str, read: str = "") -> "Journey":
        """Put another sentence into the box; `read` is what the page reads of it, if not that."""
        self.box.fill(text)
        self.box.press("Enter")
        return self.wait_for(read or text)

    def press(self, name: str) -> "Journey":
        """Click the button of exactly this name."""
        self.page.get_by_role("button", name=name, exact=True).first.click()
        return self.settle()

    def choose(self, name: str) -> "Journey":
        """Choose one of some that exclude each other."""
        self.page.get_by_role("radio", name=name, exact=True).click()
        return self.settle()

    def choose_token(self, at: int) -> "Journey":
        """Click on a token, by its place."""
        self.chips.nth(at).click()
        return self.settle()

    def part(self, title: str) -> "Journey":
        """Turn to a part of the page."""
        return self.choose_part(title).settle()

    def choose_part(self, title: str) -> "Journey":
        """Choose a part in the list, or in the menu that it is in a narrow window."""
        part = self.page.get_by_role("radio", name=title, exact=True)
        if not part.is_visible():
            self.page.get_by_role("button", name="Parts of").click()
        part.click()
        return self

    def map_of(self, twin: str) -> Locator:
        return self.page.locator(f'canvas[data-name="{twin}"]')

    def chart(self, note: str) -> Locator:
        """The chart whose head opens this note; not the outline of one to come."""
        return self.page.locator("figure:not(.waiting)").filter(
            has=self.page.locator(f"#note-{note}")
        )

    def text(self, text: str | re.Pattern[str], *, exact: bool = False) -> Locator:
        """What shows a text; not the line that tells it to a screen reader a moment later."""
        seen = self.page.locator(":not(#ffnviz-outcome)")
        return self.page.get_by_text(text, exact=exact).and_(seen)

    def save(self, note: str, entry: str) -> Path:
        """The file that an entry of a chart's menu brings."""
        expect(self.chart(note)).to_have_attribute("data-painted", re.compile("."))
        self.chart(note).get_by_role("button", name="Save or enlarge").click()
        saved = download(self.chart(note).get_by_role("button", name=entry))
        assert saved.suggested_filename.startswith(f"ffnviz-{note}.")
        return saved.path()

    def sentence(self, note: str) -> str:
        """What stands above that chart."""
        return self.chart(note).locator(".sentence").inner_text()

    def slide(self, label: str, stop: int) -> "Journey":
        """Move a slider to one of its stops."""
        self.page.get_by_role("slider", name=label).fill(str(stop))
        return self.settle()

    def card(self) -> Locator:
        return self.page.locator("article .card")

    def query(self) -> dict[str, str]:
        """The URL's parameters."""
        values = self.page.evaluate("Object.fromEntries(new URLSearchParams(location.search))")
        return {str(key): str(value) for key, value in values.items()}
