"""What can be read under the components' address: what a browser needs, and no source."""

import urllib.request
from pathlib import Path
from urllib.error import HTTPError

import pytest

from tests.browser.conftest import OpenPage

COMPONENTS = Path(__file__).parents[2] / "ffnviz" / "components"


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


def test_no_source_is_served(new_page: OpenPage, address: str) -> None:
    new_page().open()  # a component may be registered only when first shown
    sources = [path.name for path in COMPONENTS.glob("*.py")]
    assert "chart.py" in sources
    for component in ("picture", "pictures", "chart", "chips", "plotly"):
        for name in sources:
            for path in (name, f"../{name}", f"../components/{name}"):
                url = f"{address}/_stcore/bidi-components/ffnviz.{component}/{path}"
                assert status_of(url) in (400, 404)
