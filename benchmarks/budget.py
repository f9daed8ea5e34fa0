"""What a visit of the Journey brings over the wire, in counts that do not depend on the machine.

A first visit by a browser that keeps nothing yet, a second one, a typed sentence of about 24
tokens, and a click on a token. LIMITS says what each may bring; the tests hold them.
"""

import base64
import random
import sys
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Browser, Page

from benchmarks import serving
from benchmarks.measure import machine, table
from benchmarks.page import sentence
from benchmarks.wire import tapped

QUIET_MS = 3_000  # nothing has come for so long: all is there
LIMITS = {
    "requests of ours, first visit": 6,
    "kB of ours, first visit": 130,  # 127: the exercises and corners to drag are 20 of them
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
        before = None
        while before != (before := (len(self.fetched), len(self.heard))):
            page.wait_for_timeout(QUIET_MS)

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
        "requests of ours, first visit": len(ours),
        "kB of ours, first visit": sum(ours.values()) / 1_000,
        "pictures' scripts fetched, second visit": sum(n > 0 for n in scripts),
    }
    with browser.new_context() as context, tapped(address) as tap:
        page, wire = context.new_page(), Wire()
        wire.watch(page)
        page.goto(tap.address)
        wire.all_there(page)
        wire.take()
        tap.take()
        page.locator(".st-key-text input").fill(sentence(random.Random(0)))
        page.keyboard.press("Enter")
        wire.all_there(page)
        _put(found, "sentence", wire.take(), tap.take())
        page.locator(".chip > button:not(.cut)").nth(5).click()
        wire.all_there(page)
        _put(found, "token", wire.take(), tap.take())
    return found


def _put(found: dict[str, float], what: str, wire: Wire, on_the_wire: int) -> None:
    """Add what a change brought."""
    found[f"messages, {what}"] = len(wire.heard)
    found[f"kB on the wire, {what}"] = on_the_wire / 1_000
    found[f"kB when unpacked, {what}"] = sum(map(len, wire.heard)) / 1_000


def main() -> None:
    """Print the tables."""
    ports = [serving.free_port(), serving.free_port()]
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
        found = counts(browser, page)
    print("\n## The Journey\n")
    lines = [(name, f"{n:,.0f}", LIMITS.get(name, "")) for name, n in found.items()]
    print(table(("what", "is", "limit"), lines))
    print(f"\n{machine()}")


if __name__ == "__main__":
    main()
