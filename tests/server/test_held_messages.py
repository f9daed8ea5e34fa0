"""What a run sends goes to the browser when the run has ended, or after a while."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.app_session import AppSessionState
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

from ffnviz.server.streamlit_patches import held_messages


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


@pytest.fixture
def session() -> Any:
    return Session()


def test_a_short_run_is_told_of_at_its_end(session: Session) -> None:
    session.sends(3)
    assert session.told == []
    session._state = AppSessionState.APP_NOT_RUNNING
    session.sends(1)
    assert session.told == [4]


def test_a_long_run_is_told_of_while_it_goes_on(session: Session) -> None:
    for n in (2, 3):
        session.sends(n)
        session.a_while_later()
    assert session.told == [2, 3]


def test_a_message_without_a_run_is_not_held(session: Session) -> None:
    session._state = AppSessionState.APP_NOT_RUNNING
    session.sends(1)
    assert session.told == [1]
