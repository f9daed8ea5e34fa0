"""`ffnviz app` says where the page is, who can open it, and why it cannot start."""

import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from ffnviz.cli.app import allowed_hosts, announcement, free_address
from ffnviz.models.config import (
    VARIABLES,
    Config,
    NetworkRequest,
    config,
    config_from_environment,
    use,
)
from tests import served
from tests.commands import assert_refused, run


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.create_server(("localhost", 0)) as listener:
        yield listener.getsockname()[1]


@pytest.fixture
def free_port() -> str:
    return str(served.free_port())


def test_it_is_said_where_the_page_is_and_who_can_open_it(free_port: str) -> None:
    port = int(free_port)
    said = announcement(free_address("localhost", port), port)
    assert said == f"ffnviz: http://localhost:{port} (Ctrl-C ends it)"
    for address, shown in [("127.0.0.2", "127.0.0.2"), ("::1", "[::1]")]:
        assert announcement(address, 9_000) == f"ffnviz: http://{shown}:9000 (Ctrl-C ends it)"
    for address in ["0.0.0.0", "::", "192.168.1.5"]:
        first, second = announcement(address, 9_000).splitlines()
        shown = "192.168.1.5" if address == "192.168.1.5" else "localhost"
        assert first == f"ffnviz: http://{shown}:9000 (Ctrl-C ends it)"
        assert second.startswith("Others on your network can open it too")
        assert "0.0.0.0" not in second
    assert set(allowed_hosts("127.0.0.1", ())) == {"localhost", "127.0.0.1", "::1"}
    assert set(allowed_hosts("127.0.0.2", ("here.org",))) > {"localhost", "127.0.0.2", "here.org"}
    assert allowed_hosts("0.0.0.0", ()) == ()
    assert set(allowed_hosts("0.0.0.0", ("here.org",))) > {"localhost", "127.0.0.1", "here.org"}


def test_a_taken_port_is_named_with_another_to_try_also_from_the_environment(taken: int) -> None:
    said = f"Port {taken} is taken"
    assert_refused(run("app", "--port", taken), said, f"--port {taken + 1}")
    environment = {"STREAMLIT_SERVER_PORT": str(taken), "STREAMLIT_SERVER_ADDRESS": "127.0.0.1"}
    assert_refused(run("app", env=environment), said)


def test_what_is_no_address_or_name_is_refused_in_words(free_port: str) -> None:
    for host in ["", "no host", "192.0.2.1", "a" * 80, "-1", "unix:///x", "☃"]:
        assert_refused(run("app", "--port", 8670, f"--host={host}"), f"“{host}”", "localhost")
    for name in ["https://ffnviz.example.org", "ffnviz.example.org:80", "a/b", ""]:
        result = run("app", "--port", free_port, f"--allowed-host={name}")
        assert_refused(result)
        assert f"“{name}” is not the name of a server" in " ".join(result.output.split())
    result = run("app", "--port", free_port, "--frame-ancestors", "a; b")
    assert_refused(result, "--frame-ancestors")


@pytest.mark.parametrize(
    ("where", "why"),
    [
        ("redis://me:secret@localhost:1", "Redis at localhost:1 cannot be used"),
        ("redis://dead", "Redis at dead cannot be used"),
        ("postgres://localhost", "postgres:// leads to no store of classes"),
        ("/no/such/folder/classes.sqlite", "/no/such/folder/classes.sqlite cannot be used"),
    ],
)
@pytest.mark.parametrize("host", ["0.0.0.0", "localhost"])
def test_where_classes_cannot_be_kept_is_said_before_anything_is_served(
    free_port: str, host: str, where: str, why: str
) -> None:
    result = run("app", "--host", host, "--port", free_port, "--class-store", where)
    assert_refused(result, f"Classes cannot be kept: {why}")
    assert "secret" not in result.output


def test_the_environment_may_name_networks_and_indexes(
    monkeypatch: pytest.MonkeyPatch, free_port: str, tmp_path: Path
) -> None:
    monkeypatch.setattr("ffnviz.cli.app_checks.prove_networks", sys.exit)
    paths = [tmp_path / "one.npz", tmp_path / "with a blank.npz"]
    for path in paths:
        path.touch()
    environment = {
        "FFNVIZ_MODEL": "gpt2 org/name@main",
        "FFNVIZ_INDEX": os.pathsep.join(map(str, paths)),
    }
    run("app", "--port", free_port, env=environment)
    assert config().indexes == tuple(paths)
    assert config().networks == (
        NetworkRequest("gpt2"), NetworkRequest("org/name", revision="main"),
    )  # fmt: skip


FIELDS = ("hosts", "frame_ancestors", "class_store", "train_minutes")
ASKED = {
    "--allowed-host": "Here.org",
    "--frame-ancestors": "https://moodle.example.org",
    "--class-store": "redis://there:1",
    "--train-minutes": "0.5",
}
# The values of FIELDS; browsers send names in lower case.
GIVEN = [("here.org",), "https://moodle.example.org", "redis://there:1", 0.5]


def test_an_option_and_its_variable_fill_the_same_field_also_under_streamlit_run(
    monkeypatch: pytest.MonkeyPatch, free_port: str
) -> None:
    monkeypatch.setattr("ffnviz.cli.app_checks.check_class_store", sys.exit)
    options = [f"{name}={value}" for name, value in ASKED.items()]
    variables = dict(zip((VARIABLES[name][0] for name in FIELDS), ASKED.values(), strict=True))
    for more, environment in ((options, {}), ([], variables)):
        use(Config())
        run("app", "--port", free_port, *more, env=environment)
        assert "here.org" in config().hosts
        assert [getattr(config(), name) for name in FIELDS[1:]] == GIVEN[1:]
    with patch.dict(os.environ, variables):
        told = [getattr(config_from_environment(), name) for name in FIELDS]
        assert told == [*GIVEN[:3], Config.train_minutes]
    with patch.dict(os.environ, dict.fromkeys(variables, "")):
        assert config_from_environment() == Config()
