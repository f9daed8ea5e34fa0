"""A value in the URL that cannot be shown takes its default, and the URL then says so."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from ffnviz.models.encoder.model import load
from tests.sent_cells import said

APP = Path(__file__).parents[2] / "app.py"
# Its last word, the default token, is neither the third token nor the last.
TEXT = "The old man sat by the river and slept."


def shown(**query: str) -> tuple[AppTest, dict[str, str]]:
    """The page opened by a link, and the URL it then has; AppTest gives each value as a list."""
    app = AppTest.from_file(str(APP), default_timeout=120)
    for name, value in {"text": TEXT, **query}.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    assert not app.error
    return app, {k: v[-1] if isinstance(v, list) else v for k, v in app.query_params.items()}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("token", "3rd"),
        ("token", "-3"),
        ("token", "٣"),  # int() would read it as 3
        ("token", "³"),
        ("token", "9" * 5_000),  # more digits than int() reads
        ("block", "-1"),
        ("block", "١"),
        ("block", "99"),
        ("block", "9" * 5_000),
        ("twin", "RELU"),
        ("order", "Index"),
        ("neuron", "7"),
        ("neuron", "relu"),
        ("neuron", "relu-"),
        ("neuron", "relu--1"),
        ("neuron", "relu-٣"),
        ("neuron", "relu-1-2"),
        ("neuron", "swish-7"),
        ("neuron", "relu-999999"),  # beyond the last neuron
        ("neuron", "relu-" + "9" * 5_000),
        ("colour", "red"),
    ],
)
def test_a_value_that_cannot_be_shown_takes_its_default(name: str, value: str) -> None:
    assert shown(**{name: value})[1] == shown()[1]


def test_a_token_beyond_the_sentence_is_its_last() -> None:
    n_tokens = len(load("relu").trace(TEXT).tokens)
    assert shown(token="999999")[1]["token"] == str(n_tokens)


def test_a_text_of_blanks_is_read_as_an_empty_one() -> None:
    _, url = shown(text="   ")
    assert url["text"] == ""


def test_of_a_long_text_the_url_holds_what_was_read_and_the_box_everything() -> None:
    text = "word " * 5_000
    read = load("relu").trace(text)
    app, url = shown(text=text)
    assert url["text"] == text.removesuffix(read.left_out)
    assert app.session_state["text"] == text
    assert f"at most {len(read.tokens)} tokens" in said(app, "left-out")
