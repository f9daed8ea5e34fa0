"""The page's logic without a browser: any text and any URL, and what a damaged model says."""

import re
import shutil
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from ffnviz.app import rail, session
from ffnviz.app.visit import VISIT
from ffnviz.models.encoder import model
from ffnviz.models.encoder.model import load
from ffnviz.server.idle_collection import IdleCollector
from ffnviz.state import run_factory
from ffnviz.state.run_factory import Gpu
from tests.models.awkward import AWKWARD
from tests.parts.visits import APP, query, unbroken
from tests.sent_cells import said, sent_cells

# Its last word, the default token, is neither the third token nor the last.
TEXT = "The old man sat by the river and slept."


def opened(**link: str) -> AppTest:
    """The first page, by a link or without one."""
    app = AppTest.from_file(str(APP), default_timeout=120)
    for name, value in link.items():
        app.query_params[name] = value
    return app.run()


def url_of(**link: str) -> dict[str, str]:
    """What the URL of the first page says once a link has opened it."""
    app = unbroken(opened(**{"text": TEXT, **link}))
    assert not app.error
    return query(app)


def test_the_url_says_what_is_shown_and_keeps_a_choice() -> None:
    app = opened()
    assert not app.exception
    text = "A fly has [MASK] legs, not four."
    assert query(app) == {"text": text, "twin": "relu", "block": "2", "token": "4"}
    chosen = {
        "text": "The dogs ran.",
        "twin": "gelu",
        "block": "1",
        "token": "2",
        "order": "index",
        "neuron": "relu-5",
    }
    assert query(opened(**chosen)) == chosen


@pytest.mark.parametrize("kind", sorted(AWKWARD.keys() - {"lone surrogates"}))  # no URL has these
def test_no_text_raises(kind: str) -> None:
    app, text = opened(text=AWKWARD[kind]), AWKWARD[kind]
    assert not app.exception
    assert not app.error
    assert app.session_state["text"] == text


def test_a_text_of_blanks_is_an_empty_one_and_a_token_beyond_the_end_is_the_last() -> None:
    app = opened(text="")
    assert not app.exception
    assert "Type a sentence" in said(app, "empty")
    assert url_of(text="   ")["text"] == ""
    n_tokens = len(load("relu").trace(TEXT).tokens)
    assert url_of(token="999999")["token"] == str(n_tokens)


def test_a_link_to_a_network_or_lecture_that_is_not_here_says_so() -> None:
    app = opened(text="The dogs ran.", twin="gpt2 <b>")
    assert "no network called gpt2 <b>, which the link asks for" in said(app, "not-here")
    assert query(app)["twin"] == "relu"
    app.text_input(key="text").set_value("The dogs ran home.").run()
    assert app.session_state[VISIT].not_here == []
    app = opened(scene="2", lecture="gone-<b>", present="1")
    assert "no lecture called gone-<b>, which the link asks for" in said(app, "no-lecture")
    assert not {"scene", "lecture", "present"} & query(app).keys()
    for lecture in ({}, {"lecture": "course"}):
        begun = opened(scene="2", **lecture)
        assert "no-lecture" not in sent_cells(begun)
        assert query(begun)["scene"] == "2"


def test_typing_on_keeps_the_token_and_an_unfilled_box_the_sentence() -> None:
    """WebKit's first message can come before the box has its text, which is not yet ""."""
    app = opened(text="The dogs ran home.", token="2")
    app.text_input(key="text").set_value("The dogs ran home. They slept.").run()
    assert query(app)["token"] == "2"
    app.text_input(key="text").set_value("A [MASK] slept.").run()
    assert query(app)["token"] == "2"  # the [MASK] this time
    app.text_input(key="text").set_value("It slept for a [MASK].").run()
    assert query(app)["token"] == "5"
    app = opened(text="The dogs ran home.")
    before = "The dogs ran home."
    app.text_input(key="text").set_value(None).run()
    assert app.session_state[VISIT].state.sentence == app.text_input(key="text").value == before
    app.text_input(key="text").set_value("").run()
    assert app.session_state[VISIT].state.sentence == ""


def test_a_damaged_twin_is_named_and_no_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "models"
    shutil.copytree(model.MODELS, copy)
    weights = copy / "gelu" / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:1_000])
    monkeypatch.setattr(model, "MODELS", copy)
    run_factory.forget_networks()
    try:
        app = opened()
    finally:
        run_factory.forget_networks()
    assert not app.exception
    assert "could not be loaded" in app.error[0].value
    assert "weights.safetensors" in app.text[0].value
    assert "Traceback" not in app.text[0].value


def test_of_a_long_text_the_url_holds_what_was_read_and_the_box_everything() -> None:
    text = "word " * 5_000
    read = load("relu").trace(text)
    app = unbroken(opened(text=text))
    assert query(app)["text"] == text.removesuffix(read.left_out)
    assert app.session_state["text"] == text
    assert f"at most {len(read.tokens)} tokens" in said(app, "left-out")


def test_a_page_without_a_gpu_says_so_how_long_it_took_and_tells_the_collector(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[str] = []
    monkeypatch.setattr(IdleCollector, "page_ran", lambda _: told.append("a page ran"))
    for module in (session, rail):
        monkeypatch.setattr(module, "find_gpu", lambda: Gpu(None, "there is none in this test"))
    app = unbroken(opened())
    *_, switch = sent_cells(app)["network"]["controls"]
    assert (switch["label"], switch["disabled"], switch["on"]) == ("GPU", True, False)
    assert switch["help"] == "there is none in this test"
    line = said(app, "timing-line")
    assert re.fullmatch(r"[\d.]+ ms on the CPU, \d+% of it in the FFNs", line)
    app.run()
    assert told == ["a page ran"] * 2
