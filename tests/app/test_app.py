"""The page's logic without a browser: any text and any URL, and what a damaged model says."""

import shutil
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from ffnviz.app.visit import VISIT
from ffnviz.models.encoder import model
from ffnviz.state import run_factory
from tests.sent_cells import said, sent_cells

APP = Path(__file__).parents[2] / "app.py"
AWKWARD = {
    "spaces": "    ",
    "one character": "a",
    "5,000 words": "word " * 5_000,
    "emoji": "👩\u200d👩\u200d👧\u200d👦 🙂",
    "right to left": "مرحبا بالعالم",
    "CJK": "你好,世界",
    "combining marks": "Z\u0351\u036b\u0343a\u0300\u0301l",
    "control characters": "a\x00b\x01c\x7f\x1b[0m",
    "script": "<script>alert(1)</script>",
    "style": "<style>*{display:none}</style>",
    "image": "![a](https://example.org/x.png)",
    "LaTeX": r"$$\frac{1}{0}$$",
    "mask": "[MASK]",
    "masks": "[MASK] " * 200,
    "newlines": "a\nb\r\n\tc",
}


def opened(**query: str) -> AppTest:
    app = AppTest.from_file(str(APP), default_timeout=120)
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def query(app: AppTest) -> dict[str, str]:
    """The URL's parameters; AppTest gives each as a list."""
    return {k: v[-1] if isinstance(v, list) else v for k, v in app.query_params.items()}


def test_the_start_page_opens_and_the_url_says_what_it_shows() -> None:
    app = opened()
    assert not app.exception
    assert query(app) == {
        "text": "A fly has [MASK] legs, not four.",
        "twin": "relu",
        "block": "2",
        "token": "4",
    }


@pytest.mark.parametrize("text", AWKWARD.values(), ids=AWKWARD.keys())
def test_no_text_raises(text: str) -> None:
    app = opened(text=text)
    assert not app.exception
    assert not app.error
    assert app.session_state["text"] == text


def test_an_empty_text_is_answered_with_a_hint() -> None:
    app = opened(text="")
    assert not app.exception
    assert "Type a sentence" in said(app, "empty")


def test_a_long_text_is_answered_with_what_is_left_out() -> None:
    app = opened(text="word " * 200)
    assert f"The last {200 - 128} are" in said(app, "left-out")


@pytest.mark.parametrize("value", ["", "x", "0", "-1", "99999999999", "3.5", "٣", "1e3", "\x00"])
def test_a_garbled_url_never_raises(value: str) -> None:
    names = ("twin", "block", "token", "order", "neuron")  # one by one: tests/state/test_state.py
    app = opened(text="Hello there.", **dict.fromkeys(names, value))
    assert not app.exception
    shown = query(app)
    assert shown["twin"] == "relu"
    assert shown["block"] in ("1", "2")
    assert shown["token"] in ("1", "2", "3", "4")
    assert "order" not in shown
    assert "neuron" not in shown


def test_a_choice_in_the_url_is_kept() -> None:
    chosen = {
        "text": "The dogs ran.",
        "twin": "gelu",
        "block": "1",
        "token": "2",
        "order": "index",
        "neuron": "relu-5",
    }
    assert query(opened(**chosen)) == chosen


def test_a_link_to_a_network_that_the_server_has_not_says_so() -> None:
    app = opened(text="The dogs ran.", twin="gpt2 <b>")
    assert "no network called gpt2 <b>, which the link asks for" in said(app, "not-here")
    assert query(app)["twin"] == "relu"
    app.text_input(key="text").set_value("The dogs ran home.").run()
    assert app.session_state[VISIT].not_here == []


def test_a_link_to_a_lecture_that_nobody_has_says_so_and_begins_none() -> None:
    app = opened(scene="2", lecture="gone-<b>", present="1")
    assert "no lecture called gone-<b>, which the link asks for" in said(app, "no-lecture")
    assert not {"scene", "lecture", "present"} & query(app).keys()
    for lecture in ({}, {"lecture": "course"}):
        begun = opened(scene="2", **lecture)
        assert "no-lecture" not in sent_cells(begun)
        assert query(begun)["scene"] == "2"


def test_typing_on_keeps_the_chosen_token_and_another_sentence_does_not() -> None:
    app = opened(text="The dogs ran home.", token="2")
    app.text_input(key="text").set_value("The dogs ran home. They slept.").run()
    assert query(app)["token"] == "2"
    app.text_input(key="text").set_value("A [MASK] slept.").run()
    assert query(app)["token"] == "2"  # the [MASK] this time
    app.text_input(key="text").set_value("It slept for a [MASK].").run()
    assert query(app)["token"] == "5"


def test_a_box_that_is_not_filled_yet_does_not_empty_the_sentence() -> None:
    """WebKit's first message can come before the box has its text, which is not yet ""."""
    app = opened(text="The dogs ran home.")
    before = "The dogs ran home."
    app.text_input(key="text").set_value(None).run()
    assert app.session_state[VISIT].state.sentence == app.text_input(key="text").value == before
    app.text_input(key="text").set_value("").run()
    assert app.session_state[VISIT].state.sentence == ""


def test_a_damaged_twin_is_named_without_a_stack_trace(
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
