"""What a visit of the Journey brings over the wire, in counts that do not depend on the machine.

A first visit by a browser that keeps nothing yet, a second one, a typed sentence of about 24
tokens, and a click on a token. LIMITS says what each may bring.
"""

import base64
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page

from tests.browser.wire import wired

QUIET_MS = 600  # nothing has come for so long, and no script runs: all is there
LOOK_EVERY_MS = 150
RESTS = """() =>
    document.querySelector('[data-testid="stApp"][data-test-script-state="notRunning"]') !== null"""
SENTENCE = (
    "but it little out there dark but of dark window and there "
    "a of a opened out a of opened girl her dark."
)
LIMITS = {
    "kB, first visit": 900,  # Streamlit's own files come compressed
    "requests of ours, first visit": 9,
    "kB of ours, first visit": 200,  # without comments
    "pictures' scripts fetched, second visit": 0,
    "messages, sentence": 20,
    "kB on the wire, sentence": 150,
    "messages, token": 12,
    "kB on the wire, token": 30,
}


@dataclass
class Wire:
    """What a page has fetched and heard since it was last asked.

    Attributes:
        fetched: bytes by address; 0 for what the browser had.
        heard: messages of the page's socket.
    """

    fetched: dict[str, int] = field(default_factory=dict)
    heard: list[bytes] = field(default_factory=list)

    def watch(self, page: Page) -> None:
        """Listen to a page from now on."""
        addresses: dict[str, str] = {}
        listening = page.context.new_cdp_session(page)
        listening.send("Network.enable")

        def asked(event: dict[str, Any]) -> None:
            url = event["request"]["url"]
            if url.startswith("http"):
                addresses[event["requestId"]] = url
                self.fetched[url] = 0

        def finished(event: dict[str, Any]) -> None:
            if event["requestId"] in addresses:
                self.fetched[addresses[event["requestId"]]] = int(event["encodedDataLength"])

        def heard(event: dict[str, Any]) -> None:
            self.heard.append(base64.b64decode(event["response"]["payloadData"]))

        listening.on("Network.requestWillBeSent", asked)
        listening.on("Network.loadingFinished", finished)
        listening.on("Network.webSocketFrameReceived", heard)

    def all_there(self, page: Page) -> None:
        """Wait until nothing more comes."""
        before, quiet_ms = (-1, -1), 0
        while quiet_ms < QUIET_MS:
            page.wait_for_timeout(LOOK_EVERY_MS)
            now = (len(self.fetched), len(self.heard))
            rests = now == before and page.evaluate(RESTS)
            quiet_ms = quiet_ms + LOOK_EVERY_MS if rests else 0
            before = now

    def take(self) -> "Wire":
        """What there was, and begin anew."""
        taken = Wire(dict(self.fetched), list(self.heard))
        self.fetched.clear()
        self.heard.clear()
        return taken


def visits(browser: Browser, address: str) -> tuple[Wire, Wire]:
    """The first and the second visit of one browser to a page of any kind."""
    with browser.new_context() as context:
        page, wire = context.new_page(), Wire()
        wire.watch(page)
        found = []
        for _ in range(2):
            page.goto(address)
            wire.all_there(page)
            found.append(wire.take())
    return found[0], found[1]


def counts(browser: Browser, address: str) -> dict[str, float]:
    """What LIMITS names, for a server of ours."""
    first, second = visits(browser, address)
    ours = {url: n for url, n in first.fetched.items() if "/static/" not in url}
    scripts = [n for url, n in second.fetched.items() if "/pictures." in url]
    found = {
        "kB, first visit": sum(first.fetched.values()) / 1_000,
        "requests of ours, first visit": len(ours),
        "kB of ours, first visit": sum(ours.values()) / 1_000,
        "pictures' scripts fetched, second visit": sum(n > 0 for n in scripts),
    }
    port = urlsplit(address).port or 80
    with browser.new_context() as context, wired(port) as line:
        page, wire = context.new_page(), Wire()
        wire.watch(page)
        page.goto(f"http://localhost:{line.port}")
        wire.all_there(page)
        wire.take()
        line.take()
        page.locator(".st-key-text input").fill(SENTENCE)
        page.keyboard.press("Enter")
        wire.all_there(page)
        _put(found, "sentence", wire.take(), line.take())
        page.locator(".chip > button:not(.cut)").nth(5).click()
        wire.all_there(page)
        _put(found, "token", wire.take(), line.take())
    return found


def _put(found: dict[str, float], what: str, wire: Wire, on_the_wire: int) -> None:
    """Add what a change brought."""
    found[f"messages, {what}"] = len(wire.heard)
    found[f"kB on the wire, {what}"] = on_the_wire / 1_000
    found[f"kB when unpacked, {what}"] = sum(map(len, wire.heard)) / 1_000
