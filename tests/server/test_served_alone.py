"""One server of this computer's own: to whom it answers, what it hides, and what it refuses."""

import signal
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

import pytest
import websockets
from websockets.sync.client import connect

from ffnviz.parts import PAGES
from ffnviz.server.streamlit_patches.message_limits import MOST_BYTES
from tests.served import Server, free_port, served


@dataclass(frozen=True)
class Local:
    """A server that only this computer can reach, and where it writes its log."""

    port: int
    server: Server
    log: Path

    def status(self, path: str, host: str = "", **headers: str) -> int:
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=30)) as connection:
            named = host or f"localhost:{self.port}"
            connection.request("GET", path, headers={"Host": named, **headers})
            return connection.getresponse().status


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Local]:
    """One process, which Ctrl-C ends."""
    port = free_port()
    log = tmp_path_factory.mktemp("log") / "log"
    with served(port, log=log, options=["--allowed-host", "ffnviz.example.org"]) as server:
        yield Local(port, server, log)
        if sys.platform != "win32":
            server.process.send_signal(signal.SIGINT)
            assert server.process.wait(120) == 130
    assert "Traceback" not in log.read_text()


def test_it_answers_to_its_names_and_finds_what_is_there(local: Local) -> None:
    for host in ["localhost", "127.0.0.1", "[::1]", "FFNviz.example.org."]:
        assert local.status("/", f"{host}:{local.port}") == 200
        assert local.status("/", host) == 200
    paths = ["/", "/guard.js", "/favicon.png", "/_stcore/health", "/metrics", "/_stcore/metrics"]
    for path in [*paths, *(f"/{page.name}" for page in PAGES)]:
        assert local.status(path) == 200, path
    for path in ["/robots.txt", "/nope", "/static/nope.js", "/neuron", "/class/ABCDEF"]:
        assert local.status(path) == 404
    for path in ["/metrics", "/_stcore/metrics"]:
        for header in ["X-Forwarded-For", "X-Real-Ip", "Forwarded"]:
            assert local.status(path, **{header: "203.0.113.7"}) == 404
            assert local.status("/", **{header: "203.0.113.7"}) == 200


@pytest.mark.parametrize("host", ["evil.com", "localhost.evil.com", "192.168.1.5", "[::1"])
def test_under_a_name_that_another_site_gave_nothing_is_answered(local: Local, host: str) -> None:
    for path in ("/", "/metrics", "/_stcore/host-config", "/static/x.js"):
        assert local.status(path, host) == 421
    assert local.status("/_stcore/health", host) == 200
    site = f"evil.com:{local.port}"
    with (
        pytest.raises(websockets.InvalidStatus, match="403"),
        connect(
            f"ws://{site}/_stcore/stream",
            origin=websockets.Origin(f"http://{site}"),
            sock=socket.create_connection(("127.0.0.1", local.port)),
        ),
    ):
        pass


@pytest.mark.parametrize(
    ("message", "code"), [("text", 1003), (b"\xff\xff\xff", 1002), (b"\0" * (MOST_BYTES + 1), 1009)]
)
def test_a_message_that_is_none_closes_the_socket_and_costs_a_line_of_the_log(
    local: Local, message: str | bytes, code: int
) -> None:
    before = local.log.read_text()
    # Of zeros, 2 kB unpack to so many: what is too large is seen before it is unpacked.
    with connect(local.server.socket, max_size=None, compression="deflate") as opened:
        assert [each.name for each in opened.protocol.extensions] == ["permessage-deflate"]
        opened.send(message)
        with pytest.raises(websockets.ConnectionClosed) as closed:
            list(iter(lambda: opened.recv(timeout=30), None))
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == code
    time.sleep(0.5)  # whatever else would be written
    written = local.log.read_text().removeprefix(before)
    assert len(written.splitlines()) == 1, written
