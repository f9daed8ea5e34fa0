"""[MASK] in a typed text, and how words and pieces are told apart."""

import pytest

from ffnviz.models.encoder.tokenizer import Tokenizer


@pytest.mark.parametrize(
    ("typed", "pieces"),
    [
        ("[MASK]", ["[MASK]"]),
        ("[mask]", ["[mask]"]),
        ("[Mask]", ["[Mask]"]),
        ("[mAsK]", ["[mAsK]"]),
        (" [MASK]", [" [MASK]"]),
        ("[MASK][MASK]", ["[MASK]", "[MASK]"]),
        ("[MASK] [mask]", ["[MASK]", " [mask]"]),
        ("the [MASK]", ["the", " [MASK]"]),
        ("the[MASK]", ["the", "[MASK]"]),
        ("the \n [MASK]", ["the", " \n [MASK]"]),
        ("the [MASK].", ["the", " [MASK]", "."]),
        ("İ[MASK]İ", ["İ", "", "", "[MASK]", "İ", "", ""]),  # İ is three bytes in lower case
    ],
)
def test_mask_in_any_case_is_one_token_with_the_space_before_it(
    tokenizer: Tokenizer, typed: str, pieces: list[str]
) -> None:
    tokens = tokenizer.encode(typed).tokens
    assert [token.text for token in tokens] == pieces
    for token in tokens:
        assert (token.id == tokenizer.mask_id) == ("mask" in token.text.lower())


@pytest.mark.parametrize("typed", ["[MASK", "MASK]", "MASK", "[ MASK ]", "[MA SK]", "(MASK)"])
def test_what_only_looks_like_mask_is_text(tokenizer: Tokenizer, typed: str) -> None:
    assert tokenizer.mask_id not in tokenizer.encode(typed).ids


def test_mask_may_stand_two_hundred_times(tokenizer: Tokenizer) -> None:
    assert tokenizer.encode("[MASK]" * 200).ids == [tokenizer.mask_id] * 200
    assert tokenizer.encode(" [mask]" * 200).ids == [tokenizer.mask_id] * 200


def test_mask_within_brackets_is_still_found(tokenizer: Tokenizer) -> None:
    tokens = tokenizer.encode("[[MASK]]").tokens
    assert [t.text for t in tokens if t.id == tokenizer.mask_id] == ["[MASK]"]


def test_the_first_word_is_the_same_token_as_in_mid_sentence(tokenizer: Tokenizer) -> None:
    first, second = tokenizer.encode("the the").tokens
    assert first.id == second.id
    assert (first.text, second.text) == ("the", " the")


@pytest.mark.parametrize("character", ["😀", "猫", "é", "ש", "\u0301"])
def test_a_character_of_several_tokens_is_shown_once(tokenizer: Tokenizer, character: str) -> None:
    tokens = tokenizer.encode(f"the{character} cat").tokens
    pieces = [token.text for token in tokens]
    assert pieces[:2] == ["the", character]
    n_bytes = len(character.encode())
    assert n_bytes > 1
    assert pieces[2 : 1 + n_bytes] == [""] * (n_bytes - 1)
    assert pieces[1 + n_bytes] != ""


def test_a_text_that_starts_with_no_word_starts_with_a_token_for_no_character(
    tokenizer: Tokenizer,
) -> None:
    # The space put before the text has to be in some token.
    assert [token.text for token in tokenizer.encode("😀").tokens] == ["", "😀", "", "", ""]


def test_the_vocabulary_holds_mask_and_all_bytes(tokenizer: Tokenizer) -> None:
    assert tokenizer.mask_id == 0
    assert tokenizer.vocab_size == 300
    single_bytes = {tokenizer.word(i) for i in range(300)} & {chr(i) for i in range(128)}
    assert len(single_bytes) == 128
    assert tokenizer.word(tokenizer.mask_id) == "[MASK]"


def test_a_word_carries_its_leading_space(tokenizer: Tokenizer) -> None:
    (the,) = tokenizer.encode("the").ids
    assert tokenizer.word(the) == " the"
    assert tokenizer.decode([the]) == "the"
    assert tokenizer.decode([the, the]) == "the the"


def test_every_entry_has_a_label_of_one_printable_line(tokenizer: Tokenizer) -> None:
    labels = [tokenizer.label(i) for i in range(tokenizer.vocab_size)]
    assert all(label and label.isprintable() and label == label.strip() for label in labels)
    (the,) = tokenizer.encode("the").ids
    assert labels[the] == "the"
    assert labels[tokenizer.mask_id] == "[MASK]"
