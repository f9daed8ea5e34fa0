"""Tokens of two tokenizers, matched by the characters they stand for."""

from ffnviz.models.encoder.tokenizer import Token
from ffnviz.state.run import aligned_tokens


def tokens(*texts: str, special: tuple[int, ...] = ()) -> list[Token]:
    made, at = [], 0
    for place, text in enumerate(texts):
        own = "" if place in special else text
        made.append(Token(place, own, at, at + len(own), text if place in special else ""))
        at += len(own)
    return made


def test_a_token_finds_the_one_that_reads_its_last_character() -> None:
    ours = tokens("the", " cats", " sat")
    theirs = tokens("[CLS]", "the", " cat", "s", " s", "at", "[SEP]", special=(0, 6))
    assert aligned_tokens(ours, theirs) == [1, 3, 5]
    assert aligned_tokens(theirs, ours) == [0, 0, 1, 1, 2, 2, 2]


def test_the_same_tokens_match_themselves() -> None:
    ours = tokens("[CLS]", "a", " b", "[SEP]", special=(0, 3))
    assert aligned_tokens(ours, ours) == [0, 1, 2, 3]


def test_a_shorter_reading_takes_its_last() -> None:
    assert aligned_tokens(tokens("a", "b", "c"), tokens("a", "b")) == [0, 1, 1]
    assert aligned_tokens(tokens("é", ""), tokens("é")) == [0, 0]
