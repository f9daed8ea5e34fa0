"""What a person has hidden comes back as it was, and pasted blanks are read as one."""

from hypothesis import given
from hypothesis import strategies as st

from ffnviz.models.encoder.tokenizer import MASK
from ffnviz.state.state import MOST, Hidden, readable, remembered, tidied, word_behind

words = st.text("abcאבד1é-", min_size=1, max_size=6).filter(
    lambda word: any(map(str.isalnum, word))
)


@given(st.lists(words, min_size=2, max_size=8), st.data())
def test_words_hidden_in_any_order_come_back_in_any_order(
    typed: list[str], data: st.DataObject
) -> None:
    hidden: Hidden = {}
    now = list(typed)
    places = data.draw(st.lists(st.integers(0, len(typed) - 1), unique=True, min_size=1))
    for place in places:
        start = len(" ".join([*now[:place], ""]))
        hidden = remembered(hidden, " ".join(now), start, start + len(now[place]), MASK)
        now[place] = MASK
    for place in data.draw(st.permutations(places)):
        end = len(" ".join(now[: place + 1]))
        word = word_behind(hidden, " ".join(now), end)
        assert word == typed[place]
        hidden = remembered(hidden, " ".join(now), end - len(MASK), end, word)
        now[place] = word


def test_of_a_mask_that_was_typed_nobody_knows_a_word() -> None:
    hidden = remembered({}, "The cat sat.", 4, 7, MASK)
    assert word_behind(hidden, "A dog [MASK] here", 12) == ""
    assert word_behind(hidden, "The cat sat.", 7) == ""
    for number in range(200):
        hidden = remembered(hidden, f"{number} cats {number}", len(str(number)) + 1, 8, MASK)
    assert len(hidden) <= MOST


@given(st.text(st.sampled_from("ab \t\n\r\f\v\u00a0_[MASK]ש")))
def test_blanks_of_any_kind_are_one_and_nothing_else_is_lost(text: str) -> None:
    read = tidied(text)
    assert not any(blanks in read for blanks in ("  ", "\t", "\n", "\r", "\f", "\v"))
    if "___" not in text:
        assert read.split() == text.split()
    assert tidied(read) == read
    assert readable(readable(text)) == readable(text)
