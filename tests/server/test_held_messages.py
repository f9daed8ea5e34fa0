"""What a run sends goes to the browser when the run has ended, or after a while."""

import asyncio
from collections.abc import Coroutine
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.app_session import AppSessionState
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

from ffnviz.server.streamlit_patches import held_messages


def in_a_session(check: Any) -> None:
    """Run a check with a session under way and the list of what its server was told."""

    async def run() -> None:
        told: list[int] = []
        queue = ForwardMsgQueue()
        session = SimpleNamespace(
            _event_loop=asyncio.get_running_loop(),
            _browser_queue=queue,
            _state=AppSessionState.APP_IS_RUNNING,
            _message_enqueued_callback=lambda: told.append(len(queue.flush())),
        )
        checked: Coroutine[Any, Any, None] = check(session, told)
        await checked

    asyncio.run(run())


def test_a_short_run_is_told_of_at_its_end() -> None:
    async def check(session: Any, told: list[int]) -> None:
        for _ in range(3):
            held_messages._hold(session, ForwardMsg())
            await asyncio.sleep(0)
        assert told == []
        session._state = AppSessionState.APP_NOT_RUNNING
        held_messages._hold(session, ForwardMsg())
        assert told == [4]

    in_a_session(check)


def test_a_long_run_is_told_of_while_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_messages, "HOLD_S", 0)

    async def check(session: Any, told: list[int]) -> None:
        for n, in_all in ((2, 2), (3, 5)):
            for _ in range(n):
                held_messages._hold(session, ForwardMsg())
            while sum(told) < in_all:
                await asyncio.sleep(0)
        assert told == [2, 3]

    in_a_session(check)


def test_a_message_without_a_run_is_not_held() -> None:
    async def check(session: Any, told: list[int]) -> None:
        session._state = AppSessionState.APP_NOT_RUNNING
        held_messages._hold(session, ForwardMsg())
        assert told == [1]

    in_a_session(check)
