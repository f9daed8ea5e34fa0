"""Streamlit's requests at our gate: the newest is what runs, and what runs is finished."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from streamlit.delta_generator_singletons import context_dg_stack, get_default_dg_stack_value
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.runtime.scriptrunner import script_runner
from streamlit.runtime.scriptrunner_utils.script_requests import (
    RerunData,
    ScriptRequest,
    ScriptRequestType,
)

from ffnviz.jobs.run_queue import RunQueue
from ffnviz.server.streamlit_patches.run_gate import QueuedScriptRequests, apply

PATIENCE_S = 60


@pytest.fixture
def run_queue(monkeypatch: pytest.MonkeyPatch) -> RunQueue:
    made = RunQueue(slice_s=3_600.0)
    monkeypatch.setattr(QueuedScriptRequests, "run_queue", made)
    return made


@pytest.fixture
def thread() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as pool:
        yield pool


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
    run_queue: RunQueue, thread: ThreadPoolExecutor
) -> None:
    another = run_queue.wait()
    requests = QueuedScriptRequests()
    requests.request_rerun(typed("the"))
    ready = thread.submit(requests.on_scriptrunner_ready)
    while run_queue.queue == 0:
        assert not ready.done()
    requests.request_rerun(typed("the cat"))
    run_queue.end(another)
    assert text_of(ready.result(PATIENCE_S)) == "the cat"
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
    own = SimpleNamespace(script_requests=requests)
    monkeypatch.setattr(
        "ffnviz.server.streamlit_patches.run_gate.get_script_run_ctx", lambda **_: own
    )
    requests.request_rerun(typed("the cat"))  # as st.rerun and st.switch_page do
    assert text_of(requests.on_scriptrunner_yield()) == "the cat"
    monkeypatch.setattr(
        "ffnviz.server.streamlit_patches.run_gate.get_script_run_ctx", lambda **_: None
    )
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
    apply()
    runner = script_runner.ScriptRunner.__init__.__globals__["ScriptRequests"]()
    assert isinstance(runner, QueuedScriptRequests)
