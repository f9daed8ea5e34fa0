"""Every kind of tokenizer ties its tokens to the typed characters."""

import unicodedata
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ffnviz.models.external.tokenizer import ExternalTokenizer
from tests.models.external import tokenizers

KINDS: dict[str, Callable[[], Any]] = {
    "WordPiece": tokenizers.word_piece, "byte level": tokenizers.byte_level,
    "SentencePiece": tokenizers.metaspace,
}  # fmt: skip
WRITE_SPACES: dict[str, Callable[[], Any]] = {
    "T5": tokenizers.t5, "XLM-R": tokenizers.xlm_roberta, "ALBERT": tokenizers.albert,
    "Llama 2": tokenizers.llama,
}  # fmt: skip
MADE = {name: ExternalTokenizer(make(), 97) for name, make in KINDS.items()}
SAID = {"WordPiece": ["[CLS]", "[SEP]"], "byte level": [], "SentencePiece": ["<s>"]}


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=60)
@given(text=st.text(max_size=30) | st.text("the cat[MASK]é\ud800 \n", max_size=40))
def test_the_tokens_of_a_text_are_the_text(kind: str, text: str) -> None:
    encoding = MADE[kind].encode(text)
    if not text:
        assert encoding.tokens == ()
        return
    words = [token for token in encoding.tokens if not token.special]
    assert [t.special for t in encoding.tokens if t.special] == SAID[kind]
    if words:
        assert "".join(token.text for token in words) == text
    assert all(0 <= token.id < 97 for token in encoding.tokens)
    position = 0
    for token in encoding.tokens:
        assert token.start == position
        assert text[token.start : token.end] == token.text
        position = token.end


def shown(kind: str, text: str) -> list[tuple[str, str]]:
    fast = (KINDS | WRITE_SPACES)[kind]()
    tokens = ExternalTokenizer(fast, len(fast)).encode(text).tokens
    return [(fast.convert_ids_to_tokens(t.id), t.text) for t in tokens if not t.special]


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("T5", "This is a test", [("▁This", "This"), ("▁is", " is"), ("▁", " "), ("a", "a"),
                                  ("▁test", " test")]),
        ("XLM-R", "日本 is", [("▁", ""), ("日本", "日本"), ("▁is", " is")]),
        ("ALBERT", 'is  "a', [("▁is", "is"), ("▁", "  "), ('"', '"'), ("a", "a")]),
        ("Llama 2", "20 the", [("▁", ""), ("<0x32>", "2"), ("<0x30>", "0"), ("▁th", " th"),
                               ("e", "e")]),
        ("Llama 2", "é", [("▁", ""), ("<0xC3>", "é"), ("<0xA9>", "")]),
        ("SentencePiece", "it a▁", [("▁it", "it"), ("▁", " "), ("a", "a"), ("▁", "▁")]),
    ],
)  # fmt: skip
def test_a_piece_that_is_only_a_space_has_no_letter(
    kind: str, text: str, expected: list[tuple[str, str]]
) -> None:
    assert shown(kind, text) == expected


@pytest.mark.parametrize("kind", WRITE_SPACES)
@settings(max_examples=40)
@given(text=st.text("ab  hist", min_size=1, max_size=24))
def test_each_piece_has_its_own_letters(kind: str, text: str) -> None:
    pieces = shown(kind, text)
    assert [word.strip() for _, word in pieces] == [piece.strip("▁") for piece, _ in pieces]
    assert "".join(word for _, word in pieces) == (text if pieces else "")


@pytest.mark.parametrize("text", ["cafe\u0301 is", "o\u0323\u0302 is a\u0301", "e\u0301e e"])
@pytest.mark.parametrize("kind", ["WordPiece", "ALBERT", "byte level"])
def test_an_accent_typed_apart_belongs_to_its_letter(kind: str, text: str) -> None:
    """As macOS writes it; these three leave it out."""
    letters = [word for _, word in shown(kind, text)]
    assert not any(unicodedata.combining((word.strip() or "a")[0]) for word in letters)
    assert "".join(letters) == unicodedata.normalize("NFD", text)


def test_a_typed_mask_is_the_tokenizers_own() -> None:
    words = MADE["WordPiece"]
    tokens = words.encode("the [mask] sat").tokens
    assert [token.text for token in tokens] == ["", "the", " [mask]", " sat", ""]
    assert tokens[2].id == words.mask_id
    assert tokens[2].special == ""
    assert MADE["byte level"].mask_id is None
    assert "".join(t.text for t in MADE["byte level"].encode("[MASK]").tokens) == "[MASK]"


def test_of_a_long_text_the_first_tokens_and_the_special_one_at_its_end() -> None:
    encoding = MADE["WordPiece"].encode("the cat " * 20, 8)
    assert [token.special for token in encoding.tokens] == ["[CLS]", *[""] * 6, "[SEP]"]
    assert encoding.n_left_out == 42 - 8
    assert encoding.left_out.startswith(" the cat")


# An entry of the vocabulary, the text it stands for, and how it is written on a page.
ENTRIES = {
    "WordPiece": [("cat", " cat", "cat"), ("##g", "g", "-g"), ("[SEP]", "[SEP]", "[SEP]")],
    "byte level": [
        ("Ġt", " t", "t"),
        ("he", "he", "-he"),
        ("Ã", "\ufffd", "bytes c3"),
        ("Ġ", " ", "␣"),
    ],
    "SentencePiece": [("▁cat", " cat", "cat"), ("c", "c", "-c"), ("</s>", "</s>", "</s>")],
}


@pytest.mark.parametrize("kind", ENTRIES)
def test_how_an_entry_reads(kind: str) -> None:
    words, named = MADE[kind], KINDS[kind]()
    for entry, word, label in ENTRIES[kind]:
        id_ = named.convert_tokens_to_ids(entry)
        assert (words.word(id_), words.label(id_)) == (word, label), entry


def test_many_texts_at_once_are_each_by_itself() -> None:
    texts = ["the cat", "[MASK] sat on it."]
    for words in MADE.values():
        assert words.label(96) == "#96", "a row that no text uses has a number"
        assert words.encode_many(texts) == [words.encode(text).ids for text in texts]
    assert MADE["WordPiece"].decode([8, 10]) == MADE["WordPiece"].decode([8, 10]).strip()
