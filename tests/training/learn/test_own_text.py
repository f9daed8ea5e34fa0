"""A text of one's own: cut into sentences, refused in words, and learned."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ffnviz.training.learn.learner import Learner, Plan, guessing_by_frequency
from ffnviz.training.learn.text import LONGEST, MOST_WORDS, OwnTextError, sentences_in, text_read

ENDINGS = ("ell", "ina", "oro", "uth", "ami")
NAMES = [first + last for first in "BDFGKLMNPRST" for last in ENDINGS]
TEXT = " ".join(
    f"{name} and {other} went home. “Where is {other}?” asked {name}. {name} saw {other}."
    for name, other in zip(NAMES * 5, NAMES[7:] + NAMES * 5, strict=False)
)


def test_sentences_end_at_full_stops_lines_and_after_so_many_words() -> None:
    found = sentences_in(TEXT + "\nwithout a stop\n" + "word " * 40)
    assert "Bell and Doro went home." in found
    assert any("Where is" in each for each in found)
    assert "without a stop" in found
    assert len(set(found)) == len(found)
    assert max(len(each.split()) for each in found) == MOST_WORDS


@pytest.mark.parametrize(
    ("text", "says"),
    [("", "has 0 different"), ("One. Two.", "has 2 different"),
     ("A line. " * 500, "has 1 different"),
     ("a" * (LONGEST + 1), "more than 500,000"), ("PK\0\3" * 9, "not UTF-8 text"),
     ("\ufffd" * 90, "not UTF-8 text")],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_in_a_sentence(text: str, says: str) -> None:
    with pytest.raises(OwnTextError, match=says):
        sentences_in(text)


@given(st.text(max_size=400))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(OwnTextError):
        assert all(each.strip() for each in sentences_in(text * 9))


def test_its_words_are_learned() -> None:
    tokenizer, sentences = text_read(TEXT)
    assert tokenizer.vocab_size <= 2_000
    assert sentences.held_out
    records = list(Learner(Plan("relu", "Bell and [MASK] went home.", 150, own=TEXT)).learn())
    assert records[-1].held_out.loss < guessing_by_frequency(TEXT).loss
    assert guessing_by_frequency(TEXT) != guessing_by_frequency()
