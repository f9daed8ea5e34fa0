"""Headers: nothing foreign runs in the page, and no other site opens a session."""

import re
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect
from streamlit.file_util import get_static_dir

from ffnviz.server.headers import INLINE, SafeHeaders, content_security_policy, same_origin

PAGE = "<html><script>let a = 1</script><script src='./x.js'></script></html>"


async def greet(socket: WebSocket) -> None:
    await socket.accept()
    await socket.send_text("hello")


@pytest.fixture
def client() -> TestClient:
    policy = content_security_policy(PAGE, "'self'")
    app = Starlette(
        routes=[Route("/", lambda _: PlainTextResponse("x")), WebSocketRoute("/ws", greet)],
        middleware=[
            Middleware(SafeHeaders, policy=policy, origins=frozenset({"https://friend.org"}))
        ],
    )
    return TestClient(app, base_url="http://here.org")


@pytest.mark.parametrize("path", ["/", "/missing"])
def test_every_answer_has_them(client: TestClient, path: str) -> None:
    headers = client.get(path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    policy = headers["content-security-policy"]
    assert "frame-ancestors 'self'" in policy
    assert not re.search(r"https?:|\*|unsafe-eval", policy)
    assert "'unsafe-inline'" not in policy.split("script-src")[1].split(";")[0]


def test_streamlits_own_inline_scripts_are_known_by_their_sums() -> None:
    html = (Path(get_static_dir()) / "index.html").read_text(encoding="utf-8")
    assert len(INLINE.findall(html)) == html.count("<script>")
    assert content_security_policy(html, "'self'").count("sha256-") == html.count("<script>") > 0


def test_course_pages_may_frame_it() -> None:
    policy = content_security_policy("", "https://moodle.example.org https://other.org:8443")
    assert policy.endswith("frame-ancestors https://moodle.example.org https://other.org:8443")


@pytest.mark.parametrize("wrong", ["moodle.example.org", "'self'; script-src *", "*", "a\nb"])
def test_what_is_no_address_is_answered_in_words(wrong: str) -> None:
    with pytest.raises(ValueError, match="not the address of a site"):
        content_security_policy("", wrong)


@pytest.mark.parametrize("origin", [None, "http://here.org", "https://friend.org"])
def test_our_own_page_opens_a_session(client: TestClient, origin: str | None) -> None:
    headers = {} if origin is None else {"origin": origin}
    with client.websocket_connect("/ws", headers={"host": "here.org", **headers}) as socket:
        assert socket.receive_text() == "hello"


@pytest.mark.parametrize("origin", ["https://evil.org", "null", "http://here.org.evil.org"])
def test_another_sites_page_does_not(client: TestClient, origin: str) -> None:
    headers = {"host": "here.org", "origin": origin}
    with (
        pytest.raises(WebSocketDisconnect) as refused,
        client.websocket_connect("/ws", headers=headers),
    ):
        pass
    assert refused.value.code == 1008


def test_a_port_is_part_of_an_origin() -> None:
    assert same_origin("http://here.org:9000", "here.org:9000")
    assert not same_origin("http://here.org:9000", "here.org")
