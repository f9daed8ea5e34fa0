"""What holds for any text a person can type, tried on any text Hypothesis can think of."""

import re

from hypothesis import assume, example, given
from hypothesis import strategies as st

from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.spelling import as_read

# Pieces that a random choice of characters would hardly ever put together.
PIECES = [
    "[MASK]",
    "[mask]",
    "[MASK",
    " ",
    "  ",
    "\n",
    "the cat",
    "can't",
    "İ",
    "Σ",
    "e\u0301",
    "\ufffd",
]
FAMILY = "\N{WOMAN}\N{ZERO WIDTH JOINER}\N{WOMAN}\N{ZERO WIDTH JOINER}\N{GIRL}"
CHARACTERS = st.one_of(st.characters(), st.characters(codec="ascii"))


def texts(characters: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(characters | st.sampled_from([*PIECES, FAMILY]), max_size=30).map("".join)


# With lone surrogates, NUL, unassigned characters and everything else.
ANY_TEXT = texts(CHARACTERS)
# What has a lower case changes from one Unicode version to the next, Python's and the library's,
# but only where a character was not assigned before; lone surrogates have a test of their own.
ASSIGNED_TEXT = texts(st.characters(exclude_categories=["Cn", "Cs"]))


def lower(text: str) -> str:
    """As read, lower-cased one character at a time: Python alone makes a final Σ an ς."""
    return "".join(character.lower() for character in as_read(text))


@given(ANY_TEXT)
@example("\ud800")
@example("\x00")
@example(FAMILY)
def test_the_tokens_cut_the_typed_text_into_pieces_without_gap_or_overlap(
    tokenizer: Tokenizer, text: str
) -> None:
    encoding = tokenizer.encode(text)
    position = 0
    for token in encoding.tokens:
        assert token.start == position
        assert token.end >= token.start
        assert token.text == text[token.start : token.end]
        position = token.end
    assert position == len(text)
    assert "".join(token.text for token in encoding.tokens) == text
    assert encoding.spans == [(token.start, token.end) for token in encoding.tokens]


@given(ANY_TEXT)
def test_every_id_is_in_the_vocabulary_and_no_text_but_the_empty_one_has_none(
    tokenizer: Tokenizer, text: str
) -> None:
    encoding = tokenizer.encode(text)
    assert encoding.text == text
    assert bool(encoding.ids) == bool(text)
    assert all(0 <= id_ < tokenizer.vocab_size for id_ in encoding.ids)


@given(ASSIGNED_TEXT)
@example("ΟΔΥΣΣΕΥΣ")
@example("İstanbul")
def test_decoding_gives_back_the_lower_cased_text(tokenizer: Tokenizer, text: str) -> None:
    assume("[mask]" not in lower(text))
    assert tokenizer.decode(tokenizer.encode(text).ids) == lower(text)


@given(st.lists(st.sampled_from(["[MASK]", "[Mask]", " ", "\n", "\u3000", "the", "É", "."])))
def test_decoding_gives_back_every_mask_without_the_space_before_it(
    tokenizer: Tokenizer, pieces: list[str]
) -> None:
    text = "".join(pieces)
    expected = re.sub(r"\s*\[mask\]", "[mask]", lower(text))
    ids = tokenizer.encode(text).ids
    assert tokenizer.decode(ids) == expected
    assert ids.count(tokenizer.mask_id) == expected.count("[mask]")


@given(ANY_TEXT, st.integers(1, 40))
def test_a_limit_keeps_the_first_tokens_and_tells_what_it_left_out(
    tokenizer: Tokenizer, text: str, max_tokens: int
) -> None:
    whole, cut = tokenizer.encode(text), tokenizer.encode(text, max_tokens)
    assert cut.tokens == whole.tokens[:max_tokens]
    assert len(cut.tokens) + cut.n_left_out == len(whole.tokens)
    if cut.n_left_out:
        assert "".join(token.text for token in cut.tokens) + cut.left_out == text
    else:
        assert cut.left_out == ""


def test_a_limit_of_none_at_all_leaves_everything_out(tokenizer: Tokenizer) -> None:
    assert tokenizer.encode("the cat", 0).left_out == "the cat"


@given(ANY_TEXT)
@example("\ud83d\ude00")  # the two halves of an emoji, as JavaScript would send them
def test_a_lone_surrogate_is_read_as_the_replacement_character(
    tokenizer: Tokenizer, text: str
) -> None:
    replaced = re.sub("[\ud800-\udfff]", "\ufffd", text)
    assert tokenizer.encode(text).ids == tokenizer.encode(replaced).ids
    assert tokenizer.encode(text).spans == tokenizer.encode(replaced).spans


@given(st.lists(ANY_TEXT.filter(bool), max_size=5))
@example(["\ud83d", "the cat"])
def test_many_texts_at_once_have_the_ids_each_has_alone(
    tokenizer: Tokenizer, lines: list[str]
) -> None:
    assert tokenizer.encode_many(lines) == [tokenizer.encode(line).ids for line in lines]


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz ,.'!?", min_size=1))
def test_case_makes_no_difference_to_the_ids(tokenizer: Tokenizer, text: str) -> None:
    assert tokenizer.encode(text.upper()).ids == tokenizer.encode(text).ids


def test_a_saved_tokenizer_reads_every_text_as_before(tokenizer: Tokenizer) -> None:
    saved = Tokenizer.from_json(tokenizer.to_json())
    assert saved.vocab_size == tokenizer.vocab_size
    assert saved.mask_id == tokenizer.mask_id

    @given(ANY_TEXT)
    def reads_as_before(text: str) -> None:
        assert saved.encode(text) == tokenizer.encode(text)

    reads_as_before()
