"""Each patch fits this Streamlit, says in a sentence when it does not, and can be left out."""

import asyncio
import math
import random
import socket
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.elements.widgets import text_widgets
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.scriptrunner import script_runner
from streamlit.runtime.state.session_state import WStates
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager
from streamlit.testing.v1 import AppTest
from streamlit.web.server.starlette import starlette_server

from ffnviz.app.visit import VISIT
from ffnviz.models.config import WITHOUT_PATCHES, Config, config_from_environment, use
from ffnviz.server.streamlit_patches import PATCHES, apply_patches, page_script, patch
from ffnviz.server.streamlit_patches.open_sessions import open_sessions, tab_is_open
from tests.person import Person
from tests.served import served

APP = Path(__file__).parents[2] / "app.py"
FOLDER = Path(page_script.__file__).parent


def nothing(*_: object) -> None:
    """What Streamlit might have instead."""


# What Streamlit might change, so that a patch fits no more.
CHANGES: dict[str, tuple[Any, str, Any]] = {
    "run_gate": (script_runner.ScriptRunner, "_maybe_handle_execution_control_request", nothing),
    "held_messages": (AppSession, "_enqueue_forward_msg", nothing),
    "message_limits": (starlette_server, "_get_uvicorn_config_kwargs", nothing),
    "compressed_messages": (starlette_server, "_get_uvicorn_config_kwargs", nothing),
    "typing_pause": (text_widgets, "_parse_text_input_live", nothing),
    "page_script": (page_script, "index_html", lambda: "<html></html>"),
    "plotly_file": (BidiComponentManager, "register_from_manifest", None),
    "open_sessions": (WebsocketSessionManager, "num_active_sessions", None),
    "closed_sessions": (MemorySessionStorage, "__init__", lambda self: setattr(self, "_cache", {})),
    "reconnected_text": (WStates, "set_widget_from_proto", nothing),
}


def change(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, attribute, other = CHANGES[name]
    if other is None:
        while attribute not in vars(owner):
            owner = owner.__base__
        monkeypatch.delattr(owner, attribute)
    else:
        monkeypatch.setattr(owner, attribute, other)


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing has failed before."""
    monkeypatch.setattr(patch, "_failed", set())
    patch._checked.cache_clear()


def ours(caplog: pytest.LogCaptureFixture) -> list[str]:
    """The lines that are not Streamlit's."""
    return [line.getMessage() for line in caplog.records if line.name.startswith("ffnviz")]


def test_every_file_is_listed() -> None:
    python = {path.stem for path in FOLDER.glob("*.py")} - {"__init__", "patch"}
    assert python == set(PATCHES) == set(CHANGES)
    assert {path.stem for path in FOLDER.glob("*.js")} == set(page_script.SCRIPTS)


@pytest.mark.parametrize("path", sorted([*FOLDER.glob("*.py"), *FOLDER.glob("*.js")]))
def test_every_file_says_what_it_changes_and_why(path: Path) -> None:
    if path.stem not in ("__init__", "patch"):
        text = path.read_text(encoding="utf-8")
        for word in ("Changes", "Why: ", "Gains: ", "For: Streamlit "):
            assert word in text


@pytest.mark.parametrize("name", PATCHES)
def test_a_patch_fits_this_streamlit(name: str) -> None:
    patch.check(name)


@pytest.mark.parametrize("name", PATCHES)
def test_a_patch_says_in_a_sentence_when_streamlit_has_changed(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(name, monkeypatch)
    fault = f"^The patch {name} does not fit Streamlit [0-9.]+: .+[.]$"
    with pytest.raises(patch.StreamlitChangedError, match=fault):
        patch.check(name)


@pytest.mark.parametrize("script", page_script.SCRIPTS)
def test_a_script_says_what_streamlits_code_lacks(
    script: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """All that the others need is there."""
    monkeypatch.setattr(page_script, "STATIC", tmp_path)
    (tmp_path / "index.html").write_text("<head></head><noscript></noscript>")
    others = [name for name in page_script.SCRIPTS if name != script]
    needed = " ".join(" ".join(page_script.SCRIPTS[name]) for name in others)
    (tmp_path / "index.js").write_text(needed)
    with pytest.raises(patch.StreamlitChangedError, match=f"for {script}.js"):
        patch.check("page_script")


def test_a_patch_that_does_not_fit_costs_one_line_and_no_page(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    before = starlette_server.__dict__["get_max_message_size_bytes"]
    change("message_limits", monkeypatch)
    for _ in range(2):
        patch.apply("message_limits")
    assert starlette_server.__dict__["get_max_message_size_bytes"] is before
    assert [line.count("message_limits") > 0 for line in ours(caplog)] == [True]


def test_what_looks_into_streamlit_and_fails_has_another_answer(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("streamlit.runtime.exists", lambda: True)  # and no server runs
    assert all(math.isnan(open_sessions()) for _ in range(2))
    assert tab_is_open()()
    assert len(ours(caplog)) == 1


def test_a_name_that_no_patch_has_is_said(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv(WITHOUT_PATCHES, "all, run_gates")
    use(config_from_environment())
    apply_patches()
    assert len(ours(caplog)) == 1
    assert "“run_gates”" in ours(caplog)[0]


def test_one_script_can_be_left_out() -> None:
    assert "deltaPath" in page_script.guard_js()
    use(Config(without_patches=("white_page", "drawer")))
    left = page_script.guard_js()
    assert "deltaPath" not in left
    assert "stSidebarNavLink" not in left
    assert "pushState" in left


def test_a_page_is_whole_without_any_patch() -> None:
    use(Config(without_patches=(patch.ALL,)))
    page = AppTest.from_file(str(APP), default_timeout=120).run()
    page.text_input(key="text").set_value("The cat sat.").run()
    assert not page.exception
    assert page.session_state[VISIT].state.sentence == "The cat sat."


def test_a_server_serves_without_any_patch(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(WITHOUT_PATCHES, patch.ALL)
    with socket.create_server(("localhost", 0)) as listener:
        port = listener.getsockname()[1]
    log = tmp_path / "log"
    with served(port, log=log) as server:
        person = Person(server.socket, random.Random(0), page="neurons")

        async def visit() -> None:
            await person.open()
            await person.type_keys("the old dog", 0.1)
            await person.close()

        asyncio.run(visit())
        for path, content in (
            ("", b"<head>"),
            ("neurons", b"<head>"),
            ("plotly.min.js", b"plotly"),
        ):
            with urllib.request.urlopen(f"{server.url}/{path}") as answer:
                whole = answer.read()
            assert content in whole
            assert b"guard.js" not in whole
    assert person.runs >= 2
    assert not person.broken
    assert "Traceback" not in log.read_text()
    assert "Pages are served without" not in log.read_text()
