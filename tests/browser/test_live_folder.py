"""The live page as a folder on a plain web server: pictures, then networks, then no network."""

import http.server
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from ffnviz.export.live.page import live_folder
from ffnviz.models.encoder.model import Model
from tests.browser.test_live import SENTENCES, TEXT, check, painted, typed

LARGEST, LARGEST_PAGE = 46_000_000, 2_000_000


class Host(http.server.SimpleHTTPRequestHandler):
    """A static host, which answers with other bytes where a test wants it to."""

    spoils: dict[str, int] = {}  # noqa: RUF012 (each test sets it)
    asked: list[str] = []  # noqa: RUF012

    def do_GET(self) -> None:
        self.asked.append(self.path)
        if self.spoils.get(self.path, 0):
            self.spoils[self.path] -= 1
            content = bytearray(Path(self.translate_path(self.path)).read_bytes())
            content[1_000_000] ^= 1
            self.send_response(200)
            self.end_headers()
            self.wfile.write(content)
        else:
            super().do_GET()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def folder(twins: dict[str, Model], tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("folder")
    files = live_folder([twins["relu"], twins["gelu"]], TEXT)
    for name, content in files.items():
        (place / name).write_bytes(content)
    assert sum(map(len, files.values())) < LARGEST
    assert len(files["index.html"]) < LARGEST_PAGE
    return place


@pytest.fixture
def host(folder: Path) -> Iterator[str]:
    """Its address; a browser takes localhost for safe, and so has a service worker."""
    Host.spoils, Host.asked = {}, []
    server = http.server.ThreadingHTTPServer(("localhost", 0), partial(Host, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://localhost:{server.server_port}/"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    yield context
    context.close()


def opened(context: BrowserContext, address: str) -> tuple[Page, list[str]]:
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda line: faults.append(line.text))
    page.goto(address)
    painted(page, sentence=TEXT)
    return page, faults


def test_it_works_on_a_plain_host_and_then_without_a_network(
    context: BrowserContext, host: str, folder: Path, twins: dict[str, Model]
) -> None:
    page, faults = opened(context, host)
    text = typed(page, SENTENCES[0])
    check(page, twins["relu"], text, 1, 5)
    expect(page.locator("progress")).to_have_count(0)
    assert {path for path in Host.asked if path.endswith(".bin")} == {
        f"/{path.name}" for path in folder.glob("*.bin")
    }
    page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    n_asked = len(Host.asked)
    context.set_offline(True)
    page.reload()
    painted(page, sentence=TEXT)
    text = typed(page, SENTENCES[0])
    check(page, twins["relu"], text, 1, 5)
    assert len(Host.asked) == n_asked
    assert faults == []


def test_while_the_networks_are_on_their_way_a_recorded_sentence_is_shown(
    context: BrowserContext, host: str
) -> None:
    held: list[Route] = []
    let_through = False

    def hold(route: Route) -> None:
        if let_through:
            route.continue_()
        else:
            held.append(route)

    page = context.new_page()
    page.route("**/*.bin", hold)
    page.goto(host)
    painted(page, sentence=TEXT)
    expect(page.locator("progress")).to_be_visible()
    page.get_by_role("button", name="GELU", exact=True).click()
    painted(page, sentence=TEXT, network="gelu")
    page.get_by_role("textbox", name="Sentence").fill(SENTENCES[0])
    let_through = True
    for route in held:
        route.continue_()
    painted(page, sentence=SENTENCES[0], network="gelu")
    expect(page.locator("progress")).to_have_count(0)


def test_a_damaged_network_is_loaded_again(
    context: BrowserContext, host: str, folder: Path, twins: dict[str, Model]
) -> None:
    (name,) = [path.name for path in folder.glob("gelu-*.bin")]
    Host.spoils = {f"/{name}": 1}
    page, faults = opened(context, host)
    check(page, twins["relu"], typed(page, SENTENCES[0]), 1, 5)
    assert Host.asked.count(f"/{name}") == 2
    assert faults == []


def test_a_network_that_stays_damaged_is_said(
    context: BrowserContext, host: str, folder: Path
) -> None:
    (name,) = [path.name for path in folder.glob("gelu-*.bin")]
    Host.spoils = {f"/{name}": 2}
    page, _ = opened(context, host)
    expect(page.get_by_role("alert")).to_contain_text("their checksum differs")


def test_as_a_file_it_says_that_it_needs_a_host(context: BrowserContext, folder: Path) -> None:
    page, _ = opened(context, (folder / "index.html").as_uri())
    expect(page.get_by_role("alert")).to_contain_text("put the folder on a web server")
