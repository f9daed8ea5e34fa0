"""A label is what a person typed, or a sign where that cannot be seen."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ffnviz.models.encoder.model import Model, load
from tests.run_factory import run_of

JOINER, SELECTOR = "\u200d", "\ufe0f"
UNSEEN = st.text(st.characters(categories=("Cc", "Cf", "Zs", "Zl", "Zp")), min_size=1, max_size=9)


@pytest.fixture(scope="module")
def model(model_folder: str) -> Model:
    return load(model_folder)


def labels(model: Model, text: str) -> list[str]:
    return run_of(model, text).labels


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("a\tb", "⇥"),
        ("a\nb", "↵"),
        ("a\x00b", "U+0000"),
    ],
)
def test_what_cannot_be_seen_has_a_sign(model: Model, text: str, sign: str) -> None:
    # Without the first: that may be the space put before the text.
    assert labels(model, text)[1:].count(sign) == 1


@pytest.mark.parametrize("text", ["a\u200bbc", "\u202eabc", "ab\u00adc"])
def test_what_is_not_read_is_not_in_a_label(model: Model, text: str) -> None:
    assert labels(model, text) == labels(model, "abc")


@pytest.mark.parametrize("text", [f"👩{JOINER}👧", f"❤{SELECTOR}"])
def test_an_emoji_keeps_what_holds_it_together(model: Model, text: str) -> None:
    assert "".join(labels(model, text)[1:]).replace("…", "") == text  # after the blank before it


def test_the_space_put_before_a_text_is_a_blank_where_it_is_a_token_of_its_own(
    model: Model,
) -> None:
    trace = model.trace("🙂")
    assert trace.tokens[0].text == "", "or this test could not fail"
    assert labels(model, "🙂")[0] == "␣"


def test_words_keep_their_capitals_and_lose_their_blanks(model: Model) -> None:
    assert labels(model, "The CAT")[0] == "The"
    assert "".join(labels(model, "The CAT")) == "TheCAT"


@settings(max_examples=50)
@given(text=UNSEEN)
def test_nothing_typed_is_invisible(model: Model, text: str) -> None:
    for label in labels(model, text):
        assert label
        assert not any(unicodedata.category(sign) in ("Cc", "Cf") for sign in label)
        assert not label.isspace()
