"""`make docs`: no dead link, every page in its place, and nothing asked of another host."""

import http.server
import importlib.util
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import ModuleType

import pytest
from playwright.sync_api import Browser

ROOT = Path(__file__).parents[2]
QUIET = {"NO_MKDOCS_2_WARNING": "1"}


def build(folder: Path, site: Path) -> "subprocess.CompletedProcess[str]":
    """The site of a checkout, as `make docs` builds it."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)]
    return subprocess.run(command, cwd=folder, env=QUIET, capture_output=True, text=True)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("site")
    built = build(ROOT, place)
    assert built.returncode == 0, built.stderr
    return place


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What the site is made of, with a first page alone, to be spoilt."""
    (tmp_path / "docs").mkdir()
    for name in ("self_contained.py", "site.css"):
        shutil.copy(ROOT / "docs" / name, tmp_path / "docs")
    (tmp_path / "assets").symlink_to(ROOT / "assets")
    settings, _, _ = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")
    (tmp_path / "mkdocs.yml").write_text(settings, encoding="utf-8")
    return tmp_path


def hook() -> ModuleType:
    spec = importlib.util.spec_from_file_location("hook", ROOT / "docs" / "self_contained.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_file_of_docs_is_a_page_and_the_readme_leads_to_files(site: Path) -> None:
    pages = {path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")}
    for page in pages:
        place = page.parent if page.stem == "index" else page.with_suffix("")
        assert (site / place / "index.html").exists(), page
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    linked = [part.partition(")")[0] for part in readme.split("](")[1:]]
    local = [link for link in linked if not link.startswith("http")]
    assert len(local) > 5
    assert [link for link in local if not (ROOT / link).exists()] == []


def test_what_would_be_dead_or_fetched_elsewhere_stops_it(checkout: Path) -> None:
    wrong = {
        "[gone](gone.md)": "gone.md",
        "[gone](index.md#gone)": "#gone",
        '<img src="https://cdn.example/a.png" alt="">': "https://cdn.example/a.png",
        '<script src="//cdn.example/a.js"></script>': "//cdn.example/a.js",
    }
    page = checkout / "docs" / "index.md"
    page.write_text("\n\n".join(("# A page", *wrong)), encoding="utf-8")
    built = build(checkout, checkout / "site")
    assert built.returncode != 0
    for told in wrong.values():
        assert told in built.stderr


def test_all_ways_of_asking_another_host_are_seen(tmp_path: Path) -> None:
    asks = {
        "a.html": '<link rel="preconnect" href="https://a.example">',
        "b.html": '<img srcset="/own.png 1x, https://b.example/2.png 2x">',
        "c.html": '<p style="background: url(//c.example/x)">',
        "d.html": "<style>@import 'https://d.example/x.css';</style>",
        "e.css": "@font-face { src: url('https://e.example/f.woff2') }",
    }
    for name, text in asks.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    harmless = '<a href="https://f.example">read</a> <img src="data:image/png;base64,//8=">'
    (tmp_path / "f.html").write_text(harmless, encoding="utf-8")
    found = [path.name for path, _ in hook().requests(tmp_path)]
    assert sorted(found) == sorted(asks)


@pytest.fixture
def served(site: Path) -> Iterator[str]:
    class Silent(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("localhost", 0), partial(Silent, directory=site))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://localhost:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.mark.browser
def test_a_browser_asks_nobody_else_even_for_a_search(served: str, browser: Browser) -> None:
    page = browser.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    try:
        for place in ("", "architecture/", "researchers/"):
            page.goto(served + place)
        # Until it has read its index, it hears nothing of what is typed; and then keys alone.
        ready = page.locator(".md-search-result__meta").filter(has_text="Type to start searching")
        ready.wait_for(state="attached")
        page.get_by_role("textbox", name="Search").press_sequentially("patching")
        page.locator(".md-search-result__item").first.wait_for()
    finally:
        page.close()
    assert len(asked) > 10
    assert [url for url in asked if not url.startswith((served, "data:", "blob:"))] == []
