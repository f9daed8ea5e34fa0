"""The tokenizer: any text is cut into tokens of its own characters, and [MASK] is one of them."""

import re
from collections.abc import Iterable

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.spelling import READ_AS, as_read
from tests.models.awkward import AWKWARD

FAMILY = "\N{WOMAN}\N{ZERO WIDTH JOINER}\N{WOMAN}\N{ZERO WIDTH JOINER}\N{GIRL}"
# What a random choice of characters would hardly ever put together.
MASKS = ["[MASK]", "[mask]", "[MASK"]
SPACES = [" ", "  ", "\n"]
PIECES = [*SPACES, "the", "the cat", "can't", "t.", "İ", "Σ", "e\u0301", "\ufffd", "–", FAMILY]


def texts(characters: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(characters | st.sampled_from(MASKS + PIECES), max_size=30).map("".join)


# With lone surrogates, NUL, unassigned characters and everything else.
ANY_TEXT = texts(st.characters() | st.characters(codec="ascii") | st.sampled_from([*READ_AS]))
# What has a lower case changes from one Unicode version to the next, Python's and the library's,
# but only where a character was not assigned before; lone surrogates are in the other texts.
ASSIGNED_TEXT = texts(st.characters(exclude_categories=["Cn", "Cs"]))


@pytest.fixture(scope="module")
def saved(tokenizer: Tokenizer) -> Tokenizer:
    """The same tokenizer, written and read again."""
    read = Tokenizer.from_json(tokenizer.to_json())
    assert (read.vocab_size, read.mask_id) == (tokenizer.vocab_size, tokenizer.mask_id)
    return read


def lower(text: str) -> str:
    """As read, lower-cased one character at a time: Python alone makes a final Σ an ς."""
    return "".join(character.lower() for character in as_read(text))


def check_tokens(tokenizer: Tokenizer, text: str, limits: Iterable[int]) -> None:
    """They cut the typed text without gap or overlap; a limit keeps the first of them."""
    encoding = tokenizer.encode(text)
    assert encoding.text == text
    assert encoding.n_left_out == 0
    assert bool(encoding.ids) == bool(text)
    position = 0
    for token in encoding.tokens:
        assert token.start == position <= token.end
        assert token.text == text[token.start : token.end]
        assert 0 <= token.id < tokenizer.vocab_size
        position = token.end
    assert position == len(text)
    assert encoding.spans == [(token.start, token.end) for token in encoding.tokens]
    for limit in limits:
        cut = tokenizer.encode(text, limit)
        assert cut.tokens == encoding.tokens[:limit]
        assert cut.n_left_out == len(encoding.tokens) - len(cut.tokens)
        assert "".join(token.text for token in cut.tokens) + cut.left_out == text


@given(ANY_TEXT, st.integers(0, 40))
@example("", 1)
@example("\ud800", 1)
@example("\ud83d\ude00", 1)  # the two halves of an emoji, as JavaScript would send them
@example("\x00", 1)
@example("\u200b", 1)
@example("wait…\u200b", 1)
@example(FAMILY, 3)
def test_any_text_is_cut_into_its_tokens(
    tokenizer: Tokenizer, saved: Tokenizer, text: str, limit: int
) -> None:
    check_tokens(tokenizer, text, [limit])
    encoding = tokenizer.encode(text)
    assert saved.encode(text) == encoding
    replaced = tokenizer.encode(re.sub("[\ud800-\udfff]", "\ufffd", text))
    assert (replaced.ids, replaced.spans) == (encoding.ids, encoding.spans)
    if text:
        several = tokenizer.encode_many([text, "the cat", text])
        assert several == [encoding.ids, tokenizer.encode("the cat").ids, encoding.ids]


@pytest.mark.parametrize("text", AWKWARD.values(), ids=AWKWARD.keys())
def test_so_is_a_text_that_has_broken_other_programs(tokenizer: Tokenizer, text: str) -> None:
    check_tokens(tokenizer, text, [1, 2, 5, 11])
    assert tokenizer.decode(tokenizer.encode(text).ids) == lower(text)


@given(ASSIGNED_TEXT)
@example("ΟΔΥΣΣΕΥΣ")
@example("İstanbul")
def test_decoding_gives_back_the_lower_cased_text(tokenizer: Tokenizer, text: str) -> None:
    assume("[mask]" not in lower(text))
    assert tokenizer.decode(tokenizer.encode(text).ids) == lower(text)


@given(st.lists(st.sampled_from(["[MASK]", "[Mask]", " ", "\n", "\u3000", "the", "É", "."])))
@example(["[MASK]"] * 200)
@example([" ", "[Mask]"] * 200)
def test_decoding_gives_back_every_mask(tokenizer: Tokenizer, pieces: list[str]) -> None:
    text = "".join(pieces)
    expected = re.sub(r"\s*\[mask\]", "[mask]", lower(text))
    ids = tokenizer.encode(text).ids
    assert tokenizer.decode(ids) == expected
    assert ids.count(tokenizer.mask_id) == expected.count("[mask]")


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz ,.'!?", min_size=1))
def test_case_makes_no_difference_to_the_ids(tokenizer: Tokenizer, text: str) -> None:
    assert tokenizer.encode(text.upper()).ids == tokenizer.encode(text).ids


@pytest.mark.parametrize(
    ("typed", "pieces"),
    [
        ("[MASK]", ["[MASK]"]),
        ("[mAsK]", ["[mAsK]"]),
        (" [MASK]", [" [MASK]"]),
        ("[MASK][MASK]", ["[MASK]", "[MASK]"]),
        ("[MASK] [mask]", ["[MASK]", " [mask]"]),
        ("the[MASK]", ["the", "[MASK]"]),
        ("the \n [Mask]", ["the", " \n [Mask]"]),
        ("the [MASK].", ["the", " [MASK]", "."]),
        ("İ[MASK]İ", ["İ", "", "", "[MASK]", "İ", "", ""]),  # İ is three bytes in lower case
        ("the the", ["the", " the"]),
        # The space put before the text has to be in some token.
        ("😀", ["", "😀", "", "", ""]),
    ],
)
def test_a_token_has_the_space_before_it_and_mask_in_any_case_is_one(
    tokenizer: Tokenizer, typed: str, pieces: list[str]
) -> None:
    tokens = tokenizer.encode(typed).tokens
    assert [token.text for token in tokens] == pieces
    for token in tokens:
        assert (token.id == tokenizer.mask_id) == ("mask" in token.text.lower())


def test_what_only_looks_like_mask_is_text(tokenizer: Tokenizer) -> None:
    for typed in ("[MASK", "MASK]", "MASK", "[ MASK ]", "[MA SK]", "(MASK)"):
        assert tokenizer.mask_id not in tokenizer.encode(typed).ids, typed
    within = tokenizer.encode("[[MASK]]").tokens
    assert [token.text for token in within if token.id == tokenizer.mask_id] == ["[MASK]"]


@pytest.mark.parametrize("character", ["😀", "é"])
def test_of_several_tokens_of_a_character_the_first_has_it(
    tokenizer: Tokenizer, character: str
) -> None:
    pieces = [token.text for token in tokenizer.encode(f"the{character} cat").tokens]
    others = [""] * (len(character.encode()) - 1)
    assert pieces[: 2 + len(others)] == ["the", character, *others]


def test_the_vocabulary_holds_mask_all_bytes_and_words(tokenizer: Tokenizer) -> None:
    assert (tokenizer.mask_id, tokenizer.vocab_size) == (0, 300)
    words = [tokenizer.word(i) for i in range(300)]
    assert words[tokenizer.mask_id] == "[MASK]"
    assert {*words} >= {chr(i) for i in range(128)}
    (the,) = tokenizer.encode("the").ids
    assert words[the] == " the"
    assert tokenizer.encode("the the").ids == [the, the]
    assert (tokenizer.decode([the]), tokenizer.decode([the, the])) == ("the", "the the")
    labels = [tokenizer.label(i) for i in range(300)]
    assert all(label and label.isprintable() and label == label.strip() for label in labels)
    assert (labels[the], labels[tokenizer.mask_id]) == ("the", "[MASK]")
