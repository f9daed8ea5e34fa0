"""Which words a network reads in pieces."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as some

from ffnviz.models.encoder.model import load
from ffnviz.models.external.tokenizer import ExternalTokenizer
from ffnviz.models.network import TokenizerLike
from ffnviz.parts.guess import read_in_bytes, split_words
from tests.models.external.tokenizers import byte_level, word_piece

TOKENIZERS: dict[str, TokenizerLike] = {
    "ours": load("relu").tokenizer,
    "byte level": ExternalTokenizer(byte_level(), 97),
    "WordPiece": ExternalTokenizer(word_piece(), 97),
}


def pieces(text: str, name: str = "ours") -> list[tuple[str, tuple[str, ...]]]:
    found = split_words(text, TOKENIZERS[name].encode(text).tokens)
    return [(split.word, split.pieces) for split in found]


@pytest.mark.parametrize(
    ("text", "split"),
    [
        ("I don't know.", []),
        ("I don’t know “it” – no…", []),
        ("My laptop, a [MASK] laptop", [("laptop", ("la", "pt", "op"))]),
        ("1914 and 猫!", [("猫", ("猫", "", ""))]),
        ("Laptop's LAPTOP", [("Laptop", ("La", "pt", "op"))]),
        ("", []),
    ],
)
def test_words_of_more_than_one_token(text: str, split: list[tuple[str, tuple[str, ...]]]) -> None:
    assert pieces(text) == split


def test_what_the_tokenizer_puts_around_a_text_is_no_piece() -> None:
    assert pieces("the cat", "WordPiece") == []
    assert pieces("the cat", "byte level") == [
        ("the", ("t", "he")),
        ("cat", ("c", "a", "t")),
    ]


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


def test_hebrew_is_read_in_bytes_and_english_is_not() -> None:
    tokenizer = TOKENIZERS["ours"]
    assert read_in_bytes(tokenizer.encode("שלום, she said").tokens) == ["ש", "ל", "ו", "ם"]
    assert read_in_bytes(tokenizer.encode("She opened the [MASK] and looked out.").tokens) == []
