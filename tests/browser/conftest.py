"""One server, one Chromium and a few pages for all browser tests."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, expect
from playwright.sync_api import Error as PageError

import ffnviz
from ffnviz.export.live.page import live_page
from ffnviz.models.encoder.model import Model
from tests.browser.journey import PATIENCE_MS, WIRE, Journey
from tests.browser.plain_page import PlainPage, hosted
from tests.served import free_port, wait_for

ROOT = Path(__file__).parents[2]
START_S = 180
END_S = 60  # pages that wait for something do not keep it
TRACEBACK = "Traceback (most recent call last)"
LIVE_TEXT = "She opened the [MASK] and looked out."
PLAIN = ViewportSize(width=1200, height=2400)
# What takes longest begins first, so that both workers end together.
LONGEST = ("test_parts", "test_class", "test_lecture", "test_engines")
expect.set_options(timeout=PATIENCE_MS)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    ours = [item for item in items if Path(__file__).parent in item.path.parents]
    others = [item for item in items if item not in ours]
    for item in ours:
        item.add_marker("browser")
    ours.sort(key=lambda item: (*LONGEST, item.path.stem).index(item.path.stem))
    items[:] = [*others, *ours]
    if "jupyter" not in config.option.markexpr:
        items[:] = [item for item in items if item.get_closest_marker("jupyter") is None]


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """A server of the page, as `make run` starts it."""
    with serving([sys.executable, "-m", "ffnviz"], ROOT) as address:
        yield address


@contextmanager
def serving(
    ffnviz: Sequence[str | Path],
    folder: Path,
    environment: Mapping[str, str] | None = None,
    options: Sequence[str] = (),
    port: int = 0,
) -> Iterator[str]:
    """The address of `ffnviz app`, started in a folder, until it is stopped.

    An exception there fails the test, whether it is seen on a page or not. What a server that is
    killed says of its jobs is none.
    """
    port = port or free_port()
    address = f"http://localhost:{port}"
    with TemporaryDirectory() as temporary:
        said = Path(temporary) / "log"
        with said.open("wb") as log:
            server = subprocess.Popen(
                [*ffnviz, "app", "--port", str(port), *options],
                cwd=folder,
                env={**(environment or os.environ), "TMPDIR": temporary},
                stdout=subprocess.DEVNULL,
                stderr=log,
                start_new_session=True,
            )
        try:
            wait_for(f"{address}/_stcore/health", server, START_S)
            yield address
        finally:
            before, exception, after = said.read_text("utf-8", "replace").partition(TRACEBACK)
            os.killpg(server.pid, signal.SIGTERM)
            server.wait(timeout=END_S)
        if exception:
            shown = f"{before[-1_000:]}{exception}{after[:4_000]}"
            pytest.fail(f"an exception on the server:\n{shown}", pytrace=False)
        assert not list(Path(temporary).glob("ffnviz-*")), "what it learned was left behind"


@pytest.fixture(scope="session")
def twins() -> dict[str, Model]:
    """What the page must agree with."""
    return {name: ffnviz.load(name) for name in ("relu", "gelu")}


@pytest.fixture(scope="session")
def live_file(twins: dict[str, Model], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page that needs no server, as a file."""
    place = tmp_path_factory.mktemp("live") / "page.html"
    place.write_text(live_page([twins["relu"], twins["gelu"]], LIVE_TEXT), encoding="utf-8")
    return place


OpenPage = Callable[..., Journey]


@pytest.fixture(scope="session")
def window(browser: Browser) -> Iterator[BrowserContext]:
    """Where all pages are opened, so that what was fetched and compiled once is at hand."""
    with closing(new_context(browser)) as context:
        yield context


def new_context(browser: Browser, *, finger: bool = False) -> BrowserContext:
    """Of a browser that knows nothing of any other."""
    context = browser.new_context(has_touch=finger, is_mobile=finger)
    context.set_default_timeout(PATIENCE_MS)
    context.add_init_script(WIRE)
    return context


@pytest.fixture(scope="session")
def idle() -> list[Page]:
    """Pages that show nothing. What a new page costs is three times what one of these costs."""
    return []


@pytest.fixture
def new_page(
    browser: Browser, window: BrowserContext, idle: list[Page], address: str
) -> Iterator[OpenPage]:
    """Makes pages, each of a visitor who was never here."""
    given: list[Page] = []
    contexts: list[BrowserContext] = []

    def make(
        *,
        dark: bool = False,
        width: int = 1920,
        height: int = 1080,
        alone: bool = False,
        moving: bool = False,
    ) -> Journey:
        """A page; `alone` in a context of its own, which a test may change as it likes.

        Without `moving` the visitor's system asks for calm: a picture is at once as it will be.
        """
        if alone:
            contexts.append(new_context(browser))
            page = contexts[-1].new_page()
        else:
            page = idle.pop() if idle else window.new_page()
            given.append(page)
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(
            media="null",
            color_scheme="dark" if dark else "light",
            reduced_motion="no-preference" if moving else "reduce",
        )
        return Journey(page, address)

    yield make
    for context in contexts:
        context.close()
    for page in given:
        with suppress(PageError):  # closed by the test, or broken
            emptied(page)
            idle.append(page)


def emptied(page: Page) -> None:
    """Have a page show nothing and know nothing, as the next test wants it."""
    page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
    page.goto("about:blank")


@pytest.fixture(scope="session")
def files() -> Iterator[str]:
    """Where the pictures' files are served to plain pages."""
    with hosted() as address:
        yield address


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A browser's page that knows no Streamlit, high enough for every picture."""
    with closing(_plain_context(browser)) as context:
        yield context.new_page()


def _plain_context(browser: Browser) -> BrowserContext:
    context = browser.new_context(viewport=PLAIN, color_scheme="light", reduced_motion="reduce")
    context.set_default_timeout(30_000)
    return context


@pytest.fixture(scope="session")
def used(browser: Browser) -> Iterator[Page]:
    """The same for many tests: to make one takes as long as most of them."""
    with closing(_plain_context(browser)) as context:
        yield context.new_page()


@pytest.fixture
def plain(used: Page, files: str) -> Iterator[PlainPage]:
    """A page ready to mount pictures; size, scheme and pointer are put back."""
    yield PlainPage(used, files)
    emptied(used)
    used.mouse.move(0, 0)
    used.set_viewport_size(PLAIN)
    used.emulate_media(media="null", color_scheme="light", reduced_motion="reduce")


@pytest.fixture(scope="session")
def touched(browser: Browser) -> Iterator[Page]:
    """A page that fingers touch, for all tests that want one."""
    with closing(new_context(browser, finger=True)) as context:
        yield context.new_page()


@pytest.fixture
def phone(touched: Page, address: str) -> Iterator[Journey]:
    """A telephone of 390 × 844."""
    touched.set_viewport_size({"width": 390, "height": 844})
    yield Journey(touched, address)
    emptied(touched)
