"""What a page shows while others compute something heavy."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from ffnviz.jobs.serial_queue import heavy

PATIENCE_S = 120


def page() -> None:
    import streamlit as st

    from ffnviz.parts.measurement import one_at_a_time

    with one_at_a_time():
        st.markdown("my turn")


@pytest.fixture
def bars(monkeypatch: pytest.MonkeyPatch) -> "Bars":
    """The progress bars that the page shows."""
    found = Bars()
    monkeypatch.setattr(st, "progress", found.progress)
    return found


class Bars:
    """What stands on them."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.shown = threading.Event()

    def progress(self, _: float, text: str) -> Any:
        self.said.append(text)
        self.shown.set()
        return st.empty()


def test_a_page_says_for_whom_it_waits_and_goes_on_when_they_are_done(bars: Bars) -> None:
    app = AppTest.from_function(page, default_timeout=PATIENCE_S)
    with ThreadPoolExecutor(1) as visitor:
        with heavy():
            ran = visitor.submit(app.run)
            assert bars.shown.wait(PATIENCE_S)
            assert not ran.done()
        ran.result(PATIENCE_S)
    assert bars.said == ["Waiting for 1 other …"]
    assert app.markdown[0].value == "my turn"


def test_nobody_is_told_to_wait_for_nobody(bars: Bars) -> None:
    app = AppTest.from_function(page, default_timeout=PATIENCE_S).run()
    assert app.markdown[0].value == "my turn"
    assert bars.said == []
