"""`ffnviz app` says where the page is, who can open it, and why it cannot start."""

import socket
from collections.abc import Iterator

import pytest
from click.testing import CliRunner

from ffnviz.commands import main
from ffnviz.commands.app import announcement, free_address
from ffnviz.lecture.classroom.attending import ALLOWED, STORE, store


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.create_server(("localhost", 0)) as listener:
        yield listener.getsockname()[1]


def test_localhost_is_this_computer_alone() -> None:
    said = announcement(free_address("localhost", 8_670), 8_670)
    assert said == "ffnviz: http://localhost:8670 (Ctrl-C ends it)"


@pytest.mark.parametrize(
    ("address", "shown"),
    [("127.0.0.2", "127.0.0.2"), ("::1", "[::1]")],
)
def test_another_address_of_this_computer_is_shown_as_it_is(address: str, shown: str) -> None:
    assert announcement(address, 9_000) == f"ffnviz: http://{shown}:9000 (Ctrl-C ends it)"


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "192.168.1.5"])
def test_what_others_can_reach_is_said(address: str) -> None:
    first, second = announcement(address, 9_000).splitlines()
    shown = "192.168.1.5" if address == "192.168.1.5" else "localhost"
    assert first == f"ffnviz: http://{shown}:9000 (Ctrl-C ends it)"
    assert second.startswith("Others on your network can open it too")
    assert "0.0.0.0" not in second


def test_a_port_that_is_taken_is_named_with_another_to_try(taken: int) -> None:
    result = CliRunner().invoke(main, ["app", "--port", str(taken)])
    assert result.exit_code == 1
    assert f"Port {taken} is taken" in result.output
    assert f"--port {taken + 1}" in result.output


@pytest.mark.parametrize("host", ["", "no host", "192.0.2.1", "a" * 80, "-1", "unix:///x", "☃"])
def test_what_is_no_address_of_this_computer_is_answered_in_words(host: str) -> None:
    result = CliRunner().invoke(main, ["app", "--port", "8670", f"--host={host}"])
    assert result.exit_code == 1
    assert f"“{host}”" in result.output
    assert "localhost" in result.output


def test_the_environment_may_say_where(taken: int) -> None:
    environment = {"STREAMLIT_SERVER_PORT": str(taken), "STREAMLIT_SERVER_ADDRESS": "127.0.0.1"}
    result = CliRunner().invoke(main, ["app"], env=environment)
    assert result.exit_code == 1
    assert f"Port {taken} is taken" in result.output


@pytest.mark.parametrize(
    ("where", "why"),
    [
        ("redis://me:secret@localhost:1", "Redis at localhost:1 cannot be used"),
        ("postgres://localhost", "postgres:// leads to no store of classes"),
        ("/no/such/folder/classes.sqlite", "/no/such/folder/classes.sqlite cannot be used"),
    ],
)
def test_where_classes_cannot_be_kept_is_said_before_anything_is_served(
    monkeypatch: pytest.MonkeyPatch, where: str, why: str
) -> None:
    for name in (ALLOWED, STORE):
        monkeypatch.setenv(name, "")  # what the command sets is forgotten after the test
    store.cache_clear()
    options = ["--host", "0.0.0.0", "--port", "8671", "--class-store", where]
    result = CliRunner().invoke(main, ["app", *options])
    store.cache_clear()
    assert result.exit_code == 1
    assert f"Classes cannot be kept: {why}" in result.output
    assert "secret" not in result.output
