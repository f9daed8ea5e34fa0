"""One server and one Chromium for all browser tests, and a page that knows how to be waited for."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

import ffnviz
from ffnviz.model.model import Model

ROOT = Path(__file__).parents[2]
PATIENCE_MS = 30_000
START_S = 180
expect.set_options(timeout=PATIENCE_MS)
DESKTOP = {"width": 1920, "height": 1080}

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
        && says.every((s) => s.includes(text) && s.startsWith(request));
}"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("browser")
            # Chromium now and then loses a click while all cores are busy. What fails runs once
            # more, and the report says so; what is broken fails twice.
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """A server of the page, as `make run` starts it."""
    with serving([sys.executable, "-m", "ffnviz"], ROOT) as address:
        yield address


@contextmanager
def serving(
    ffnviz: Sequence[str | Path], folder: Path, environment: Mapping[str, str] | None = None
) -> Iterator[str]:
    """The address of `ffnviz app`, started in a folder, until it is stopped."""
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        [*ffnviz, "app", "--port", str(port)],
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    address = f"http://localhost:{port}"
    try:
        _wait_until_up(address, server)
        yield address
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait()


def _wait_until_up(address: str, server: "subprocess.Popen[bytes]") -> None:
    end = time.monotonic() + START_S
    while time.monotonic() < end and server.poll() is None:
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=5):
                return
        except (URLError, ConnectionError, TimeoutError):
            time.sleep(0.1)
    pytest.fail(f"the server did not answer within {START_S} s")


@pytest.fixture(scope="session")
def twins() -> dict[str, Model]:
    """What the page must agree with."""
    return {name: ffnviz.load(name) for name in ("relu", "gelu")}


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
        return self.wait_for(query.get("text", "She opened the [MASK] and looked out."))

    def wait_for(self, text: str) -> "Journey":
        """Wait until everything shows this sentence."""
        shown = json.dumps(repr(text)[1:-1])[1:-1] if "\\" in repr(text) else text
        self.page.wait_for_function(PAINTED, arg=shown, timeout=PATIENCE_MS)
        return self

    def settle(self) -> "Journey":
        """Wait until all pictures show the same thing, whatever it is."""
        # A click has to reach the server first, which on a busy machine takes a while.
        for pause in (400, 250):
            self.page.wait_for_timeout(pause)
            self.page.wait_for_function(PAINTED, arg="", timeout=PATIENCE_MS)
        return self

    @property
    def box(self) -> Locator:
        return self.page.get_by_role("textbox", name="Sentence", exact=True)

    @property
    def chips(self) -> Locator:
        return self.page.get_by_role("group", name="Tokens of the sentence").get_by_role("button")

    def press(self, name: str) -> "Journey":
        """Click the button of exactly this name."""
        self.page.get_by_role("button", name=name, exact=True).first.click()
        return self.settle()

    def part(self, title: str) -> "Journey":
        """Turn to a part of the page."""
        self.page.get_by_role("radio", name=title, exact=True).click()
        return self.settle()

    def map_of(self, twin: str) -> Locator:
        return self.page.locator(f'canvas[data-name="{twin}"]')

    def chart(self, note: str) -> Locator:
        """The chart whose head opens this note."""
        return self.page.locator("figure").filter(has=self.page.locator(f"#note-{note}"))

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


OpenPage = Callable[..., Journey]


@pytest.fixture
def new_page(browser: Browser, address: str) -> Iterator[OpenPage]:
    """Makes pages, each of its own visitor."""
    contexts: list[BrowserContext] = []

    def make(*, dark: bool = False, width: int = 1920, height: int = 1080) -> Journey:
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
        )
        context.set_default_timeout(PATIENCE_MS)
        contexts.append(context)
        return Journey(context.new_page(), address)

    yield make
    for context in contexts:
        context.close()
