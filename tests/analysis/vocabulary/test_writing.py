"""Writing on: the same seed writes the same, and every step is the network's own."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ffnviz.analysis.writing import Generation, Strategy, begin, logits_before, no_text, write_word
from ffnviz.models.encoder.model import Model, load
from ffnviz.models.encoder.tokenizer import MASK, Tokenizer
from tests.analysis.networks import small_model

CHANCE = Strategy(sample=True, seed=5, top_k=50)


@pytest.fixture(scope="module")
def model() -> Model:
    return load("relu")


def written(model: Model, text: str, n: int, strategy: Strategy) -> Generation:
    writing = begin(model, text)
    for _ in range(n):
        writing = write_word(model, writing, strategy)
    return writing


def test_the_same_seed_writes_the_same_text(model: Model) -> None:
    one, two = (written(model, "Once upon a time", 8, CHANCE) for _ in range(2))
    assert one.text == two.text
    other = written(model, "Once upon a time", 8, Strategy(sample=True, seed=6, top_k=50))
    assert other.text != one.text


@pytest.mark.parametrize("text", ["Once upon a [MASK]", "Once upon a", "Once upon a  [mask] "])
def test_the_first_word_is_what_the_page_says_at_a_mask_at_the_end(model: Model, text: str) -> None:
    trace = model.trace("Once upon a [MASK]")
    one_word = written(model, text, 1, Strategy())
    step = one_word.steps[0]
    allowed = np.where(no_text(model), -np.inf, trace.logits[-1].numpy())
    assert step.id == int(allowed.argmax())
    np.testing.assert_allclose(
        logits_before(model, one_word, 0), trace.logits[-1].numpy(), atol=1e-4
    )
    expected = torch.tensor(allowed).double().softmax(dim=0)[step.id]
    assert step.probability == pytest.approx(float(expected), rel=1e-4)


def test_each_word_is_read_before_the_next_is_written(model: Model) -> None:
    writing = written(model, "The old", 5, CHANCE)
    for n in range(1, 5):
        ids = [*model.tokenizer.encode("The old").ids, *(s.id for s in writing.steps[:n])]
        with torch.inference_mode():
            logits = model.encoder(torch.tensor([*ids, model.tokenizer.mask_id])).logits[-1]
        np.testing.assert_allclose(logits_before(model, writing, n), logits.numpy(), atol=1e-4)


def test_a_mask_inside_the_sentence_stays(model: Model) -> None:
    writing = written(model, "The [MASK] sat on the", 1, Strategy())
    assert writing.text.startswith("The [MASK] sat on the ")


def test_writing_stops_where_the_network_can_read_no_more(tokenizer: Tokenizer) -> None:
    model = small_model(tokenizer, "pre")
    writing = written(model, "a " * 60, 200, CHANCE)
    assert writing.full
    assert len(writing.ids) == model.encoder.config.max_tokens
    assert write_word(model, writing, CHANCE) is writing
    assert begin(model, "a " * 500).full


def test_neither_masks_nor_broken_characters_are_written(tokenizer: Tokenizer) -> None:
    model = small_model(tokenizer, "pre")
    never = no_text(model)
    assert never[tokenizer.mask_id]
    text = written(model, "the", 60, Strategy(sample=True, temperature=100)).written
    assert MASK not in text
    assert "\ufffd" not in text


@settings(max_examples=25)
@given(text=st.text(max_size=30))
def test_any_text_can_be_written_on(model: Model, text: str) -> None:
    writing = written(model, text, 2, CHANCE)
    assert len(writing.steps) == 2
    assert writing.text.endswith(writing.steps[-1].word)
