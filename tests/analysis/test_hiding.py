"""Which stretch of a sentence is hidden when a token is."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from ffnviz.analysis.journey import words_of
from ffnviz.models.encoder.tokenizer import Tokenizer
from tests.models.awkward import AWKWARD


@pytest.mark.parametrize(
    ("sentence", "at", "word"),
    [
        ("The cat sat.", 4, "cat"),
        ("The cat sat.", 11, "."),
        ("She isn't here", 5, "isn't"),
        ("She isn’t here", 8, "isn’t"),
        ("She isn´t here", 8, "isn´t"),
        ("This sea\u00adson", 6, "sea\u00adson"),
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
    found = words_of(sentence, tokens)[place]
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
    found = words_of(text, tokens)[place]
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
        found = words_of(text, tokens)[place]
        assert found is None or text[found.start : found.end] == found.text != ""


@given(
    some.lists(some.sampled_from(["a", "isn't", " ", "\t", "[MASK]", "é", "?", "🙂"])),
    some.integers(1),
)
def test_a_word_has_a_token_wherever_the_sentence_is_cut(
    tokenizer: Tokenizer, pieces: list[str], n: int
) -> None:
    text = "".join(pieces)
    tokens = tokenizer.encode(text).tokens[:n]
    for found in words_of(text, tokens):
        if found:
            assert text[found.start : found.end] == found.text
            assert tokens[found.token].start <= found.start < tokens[found.token].end
