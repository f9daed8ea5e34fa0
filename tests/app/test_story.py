"""Where a lecture is begun again."""

from typing import Any

import pytest
import streamlit

from ffnviz.app.lecture import story
from ffnviz.app.visit import VISIT, Visit
from ffnviz.state.state import ViewOptions
from tests.lecture.lecture_runs import lecture


class Visitor:
    """What of a session a lecture is begun with."""

    state: Any = None
    catalog: Any = None


def test_whoever_left_one_lecture_does_not_begin_another_in_its_middle(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    visitor: Any = Visitor()
    visit = Visit(left_scene=ViewOptions(scene=5, lecture="course"))
    monkeypatch.setattr(streamlit, "session_state", {VISIT: visit})
    monkeypatch.setattr(story, "lecture_of", lambda _, name, own: own or lecture(name or "ffn"))
    monkeypatch.setattr(story, "go", lambda *_: None)
    story.start(visitor, short=False)
    assert visit.view_options.scene == 0
    story.start(visitor, short=False, lecture="course")
    assert visit.view_options.scene == 5
