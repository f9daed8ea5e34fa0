"""Each patch fits this Streamlit, says in a sentence when it does not, and can be left out."""

import asyncio
import math
import random
import re
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.delta_generator_singletons import context_dg_stack, get_default_dg_stack_value
from streamlit.elements.widgets import text_widgets
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.runtime.app_session import AppSession, AppSessionState
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.scriptrunner import script_runner
from streamlit.runtime.scriptrunner_utils.script_requests import (
    RerunData,
    ScriptRequest,
    ScriptRequestType,
)
from streamlit.runtime.state.session_state import WStates
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager
from streamlit.web.server.starlette import starlette_server
from websockets.extensions.permessage_deflate import (
    ClientPerMessageDeflateFactory,
    PerMessageDeflate,
)
from websockets.frames import Frame, Opcode

from ffnviz.jobs.run_queue import RunQueue
from ffnviz.models.config import WITHOUT_PATCHES, Config, config_from_environment, use
from ffnviz.server.streamlit_patches import (
    PATCHES,
    apply_patches,
    held_messages,
    page_script,
    patch,
    run_gate,
)
from ffnviz.server.streamlit_patches.compressed_messages import (
    WhereItHelps,
    WhereItHelpsFactory,
    is_worth_it,
)
from ffnviz.server.streamlit_patches.open_sessions import open_sessions, tab_is_open
from ffnviz.server.streamlit_patches.run_gate import QueuedScriptRequests
from tests.person import Person
from tests.served import free_port, served
from tests.waiting import until

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


def test_every_file_is_listed_and_fits() -> None:
    python = {path.stem for path in FOLDER.glob("*.py")} - {"__init__", "patch"}
    assert python == set(PATCHES) == set(CHANGES)
    scripts = (FOLDER / "page_script.js").read_text(encoding="utf-8")
    said = re.findall(r"((?:^  //.*\n)+)  (\w+)\(\) \{$", scripts, re.MULTILINE)
    assert [name for _, name in said] == list(page_script.SCRIPTS)
    for remarks, _ in said:
        assert all(word in remarks for word in ("// Changes: ", "// Why: ", "// Gains: "))
    assert [path.stem for path in FOLDER.glob("*.js")] == ["page_script"]
    for name in PATCHES:
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
    with pytest.raises(patch.StreamlitChangedError, match=f"for {script}[.]"):
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
    every = list(page_script.SCRIPTS)
    runs = re.compile(r'for \(const name of "([\w ]+)"[.]split')
    assert runs.findall(page_script.guard_js()) == [" ".join(every)]
    use(Config(without_patches=("white_page", "drawer")))
    left = [name for name in every if name not in ("white_page", "drawer")]
    assert runs.findall(page_script.guard_js()) == [" ".join(left)]


def test_a_server_serves_without_any_patch(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(WITHOUT_PATCHES, patch.ALL)
    port = free_port()
    log = tmp_path / "log"
    with served(port, log=log) as server:
        person = Person(server.socket, random.Random(0), page="neurons", query="text=The+cat")

        async def visit() -> None:
            await person.open()
            assert person.shown == "The cat"
            await person.type_keys("the old dog", 0.1)
            await person.close()

        asyncio.run(visit())
        for path, content in (("", b"<head>"), ("plotly.min.js", b"plotly")):
            with urllib.request.urlopen(f"{server.url}/{path}") as answer:
                whole = answer.read()
            assert content in whole
            assert b"guard.js" not in whole
    assert person.runs >= 2
    assert not person.broken
    assert "Traceback" not in log.read_text()
    assert "Pages are served without" not in log.read_text()


WORDS = b"what a page says of a part is words, and words get shorter. " * 400
NUMBERS = random.Random(0).randbytes(len(WORDS))


def agreed() -> tuple[WhereItHelps, PerMessageDeflate]:
    """What a server and a browser make of each other's offers."""
    browser = ClientPerMessageDeflateFactory()
    params, server = WhereItHelpsFactory().process_request_params(browser.get_request_params(), [])
    return server, browser.process_response_params(params, [])


@pytest.mark.parametrize("message", [b"", b"short", WORDS, NUMBERS, WORDS[:600] + NUMBERS])
def test_a_browser_reads_what_was_sent(message: bytes) -> None:
    server, browser = agreed()
    for _ in range(2):
        sent = server.encode(Frame(Opcode.BINARY, message))
        assert bytes(browser.decode(sent).data) == message


def test_words_get_shorter_numbers_cost_nothing_and_nothing_is_remembered() -> None:
    """A zlib stream takes 256 kB; a class of 100 would keep 25 MB."""
    server, browser = agreed()
    numbers = Frame(Opcode.BINARY, NUMBERS)
    assert server.encode(numbers) is numbers
    assert not is_worth_it(b"a" * 100)
    assert not is_worth_it(WORDS[:600] + NUMBERS)
    for end in (server, browser):
        assert not hasattr(end, "encoder")
    twice = [len(server.encode(Frame(Opcode.BINARY, WORDS)).data) for _ in range(2)]
    assert twice[0] == twice[1] < len(WORDS) / 20


class Session:
    """What the patch needs of a session under way; its clock is `a_while_later`."""

    def __init__(self) -> None:
        self.told: list[int] = []  # how many messages its server took each time
        self.later: list[tuple[float, Callable[[], None]]] = []
        self._browser_queue = ForwardMsgQueue()
        self._state = AppSessionState.APP_IS_RUNNING
        self._event_loop = SimpleNamespace(
            call_soon_threadsafe=lambda call, *args: call(*args),
            call_later=lambda seconds, call: self.later.append((seconds, call)),
        )

    def _message_enqueued_callback(self) -> None:
        self.told.append(len(self._browser_queue.flush()))

    def sends(self, n: int) -> None:
        for _ in range(n):
            held_messages._hold(self, ForwardMsg())  # type: ignore[arg-type]

    def a_while_later(self) -> None:
        for seconds, call in self.later:
            assert seconds == held_messages.HOLD_S
            call()
        self.later.clear()


def test_a_run_is_told_of_at_its_end_a_long_one_as_it_goes_on_and_a_message_alone_at_once() -> None:
    session = Session()
    session.sends(3)
    assert session.told == []
    session._state = AppSessionState.APP_NOT_RUNNING
    session.sends(1)
    assert session.told == [4]
    session.sends(1)
    assert session.told == [4, 1]
    session = Session()
    for n in (2, 3):
        session.sends(n)
        session.a_while_later()
    assert session.told == [2, 3]


# Streamlit's requests at our gate: the newest is what runs, and what runs is finished.


@pytest.fixture
def run_queue(monkeypatch: pytest.MonkeyPatch) -> RunQueue:
    made = RunQueue(slice_s=3_600.0)
    monkeypatch.setattr(QueuedScriptRequests, "run_queue", made)
    return made


def typed(text: str) -> RerunData:
    states = WidgetStates()
    widget = states.widgets.add()
    widget.id, widget.string_value = "box", text
    return RerunData(widget_states=states)


def text_of(request: ScriptRequest | None) -> str:
    assert request is not None
    assert request.rerun_data.widget_states is not None
    return str(request.rerun_data.widget_states.widgets[0].string_value)


def running(text: str) -> QueuedScriptRequests:
    """The requests of a session whose run of a text is under way."""
    requests = QueuedScriptRequests()
    requests.request_rerun(typed(text))
    requests.on_scriptrunner_ready()
    return requests


def test_a_run_begins_with_the_newest_text_and_no_run_is_made_for_the_older(
    run_queue: RunQueue,
) -> None:
    another = run_queue.wait()
    requests = QueuedScriptRequests()
    requests.request_rerun(typed("the"))
    with ThreadPoolExecutor(1) as thread:
        ready = thread.submit(requests.on_scriptrunner_ready)
        until(lambda: run_queue.queue > 0)
        assert not ready.done()
        requests.request_rerun(typed("the cat"))
        run_queue.end(another)
    assert text_of(ready.result()) == "the cat"
    assert requests.on_scriptrunner_ready().type is ScriptRequestType.STOP
    assert run_queue.counted.runs == 2


def test_within_its_slice_a_run_is_finished_and_a_long_one_gives_way(run_queue: RunQueue) -> None:
    requests = running("the")
    requests.request_rerun(typed("the cat"))
    assert requests.on_scriptrunner_yield() is None
    assert text_of(requests.on_scriptrunner_ready()) == "the cat"
    assert run_queue.queue == 0
    requests.request_rerun(typed("the cat sat"))
    run_queue.slice_s = -1.0  # it has been running for long
    assert text_of(requests.on_scriptrunner_yield()) == "the cat sat"


def test_a_fragment_breaks_off_no_long_run(run_queue: RunQueue) -> None:
    requests = running("the")
    requests.request_rerun(RerunData(fragment_id="slider"))
    run_queue.slice_s = -1.0
    assert requests.on_scriptrunner_yield() is None


def by_the_clock() -> RerunData:
    return RerunData(fragment_id="clock", fragment_id_queue=["clock"], is_auto_rerun=True)


def test_the_clock_has_its_fragment_run_alone_and_after_no_other_run(run_queue: RunQueue) -> None:
    alone = QueuedScriptRequests()
    assert alone.request_rerun(by_the_clock())
    assert alone.on_scriptrunner_ready().rerun_data.fragment_id_queue == ["clock"]
    requests = QueuedScriptRequests()
    requests.request_rerun(typed("the"))
    run_queue.slice_s = -1.0
    assert text_of(requests.on_scriptrunner_ready()) == "the"
    assert requests.request_rerun(by_the_clock())
    assert requests.on_scriptrunner_ready().type is ScriptRequestType.STOP
    assert not requests.request_rerun(by_the_clock())  # a new thread will do it


@pytest.mark.parametrize("slice_s", [-1.0, 3_600.0])
def test_a_closed_tab_ends_its_run_at_once(run_queue: RunQueue, slice_s: float) -> None:
    requests = running("the")
    run_queue.slice_s = slice_s
    requests.request_stop()
    stop = requests.on_scriptrunner_yield()
    assert stop is not None
    assert stop.type is ScriptRequestType.STOP


def test_a_script_that_asks_for_another_run_goes_no_further(
    run_queue: RunQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests = running("the")
    own: SimpleNamespace | None = SimpleNamespace(script_requests=requests)
    monkeypatch.setattr(run_gate, "get_script_run_ctx", lambda **_: own)
    requests.request_rerun(typed("the cat"))  # as st.rerun and st.switch_page do
    assert text_of(requests.on_scriptrunner_yield()) == "the cat"
    own = None
    requests.request_rerun(typed("the dog"))
    assert requests.on_scriptrunner_yield() is None
    assert run_queue.queue == 0


def test_a_page_after_a_fragment_is_drawn_at_the_top(run_queue: RunQueue) -> None:
    requests = QueuedScriptRequests()
    requests.request_rerun(RerunData(fragment_id="slider"))
    requests.on_scriptrunner_ready()
    context_dg_stack.set((*get_default_dg_stack_value(), get_default_dg_stack_value()[0]))
    requests.request_rerun(typed("the cat"))
    requests.on_scriptrunner_ready()
    assert context_dg_stack.get() == get_default_dg_stack_value()
    assert run_queue.queue == 0


def test_every_session_of_the_process_comes_to_the_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit makes its requests by this name; with another, nobody would wait."""
    monkeypatch.setattr(script_runner, "ScriptRequests", QueuedScriptRequests.__base__)
    run_gate.apply()
    runner = script_runner.ScriptRunner.__init__.__globals__["ScriptRequests"]()
    assert isinstance(runner, QueuedScriptRequests)
