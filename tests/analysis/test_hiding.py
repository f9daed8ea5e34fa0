"""Which stretch of a sentence is hidden when a token is."""

import pytest

from ffnviz.analysis.journey.hiding import word_at
from ffnviz.model.tokenizer import Tokenizer
from tests.model.awkward import AWKWARD


@pytest.mark.parametrize(
    ("sentence", "at", "word"),
    [
        ("The cat sat.", 4, "cat"),
        ("The cat sat.", 11, "."),
        ("She isn't here", 5, "isn't"),
        ("She isn’t here", 8, "isn’t"),
        ("A [MASK] b", 3, None),
        ("A [mask] b", 7, None),
        ("two words", 0, "two"),
        ("Größe 🙂", 2, "Größe"),
    ],
)
def test_the_whole_word_is_hidden_whatever_its_tokens(
    tokenizer: Tokenizer, sentence: str, at: int, word: str | None
) -> None:
    tokens = tokenizer.encode(sentence).tokens
    place = next(i for i, token in enumerate(tokens) if token.end > at)
    found = word_at(sentence, tokens, place)
    assert (found.text if found else None) == word
    if found:
        assert sentence[found.start : found.end] == found.text
        hidden = sentence[: found.start] + "[MASK]" + sentence[found.end :]
        after = tokenizer.encode(hidden).tokens
        assert after[found.token].id == tokenizer.mask_id, "the mask is where the word was"


@pytest.mark.parametrize("most", range(1, 12))
def test_a_text_cut_within_a_character_hides_that_character(
    tokenizer: Tokenizer, most: int
) -> None:
    text = "a 😀😀😀"
    tokens = tokenizer.encode(text, most).tokens
    place, last = len(tokens) - 1, tokens[-1]
    found = word_at(text, tokens, place)
    character = last.start - (last.start == last.end)
    if "😀" in text[character : last.end]:
        assert found is not None
        assert found.start <= character < found.end
        assert found.token <= place
        assert tokens[found.token].end > found.start
    else:
        assert found is None or found.text == "a"


@pytest.mark.parametrize("text", AWKWARD)
def test_no_text_is_too_awkward(tokenizer: Tokenizer, text: str) -> None:
    tokens = tokenizer.encode(text).tokens
    for place in range(len(tokens)):
        found = word_at(text, tokens, place)
        assert found is None or text[found.start : found.end] == found.text != ""
