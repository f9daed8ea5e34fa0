"""What a page run does besides showing: it wakes the idle collector, and looks for a GPU."""

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from ffnviz.app import rail, session
from ffnviz.server.idle_collection import IdleCollector
from ffnviz.state.run_factory import Gpu
from tests.sent_cells import said, sent_cells

APP = Path(__file__).parents[2] / "app.py"


def opened() -> AppTest:
    app = AppTest.from_file(str(APP), default_timeout=120).run()
    assert not app.exception
    return app


def test_each_run_tells_the_idle_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(IdleCollector, "page_ran", lambda _: told.append("a page ran"))
    app = opened()
    app.run()
    assert told == ["a page ran"] * 2


def test_without_a_gpu_the_switch_is_off_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (session, rail):
        monkeypatch.setattr(module, "find_gpu", lambda: Gpu(None, "there is none in this test"))
    *_, switch = sent_cells(opened())["network"]["controls"]
    assert switch["label"] == "GPU"
    assert switch["disabled"]
    assert switch["on"] is False
    assert switch["help"] == "there is none in this test"


def test_the_page_says_how_long_it_took_and_where(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (session, rail):
        monkeypatch.setattr(module, "find_gpu", lambda: Gpu(None, "there is none in this test"))
    app = opened()
    line = said(app, "timing-line")
    assert re.fullmatch(r"[\d.]+ ms on the CPU, \d+% of it in the FFNs", line)
