"""Which token drives the page, and how tokens are labelled."""

import unicodedata

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ffnviz.models.encoder.model import Model, load
from ffnviz.state.run import TraceTiming
from tests.run_factory import run_of


@pytest.fixture(scope="module")
def model(model_folder: str) -> Model:
    return load(model_folder)


def test_the_chosen_token_else_the_first_mask_the_last_word_or_the_last_token_drives_the_page(
    model: Model,
) -> None:
    run = run_of(model, "the [MASK] and the [MASK].")
    assert run.labels[run.token] == "[MASK]"
    assert run.labels.index("[MASK]") == run.token
    run = run_of(model, "the cat sat .?!")
    assert run.token == max(i for i, label in enumerate(run.labels) if label.isalnum())
    run = run_of(model, "?!.")
    assert run.token == len(run.trace.tokens) - 1
    run = run_of(model, "the cat", token=99)
    assert run.token == len(run.trace.tokens) - 1


JOINER, SELECTOR = "\u200d", "\ufe0f"


def test_what_cannot_be_seen_has_a_sign_and_what_is_not_read_none(model: Model) -> None:
    emoji = labels(model, "a 🙂\n")
    assert emoji.count("🙂") == 1
    assert emoji[emoji.index("🙂") + 1] == "…"
    assert emoji[-1] == "↵"
    for text, sign in (("a\tb", "⇥"), ("a\nb", "↵"), ("a\x00b", "U+0000")):
        # Without the first: that may be the space put before the text.
        assert labels(model, text)[1:].count(sign) == 1
    for text in ["a\u200bbc", "\u202eabc", "ab\u00adc"]:
        assert labels(model, text) == labels(model, "abc")
    for text in [f"👩{JOINER}👧", f"❤{SELECTOR}"]:
        # The first is the blank before it.
        assert "".join(labels(model, text)[1:]).replace("…", "") == text
    trace = model.trace("🙂")
    assert trace.tokens[0].text == "", "or this test could not fail"
    assert labels(model, "🙂")[0] == "␣"
    assert labels(model, "The CAT")[0] == "The"
    assert "".join(labels(model, "The CAT")) == "TheCAT"


def test_the_share_of_the_ffns_never_exceeds_the_whole() -> None:
    assert TraceTiming(2.0, 0.5).ffn_share == 0.25
    assert TraceTiming(2.0, 3.0).ffn_share == 1.0


SEEN = st.text(min_size=1, max_size=40)
UNSEEN = st.text(st.characters(categories=("Cc", "Cf", "Zs", "Zl", "Zp")), min_size=1, max_size=9)


def labels(model: Model, text: str) -> list[str]:
    return run_of(model, text).labels


@settings(max_examples=80)
@given(text=SEEN | UNSEEN)
def test_every_token_of_any_text_has_something_to_see(model: Model, text: str) -> None:
    assume(model.tokenizer.encode(text).tokens)
    for label in labels(model, text):
        assert label.strip()
        assert not any(unicodedata.category(sign) in ("Cc", "Cf") for sign in label)
