"""What can be read under the components' address: what a browser needs, and no source."""

import urllib.request
from contextlib import closing
from pathlib import Path
from urllib.error import HTTPError

import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import OpenPage

COMPONENTS = Path(__file__).parents[2] / "ffnviz" / "pictures"


def status_of(url: str) -> int:
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:  # of this machine
            return int(answer.status)
    except HTTPError as error:
        error.close()
        return error.code


@pytest.mark.parametrize("file", ["ffnviz.picture/adapter.js", "ffnviz.pictures/notes/ffn.html"])
def test_the_pictures_are_served(address: str, file: str) -> None:
    assert status_of(f"{address}/_stcore/bidi-components/{file}") == 200


@pytest.mark.parametrize("path", ["", "neurons", "journey"])
def test_a_page_asks_for_nothing_in_vain(browser: Browser, address: str, path: str) -> None:
    missing: list[str] = []
    with closing(browser.new_context()) as context:
        page = context.new_page()
        page.on("response", lambda r: missing.append(r.url) if r.status >= 400 else None)
        page.goto(f"{address}/{path}?text=It+rained.")
        page.get_by_role("group", name="Tokens of the sentence").first.wait_for()
    assert missing == []


def test_no_source_is_served(new_page: OpenPage, address: str) -> None:
    new_page().open()  # a component may be registered only when first shown
    sources = [path.name for path in COMPONENTS.glob("*.py")]
    assert "chart.py" in sources
    for component in ("picture", "pictures", "chart", "chips", "plotly"):
        for name in sources:
            for path in (name, f"../{name}", f"../components/{name}"):
                url = f"{address}/_stcore/bidi-components/ffnviz.{component}/{path}"
                assert status_of(url) in (400, 404)
