"""Where a lecture is begun again."""

from dataclasses import replace
from typing import Any

import pytest
import streamlit

from ffnviz.app.lecture import story
from ffnviz.state.state import ViewOptions
from tests.lecture.lecture_runs import lecture


class Visitor:
    """What of a session a lecture is begun with."""

    state: Any = None
    catalog: Any = None

    def __init__(self) -> None:
        self.view_options = ViewOptions()

    def set_view_options(self, options: ViewOptions) -> None:
        self.view_options = options


def test_whoever_left_one_lecture_does_not_begin_another_in_its_middle(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    visitor: Any = Visitor()
    left = replace(visitor.view_options, scene=5, lecture="course")
    monkeypatch.setattr(streamlit, "session_state", {story.LEFT: left})
    monkeypatch.setattr(story, "lecture_of", lambda _, name: lecture(name or "ffn"))
    monkeypatch.setattr(story, "go", lambda *_: None)
    story.start(visitor, short=False)
    assert visitor.view_options.scene == 0
    story.start(visitor, short=False, lecture="course")
    assert visitor.view_options.scene == 5
