"""What is around Streamlit: our script comes first, our headers are sent, no page hangs."""

import hashlib
import re
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect
from streamlit.file_util import get_static_dir

from ffnviz.export.document import PLOTLY
from ffnviz.server.application import our_routes
from ffnviz.server.headers import INLINE, SafeHeaders, content_security_policy, same_origin
from ffnviz.server.static import encodings
from ffnviz.server.streamlit_patches.page_script import PINGS, STATIC, guarded_html, index_html


@pytest.fixture(scope="module")
def client() -> TestClient:
    """Our routes alone, without Streamlit behind them."""
    routes = our_routes(("neurons", "lab"))
    return TestClient(Starlette(routes=routes), base_url="http://localhost")


def test_a_page_begins_with_our_script(client: TestClient) -> None:
    for path in ["/", "/neurons", "/lab"]:
        html = client.get(path).text
        assert html.index("guard.js") < html.index("<script type=")
        assert html.count("<head>") == 1
    answer = client.get("/guard.js")
    assert answer.headers["content-type"].startswith("text/javascript")
    assert "pushState" in answer.text
    assert guarded_html("<head></head><p>&lt;head></p>", {"x.js": 1}).count("guard.js") == 1
    named = re.findall(r'rel="modulepreload" href="\./(static/js/[^"]+)"', client.get("/").text)
    for name in ("BidiComponent", "Html", "purify.es", "TextInput"):  # the third by the second
        assert len([each for each in named if each.startswith(f"static/js/{name}.")]) == 1
    assert all(client.get(f"/{each}").status_code == 200 for each in named)


def test_a_page_asks_for_its_large_scripts_apart_and_for_what_is_needed_to_connect(
    client: TestClient,
) -> None:
    html = client.get("/").text
    asked = re.findall(r'rel="modulepreload" href="\./(static/js/[^"]+)"', html)
    early = list(dict.fromkeys(asked))
    own = set(re.findall(r'"\./(static/js/[^"]+)"', index_html()))
    assert own < set(early)
    sizes = [(STATIC / address).stat().st_size for address in early]
    large = [place for place, size in enumerate(sizes) if size in sorted(sizes)[-5:]]
    assert large[0] == 0
    assert all(after - before > 1 for before, after in pairwise(large))
    assert all(f'as="fetch" href="./_stcore/{name}"' in html for name in PINGS)
    code = next((STATIC / "static" / "js").glob("index.*.js")).read_text(encoding="utf-8")
    assert all(f"`_stcore/{name}`" in code for name in PINGS)


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


@pytest.mark.parametrize("path", ["/", "/neurons", "/guard.js"])
@pytest.mark.parametrize("encoding", ["gzip", "identity"])
def test_what_changes_is_compressed_each_time(client: TestClient, path: str, encoding: str) -> None:
    answer = client.get(path, headers={"Accept-Encoding": encoding})
    assert answer.headers["cache-control"] == "no-cache"
    assert answer.headers.get("content-encoding", "identity") == encoding


def test_below_a_page_is_the_page_and_streamlits_files_are_its_own(client: TestClient) -> None:
    for path in ["/neurons/x", "/neurons/", "/neurons/a/b", "/neurons/a/b/"]:
        answer = client.get(f"{path}?part=name&text=a%26b", follow_redirects=True)
        assert answer.url.path == "/neurons"
        assert answer.url.query == b"part=name&text=a%26b"
    assert client.get("/neurons/_stcore/health").status_code == 404
    for address in ("static/media/none.woff2", "static/js/../../index.html", "static/js/none.js"):
        assert client.get(f"/{address}").status_code == 404


@pytest.mark.parametrize("encoding", ["gzip", "identity"])
def test_what_every_visitor_fetches_is_sent_compressed_and_kept_a_year(
    client: TestClient, encoding: str
) -> None:
    pictures = told_by_guard(client, r"pictures\.[0-9a-f]{16}\.js")
    assert f'<link rel="modulepreload" href="./{pictures}">' in client.get("/neurons").text
    whole = kept_for_a_year(client, pictures, encoding).content
    assert hashlib.sha256(whole).hexdigest()[:16] in pictures

    plotly = told_by_guard(client, r"plotly\.min\.js\?v=[\d.]+")
    js = next((STATIC / "static" / "js").glob("index.*.js"))
    css = next((STATIC / "static" / "css").glob("index.*.css"))
    files = {plotly: PLOTLY, f"static/js/{js.name}": js, f"static/css/{css.name}": css}
    for address, path in files.items():
        answer = kept_for_a_year(client, address, encoding)
        if path is not css:  # which has fonts of ours besides
            assert answer.content == path.read_bytes()
        media_type = answer.headers["content-type"].split(";")[0]
        assert media_type == ("text/css" if path is css else "text/javascript")
        small = int(answer.headers["content-length"]) < path.stat().st_size / 2
        assert small == (encoding == "gzip")


def test_a_browser_that_knows_brotli_is_sent_it_when_there_was_time(
    client: TestClient,
) -> None:
    js = next((STATIC / "static" / "js").glob("index.*.js"))
    address = f"static/js/{js.name}"

    def sent(accepted: str) -> tuple[str, bytes, int]:
        answer = client.get(f"/{address}", headers={"Accept-Encoding": accepted})
        headers = answer.headers
        return headers["content-encoding"], answer.content, int(headers["content-length"])

    _, content, by_gzip = sent("gzip")
    assert sent("gzip, br;q=0.9")[0] in ("gzip", "br")
    until = time.monotonic() + 60
    while sent("gzip, deflate, br")[0] != "br" and time.monotonic() < until:
        time.sleep(0.01)
    assert sent("br")[:2] == ("br", content)
    assert sent("br")[2] < 0.9 * by_gzip
    assert sent("gzip") == ("gzip", content, by_gzip)


def test_an_encoding_of_weight_0_is_refused(client: TestClient) -> None:
    assert encodings("gzip, deflate, br") == {"gzip", "deflate", "br"}
    assert encodings("BR; Q=0.001,gzip;q=1.0") == {"br", "gzip"}
    assert encodings("br;q=0, gzip ; q=0.000, identity") == {"identity"}
    refused = {"Accept-Encoding": "gzip;q=0, br;q=0"}
    assert "content-encoding" not in client.get("/guard.js", headers=refused).headers


def test_a_page_brings_the_letters_that_it_shows_as_fonts_that_a_browser_keeps(
    client: TestClient,
) -> None:
    html = client.get("/neurons").text
    [style] = re.findall(r'href="\./(static/css/[^"]+)"', html)
    css = kept_for_a_year(client, style, "identity").text
    named = set(re.findall(r"url\(\.\./\.\./(fonts/\w+\.woff2\?v=[0-9a-f]{16})\)", css))
    assert len(named) == 2
    faces = re.findall(r"@font-face\{font-family:Source Sans;[^}]*\}", css)
    assert len(faces) == 4
    # The whole: for the letters of other languages, and where a part is not served.
    assert all("SourceSansVF" in face for face in faces)
    assert [face.index("fonts/") < face.index("SourceSansVF") for face in faces[1::2]] == [True] * 2
    preloaded = re.findall(r'<link rel="preload" href="\./([^"]+)" as="font"', html)
    assert [address in named for address in preloaded] == [True]
    for address in named:
        answer = kept_for_a_year(client, address, "identity")
        assert answer.headers["content-type"] == "font/woff2"
        assert len(answer.content) < 40_000
    beside = ("OFL.txt", "none.woff2", f"{'x' * 300}.woff2", "%2e%2e/page.css", "..%5cpage.css")
    for nothing in (f"fonts/{name}" for name in beside):
        assert client.get(f"/{nothing}").status_code == 404


PAGE = "<html><script>let a = 1</script><script src='./x.js'></script></html>"


async def greet(socket: WebSocket) -> None:
    await socket.accept()
    await socket.send_text("hello")


@pytest.fixture
def guarded() -> TestClient:
    policy = content_security_policy(PAGE, "'self'")
    app = Starlette(
        routes=[Route("/", lambda _: PlainTextResponse("x")), WebSocketRoute("/ws", greet)],
        middleware=[
            Middleware(SafeHeaders, policy=policy, origins=frozenset({"https://friend.org"}))
        ],
    )
    return TestClient(app, base_url="http://here.org")


def test_every_answer_has_its_headers(guarded: TestClient) -> None:
    for path in ["/", "/missing"]:
        headers = guarded.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        policy = headers["content-security-policy"]
        assert "frame-ancestors 'self'" in policy
        assert not re.search(r"https?:|\*|unsafe-eval", policy)
        assert "'unsafe-inline'" not in policy.split("script-src")[1].split(";")[0]


def test_only_parts_of_a_page_are_sent_without_the_policy_that_they_obey() -> None:
    async def found(_: Any) -> PlainTextResponse:
        return PlainTextResponse("found")

    paths = ("/static/js/x.js", "/static/css/x.css", "/fonts/x.woff2", "/static/media/x.svg")
    routes = [Route(path, found) for path in paths]
    app = Starlette(routes=routes, middleware=[Middleware(SafeHeaders, policy="default-src")])
    client = TestClient(app)
    for path in (*paths, "/static/js/none.js", "/fonts/none.woff2"):
        headers = client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert ("content-security-policy" not in headers) == (path in paths[:3]), path


def test_the_policy_knows_streamlits_scripts_and_who_may_frame_a_page() -> None:
    html = (Path(get_static_dir()) / "index.html").read_text(encoding="utf-8")
    assert len(INLINE.findall(html)) == html.count("<script>")
    assert content_security_policy(html, "'self'").count("sha256-") == html.count("<script>") > 0
    policy = content_security_policy("", "https://moodle.example.org https://other.org:8443")
    assert policy.endswith("frame-ancestors https://moodle.example.org https://other.org:8443")
    for wrong in ["moodle.example.org", "'self'; script-src *", "*", "a\nb"]:
        with pytest.raises(ValueError, match="not the address of a site"):
            content_security_policy("", wrong)


def test_our_own_page_opens_a_session_and_another_sites_does_not(guarded: TestClient) -> None:
    for origin in [None, "http://here.org", "https://friend.org"]:
        headers = {} if origin is None else {"origin": origin}
        with guarded.websocket_connect("/ws", headers={"host": "here.org", **headers}) as socket:
            assert socket.receive_text() == "hello"
    for origin in ["https://evil.org", "null", "http://here.org.evil.org"]:
        headers = {"host": "here.org", "origin": origin}
        with (
            pytest.raises(WebSocketDisconnect) as refused,
            guarded.websocket_connect("/ws", headers=headers),
        ):
            pass
        assert refused.value.code == 1008
    assert same_origin("http://here.org:9000", "here.org:9000")
    assert not same_origin("http://here.org:9000", "here.org")
