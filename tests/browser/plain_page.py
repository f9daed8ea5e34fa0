"""The pictures in a page of their own, without Streamlit: a folder of files and a few elements."""

import base64
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from unittest import mock

import plotly
from playwright.sync_api import Locator, Page

import ffnviz
from ffnviz.app import mounting

PICTURES = Path(ffnviz.__file__).parent / "pictures" / "static"
PLOTLY = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"

PAGE = """<!doctype html><html lang="en"><title>Pictures</title><body><script type="module">
    import { unpack } from "./loading.js";
    import { mount } from "./shell.js";
    const from64 = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const read = ({ packed, plain }) => (packed === undefined ? plain : from64(packed));
    const stamps = {};
    window.made = {};
    window.told = [];
    window.hang = (id, name, data) => {
        const host = document.createElement("div");
        host.id = id;
        document.body.append(host);
        const tell = (event, value) => window.told.push([event, value]);
        window.made[id] = mount(host, name, tell);
        window.update(id, data);
    };
    window.update = (id, data) => {
        const shown = read(data);
        stamps[id] = (shown instanceof Uint8Array ? unpack(shown) : shown).stamp;
        window.made[id].update(shown);
    };
    window.painted = (id) => document.getElementById(id)
        .shadowRoot.querySelector("[data-painted]")?.dataset.painted;
    // Some pictures bear no stamp: they are there once the shell's own mark has gone.
    window.there = (id) => stamps[id] === undefined
        ? document.getElementById(id).shadowRoot.querySelector("[data-painted]") === null
        : window.painted(id) === stamps[id];
    window.ready = true;
</script></body></html>"""

Payload = dict[str, Any]


class _Files(SimpleHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/":
            self._send(PAGE.encode(), "text/html; charset=utf-8")
        elif self.path == "/plotly.min.js":
            self._send(PLOTLY.read_bytes(), "text/javascript")
        else:
            super().do_GET()

    def _send(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def hosted(
    folder: Path = PICTURES, handler: type[SimpleHTTPRequestHandler] = _Files
) -> Iterator[str]:
    """The address of a server of a folder: of the pictures' files and plotly.min.js, if of none."""
    files = partial(handler, directory=str(folder))
    with ThreadingHTTPServer(("localhost", 0), files) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://localhost:{server.server_port}/"
        finally:
            server.shutdown()


def payload(show: Callable[[], None]) -> tuple[str, Payload]:
    """The picture's name, and what a component would send to the browser, as JSON."""
    sent: list[Any] = []

    def mount(data: Any, **_: object) -> None:
        sent.append(data)

    with mock.patch.object(mounting, "_component", return_value=mount):
        show()
    (data,) = sent
    if isinstance(data, list):
        return str(data[0]["picture"]), {"plain": data[0]}
    header = json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")])
    return str(header["picture"]), {"packed": base64.b64encode(data).decode()}


class PlainPage:
    """A page with pictures in it, each in a host of its own."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        page.goto(address)
        page.wait_for_function("window.ready")

    def hang(self, host: str, show: Callable[[], None]) -> Locator:
        """Mount what a component shows, and wait until it is painted."""
        name, data = payload(show)
        self.page.evaluate("([host, name, data]) => hang(host, name, data)", [host, name, data])
        self.painted(host)
        return self.page.locator(f"#{host}")

    def update(self, host: str, show: Callable[[], None]) -> None:
        """Hand the picture other data."""
        _, data = payload(show)
        self.page.evaluate("([host, data]) => update(host, data)", [host, data])

    def painted(self, host: str) -> None:
        """Wait until the picture shows what it was handed last."""
        self.page.wait_for_function("(host) => there(host)", arg=host)

    def told(self) -> list[Any]:
        """What the pictures told since last asked."""
        found: list[Any] = self.page.evaluate("window.told.splice(0)")
        return found

    def aloud(self, host: str) -> str:
        """What a screen reader was told last."""
        return self.page.locator(f"#{host} [role=status]").inner_text()
