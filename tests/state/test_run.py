"""Which token drives the page, and how tokens are labelled."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ffnviz.models.encoder.model import Model, load
from ffnviz.state.run import TraceTiming
from tests.run_factory import run_of


@pytest.fixture(scope="module")
def model(model_folder: str) -> Model:
    return load(model_folder)


def test_the_first_mask_drives_the_page(model: Model) -> None:
    run = run_of(model, "the [MASK] and the [MASK].")
    assert run.labels[run.token] == "[MASK]"
    assert run.labels.index("[MASK]") == run.token


def test_without_a_mask_the_last_word_drives_it(model: Model) -> None:
    run = run_of(model, "the cat sat .?!")
    assert run.token == max(i for i, label in enumerate(run.labels) if label.isalnum())


def test_without_a_word_the_last_token_drives_it(model: Model) -> None:
    run = run_of(model, "?!.")
    assert run.token == len(run.trace.tokens) - 1


def test_a_chosen_token_beyond_the_sentence_is_its_last(model: Model) -> None:
    run = run_of(model, "the cat", token=99)
    assert run.token == len(run.trace.tokens) - 1


def test_a_split_character_is_labelled_once_and_blanks_have_signs(model: Model) -> None:
    labels = run_of(model, "a 🙂\n").labels
    assert labels.count("🙂") == 1
    assert labels[labels.index("🙂") + 1] == "…"
    assert labels[-1] == "↵"


@settings(max_examples=50)
@given(text=st.text(min_size=1, max_size=40))
def test_every_token_of_any_text_has_something_to_see(model: Model, text: str) -> None:
    assume(model.tokenizer.encode(text).tokens)
    labels = run_of(model, text).labels
    assert all(labels)


def test_the_share_of_the_ffns_never_exceeds_the_whole() -> None:
    assert TraceTiming(2.0, 0.5).ffn_share == 0.25
    assert TraceTiming(2.0, 3.0).ffn_share == 1.0
