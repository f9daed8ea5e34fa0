"""Which stretch of a sentence is hidden, which words are read in pieces, which the FFN decides."""

import re

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as some

from ffnviz.analysis.journey import find_flips, hidden_words, words_of
from ffnviz.app.page_controls import read_examples
from ffnviz.models.encoder.model import TWINS, Model, load
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.external.tokenizer import ExternalTokenizer
from ffnviz.models.network import TokenizerLike
from ffnviz.parts.guess import read_in_bytes, split_words
from tests.models.awkward import AWKWARD
from tests.models.external.tokenizers import byte_level, word_piece


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


def test_a_text_cut_within_a_character_hides_that_character(tokenizer: Tokenizer) -> None:
    text = "a 😀😀😀"
    for most in range(1, 12):
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
    for text in AWKWARD.values():
        for found in words_of(text, tokenizer.encode(text).tokens):
            assert found is None or text[found.start : found.end] == found.text != ""


@given(
    some.lists(some.sampled_from(["a", "isn't", " ", "\t", "[MASK]", "é", "?", "🙂"])),
    some.integers(1),
)
def test_a_word_has_a_token_in_any_cut(tokenizer: Tokenizer, pieces: list[str], n: int) -> None:
    text = "".join(pieces)
    tokens = tokenizer.encode(text).tokens[:n]
    for found in words_of(text, tokens):
        if found:
            assert text[found.start : found.end] == found.text
            assert tokens[found.token].start <= found.start < tokens[found.token].end


TOKENIZERS: dict[str, TokenizerLike] = {
    "ours": load("relu").tokenizer,
    "byte level": ExternalTokenizer(byte_level(), 97),
    "WordPiece": ExternalTokenizer(word_piece(), 97),
}


def pieces(text: str, name: str = "ours") -> list[tuple[str, tuple[str, ...]]]:
    found = split_words(text, TOKENIZERS[name].encode(text).tokens)
    return [(split.word, split.pieces) for split in found]


def test_words_of_more_than_one_token() -> None:
    for text, split in (
        ("I don't know.", []),
        ("I don’t know “it” – no…", []),
        ("My laptop, a [MASK] laptop", [("laptop", ("la", "pt", "op"))]),
        ("1914 and 猫!", [("猫", ("猫", "", ""))]),
        ("Laptop's LAPTOP", [("Laptop", ("La", "pt", "op"))]),
        ("", []),
    ):
        assert pieces(text) == split
    # What the tokenizer puts around a text is no piece.
    assert pieces("the cat", "WordPiece") == []
    expected = [("the", ("t", "he")), ("cat", ("c", "a", "t"))]
    assert pieces("the cat", "byte level") == expected
    ours = TOKENIZERS["ours"]
    assert read_in_bytes(ours.encode("שלום, she said").tokens) == ["ש", "ל", "ו", "ם"]
    assert read_in_bytes(ours.encode("She opened the [MASK] and looked out.").tokens) == []


@pytest.mark.parametrize("name", TOKENIZERS)
@given(text=some.text("abcé猫 '’-1.[]M\ud83d", max_size=30))
def test_pieces_make_up_their_word_and_others_are_one_token(name: str, text: str) -> None:
    found = pieces(text, name)
    for word, parts in found:
        assert "".join(parts) == word
        assert len(parts) > 1
        assert parts[0]
    split = {word.lower() for word, _ in found}
    tokens = TOKENIZERS[name].encode(text).tokens
    for run in re.finditer(r"[^\W\d_]+", text):
        if run[0].lower() not in split:
            inside = [t for t in tokens if t.start < run.end() and t.end > run.start()]
            assert len(inside) <= 1  # none, if the vocabulary has not even its bytes


@given(some.text(some.characters(categories=["L", "N", "P", "S"]), max_size=12))
def test_characters_read_in_bytes_are_those_whose_bytes_have_no_token_together(text: str) -> None:
    tokens = TOKENIZERS["ours"].encode(text).tokens
    found = read_in_bytes(tokens)
    assert set(found) <= set(text)
    assert len(found) == len(set(found))
    assert not [sign for sign in found if sign.isascii()], "one byte is one token"
    # A character of n bytes has at most n tokens: those without text are its further ones.
    further = sum(not token.text for token in tokens[1:])
    assert bool(found) == bool(further)


LEAST = 0.05


def test_what_is_found_flips_in_both_twins_and_what_is_not_found_does_not() -> None:
    assert list(hidden_words("It's 2 dogs.")) == [
        ("[MASK]'s 2 dogs.", "it"), ("It'[MASK] 2 dogs.", "s"), ("It's 2 [MASK].", "dogs")
    ]  # fmt: skip
    twins = [load(name) for name in TWINS]
    examples = [each for each in read_examples() if each.says][:2]
    known = {each.sentence: each.says for each in examples}
    sentences = [masked.replace("[MASK]", word) for masked, word in known.items()]
    sentences.append("The cat sat on the mat.")
    found = {flip.sentence: flip for flip in find_flips(twins, sentences, LEAST)}
    assert set(known) <= set(found)
    for sentence in sentences:
        for masked, word in hidden_words(sentence):
            assert (masked in found) == all(decided(twin, masked, word) for twin in twins)
    values = [flip.least for flip in found.values()]
    assert values == sorted(values, reverse=True)


def decided(twin: Model, masked: str, word: str) -> bool:
    """By hand: the last stream with and without what the last FFN wrote, through the word head."""
    trace = twin.trace(masked)
    at = [token.id for token in trace.tokens].index(twin.tokenizer.mask_id)
    with torch.inference_mode():
        block = trace.blocks[-1]
        told = twin.encoder.unembed(twin.encoder.final_norm(block.middle + block.ffn.output))[at]
        untold = twin.encoder.unembed(twin.encoder.final_norm(block.middle))[at]
    best = int(told.argmax())
    sure = float(told.softmax(-1)[best]) >= LEAST
    return twin.tokenizer.label(best) == word and sure and int(untold.argmax()) != best
