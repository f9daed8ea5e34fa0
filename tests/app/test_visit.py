"""What is kept of a visit: asking for it is where Streamlit ends a run that was replaced."""

from typing import Any

import pytest
import streamlit

from ffnviz.app.visit import VISIT, Visit, visit


class StoppedError(Exception):
    """In place of what Streamlit raises."""


class Replaced(dict[str, Any]):
    """The session as a run sees it that a newer one has taken the place of."""

    def get(self, *_: Any) -> Any:
        raise StoppedError


def test_a_run_that_was_replaced_changes_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Visit()
    monkeypatch.setattr(streamlit, "session_state", Replaced({VISIT: kept}))
    with pytest.raises(StoppedError):
        visit().outcome = "said too late"
    assert kept == Visit(
        class_id=kept.class_id, requests=kept.requests, tab_is_open=kept.tab_is_open
    )


def test_two_visits_share_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streamlit, "session_state", {})
    first = visit()
    assert visit() is first
    monkeypatch.setattr(streamlit, "session_state", {})
    for name, value in vars(first).items():
        if isinstance(value, dict | list):
            assert getattr(visit(), name) is not value
    assert visit().class_id != first.class_id
