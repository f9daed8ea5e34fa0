"""What people type means what the books have: straight and typographic signs are read alike."""

import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ffnviz.models.encoder.model import Model, load
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.spelling import READ_AS, as_read, as_read_with_ends
from ffnviz.training.corpus import read_books
from tests.models.keyboards import KEYBOARDS, SENTENCES

STRAIGHT = st.text(alphabet="abz '\"-.,;!?0[]\n")


@pytest.fixture(scope="module", params=["relu", "gelu"])
def twin(request: pytest.FixtureRequest) -> Model:
    return load(request.param)


@pytest.mark.parametrize("keyboard", KEYBOARDS)
def test_a_sentence_is_read_alike_whoever_types_it(twin: Model, keyboard: str) -> None:
    for sentence in SENTENCES:
        typed = KEYBOARDS[keyboard](sentence)
        plain, other = twin.tokenizer.encode(sentence), twin.tokenizer.encode(typed)
        assert other.ids == plain.ids, sentence
        assert twin.tokenizer.encode_many([typed, sentence]) == [plain.ids, plain.ids]
        assert other.text == typed
        assert "".join(token.text for token in other.tokens) == typed
        letters = [
            ["".join(filter(str.isalnum, token.text)) for token in encoding.tokens]
            for encoding in (plain, other)
        ]
        assert letters[0] == letters[1], sentence


def test_the_keyboards_make_something_else_of_every_sentence() -> None:
    for sentence in SENTENCES:
        assert any(keyboard(sentence) != sentence for keyboard in KEYBOARDS.values()), sentence


def test_a_curly_apostrophe_does_not_break_the_guess(twin: Model) -> None:
    words = []
    for text in ("I don't [MASK] it.", "I don’t [MASK] it."):
        trace = twin.trace(text)
        at = [token.id for token in trace.tokens].index(twin.tokenizer.mask_id)
        words.append(twin.tokenizer.label(int(trace.logits_at(at).argmax())))
    assert words[0] == words[1]
    assert "’t" in [token.text for token in trace.tokens], "in the person's own spelling"


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("1914–18", "1914-18"),
        ("London–Paris", "London-Paris"),
        ("so – well", "so -- well"),
        ("– No.", "-- No."),
        ("so–", "so--"),
        ("so—well", "so--well"),
        ("Mr. B——", "Mr. B----"),
        ("wait…", "wait..."),
        ("«\u00a0Oui\u00a0»", '"Oui"'),
        ("»Ja,« sagte er, »ja«", '"Ja," sagte er, "ja"'),
        ("vraiment\u202f?", "vraiment?"),
        ("10\u00a0km", "10 km"),
        ("5′ 11″", "5' 11\""),
        ("a\u2009b\u3000c", "a b c"),
        ("re\u00adcord\u200b", "record"),
        ("\ufeffThe", "The"),
        ("\ud83d", "\ufffd"),
    ],
)
def test_what_it_is_read_as(typed: str, read: str) -> None:
    assert as_read(typed) == read


def test_the_books_spelling_is_plain_and_stays_as_it_is() -> None:
    for sign, read in READ_AS.items():
        assert len(sign) == 1
        assert read.isascii() or unicodedata.category(sign) == "Cs"
        assert as_read(read) == read
    assert as_read("".join(map(chr, range(0x20, 0x60)))) == "".join(map(chr, range(0x20, 0x60)))


@given(st.text())
@example("\u00a0\u200b?")
def test_reading_what_was_read_changes_nothing(text: str) -> None:
    assert as_read(as_read(text)) == as_read(text)


ANYTHING = st.lists(
    st.characters() | st.sampled_from([*READ_AS, "–", "[MASK]", "[mask]", " ", "the", "t."]),
    max_size=30,
).map("".join)


@given(ANYTHING)
@example("\u200b")
@example("…\u200b")
@example("«\u00a0")
def test_every_character_that_is_read_has_its_place_in_the_typed_text(text: str) -> None:
    read, ends = as_read_with_ends(text)
    assert read == as_read(text)
    assert len(ends) == len(read) + 1
    assert list(ends) == sorted(ends)
    assert ends[-1] == len(text)
    for place, character in enumerate(read):
        stretch = text[ends[place] : ends[place + 1]]
        assert not as_read(stretch) or character in as_read(stretch) or "–" in stretch


@given(ANYTHING, st.none() | st.integers(1, 12))
@example("\u200b", None)
@example("wait…\u200b", 1)
def test_tokens_are_in_order_and_within_the_typed_text(
    tokenizer: Tokenizer, text: str, max_tokens: int | None
) -> None:
    encoding = tokenizer.encode(text, max_tokens)
    at = 0
    for token in encoding.tokens:
        assert token.start == at
        assert token.start <= token.end <= len(text)
        assert token.text == text[token.start : token.end]
        at = token.end
    assert text[at:] == encoding.left_out
    if text:
        assert tokenizer.encode(text).ids == tokenizer.encode_many([text])[0]


@given(STRAIGHT, st.data())
def test_any_mixture_of_signs_has_the_ids_of_the_straight_ones(
    tokenizer: Tokenizer, straight: str, data: st.DataObject
) -> None:
    ways = {"'": "'‘’‚′´", '"': '"“”„″»', "-": "-‐‑−", " ": " \u2009\u3000", "--": "—―", "...": "…"}
    typed = ""
    for piece in re.findall(r"--|\.\.\.|.", straight, re.DOTALL):
        typed += data.draw(st.sampled_from([piece, *ways.get(piece, "")]))
    assert tokenizer.encode(typed).ids == tokenizer.encode(straight).ids


def test_training_reads_books_in_this_spelling(tmp_path: Path) -> None:
    book = "\ufeff“Vraiment\u00a0?” he\u00a0 said — “no…”\n\nIt’s.\n"
    (tmp_path / "one.txt").write_text(book, "utf-8")
    (read,) = read_books(tmp_path)
    assert read.paragraphs == ('"Vraiment?" he said -- "no..."', "It's.")
