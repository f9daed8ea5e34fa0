"""What is around Streamlit: our script comes first, and no address loads for ever."""

import hashlib
import re
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from ffnviz.export.document import PLOTLY
from ffnviz.server.application import our_routes
from ffnviz.server.streamlit_patches.page_script import STATIC, guarded_html


@pytest.fixture(scope="module")
def client() -> TestClient:
    """Our routes alone, without Streamlit behind them."""
    routes = our_routes(("neurons", "lab"))
    return TestClient(Starlette(routes=routes), base_url="http://localhost")


@pytest.mark.parametrize("path", ["/", "/neurons", "/lab"])
def test_a_page_begins_with_our_script(client: TestClient, path: str) -> None:
    html = client.get(path).text
    assert html.index("guard.js") < html.index("<script type=")
    assert html.count("<head>") == 1


def test_the_script_is_there(client: TestClient) -> None:
    answer = client.get("/guard.js")
    assert answer.headers["content-type"].startswith("text/javascript")
    assert "pushState" in answer.text


def told_by_guard(client: TestClient, pattern: str) -> str:
    """The one address of that pattern that our script has a browser fetch."""
    (told,) = re.findall(rf"\./({pattern})", client.get("/guard.js").text)
    return str(told)


def kept_for_a_year(client: TestClient, path: str, encoding: str) -> Any:
    """The answer to a browser that takes this encoding, which is told to keep the file."""
    answer = client.get(f"/{path}", headers={"Accept-Encoding": encoding})
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers.get("content-encoding", "identity") == encoding
    return answer


@pytest.mark.parametrize("encoding", ["gzip", "identity"])
def test_the_pictures_are_one_script_that_a_browser_keeps(
    client: TestClient, encoding: str
) -> None:
    script = told_by_guard(client, r"pictures\.[0-9a-f]{16}\.js")
    assert f'<link rel="modulepreload" href="./{script}">' in client.get("/neurons").text
    answer = kept_for_a_year(client, script, encoding)
    assert hashlib.sha256(answer.content).hexdigest()[:16] in script


@pytest.mark.parametrize("path", ["/", "/neurons", "/guard.js"])
@pytest.mark.parametrize("encoding", ["gzip", "identity"])
def test_what_changes_is_compressed_and_asked_for_again(
    client: TestClient, path: str, encoding: str
) -> None:
    answer = client.get(path, headers={"Accept-Encoding": encoding})
    assert answer.headers["cache-control"] == "no-cache"
    assert answer.headers.get("content-encoding", "identity") == encoding


def test_the_modules_that_a_page_asks_for_later_are_named(client: TestClient) -> None:
    named = re.findall(r'rel="modulepreload" href="\./(static/js/[^"]+)"', client.get("/").text)
    for name in ("BidiComponent", "Html", "purify.es", "TextInput"):  # the third by the second
        assert len([each for each in named if each.startswith(f"static/js/{name}.")]) == 1
    assert all(client.get(f"/{each}").status_code == 200 for each in named)


@pytest.mark.parametrize("path", ["/neurons/x", "/neurons/", "/neurons/a/b", "/neurons/a/b/"])
def test_what_lies_below_a_page_leads_to_it(client: TestClient, path: str) -> None:
    answer = client.get(f"{path}?part=name&text=a%26b", follow_redirects=True)
    assert answer.url.path == "/neurons"
    assert answer.url.query == b"part=name&text=a%26b"


def test_streamlit_is_told_that_its_server_is_not_below_a_page(client: TestClient) -> None:
    assert client.get("/neurons/_stcore/health").status_code == 404


def test_only_the_first_head_is_changed() -> None:
    assert guarded_html("<head></head><p>&lt;head></p>", "x.js").count("guard.js") == 1


@pytest.mark.parametrize("encoding", ["gzip", "identity"])
def test_what_every_visitor_fetches_is_sent_compressed_and_kept_a_year(
    client: TestClient, encoding: str
) -> None:
    plotly = told_by_guard(client, r"plotly\.min\.js\?v=[\d.]+")
    js = next((STATIC / "static" / "js").glob("index.*.js"))
    css = next((STATIC / "static" / "css").glob("index.*.css"))
    for address, path in [
        (plotly, PLOTLY),
        (f"static/js/{js.name}", js),
        (f"static/css/{css.name}", css),
    ]:
        answer = kept_for_a_year(client, address, encoding)
        assert answer.content == path.read_bytes()
        media_type = answer.headers["content-type"].split(";")[0]
        assert media_type == ("text/css" if path is css else "text/javascript")
        small = int(answer.headers["content-length"]) < path.stat().st_size / 2
        assert small == (encoding == "gzip")


def test_other_files_of_streamlit_are_its_own_to_answer(client: TestClient) -> None:
    for address in ("static/media/none.woff2", "static/js/../../index.html", "static/js/none.js"):
        assert client.get(f"/{address}").status_code == 404
