"""What people type means what the books have: straight and typographic signs are read alike."""

import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ffnviz.models.encoder.model import load
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.spelling import READ_AS, as_read, as_read_with_ends
from ffnviz.training.corpus import read_books

# What a keyboard makes of a sentence, and the same as a plain one types it.
TYPED = {
    "iOS": ("“I don’t [MASK],” he said—“well…”", '"I don\'t [MASK]," he said--"well..."'),
    "Android": ("It isn´t John´s [MASK]…", "It isn't John's [MASK]..."),
    "Microsoft Word": (
        "‘Tis the sea\N{SOFT HYPHEN}son – a long\N{NON-BREAKING HYPHEN}drawn [MASK] of 1914–18.",
        "'Tis the season -- a long-drawn [MASK] of 1914-18.",
    ),
    "French": (
        "«\u00a0He said: ‹Wait\u202f!› –\u00a0[MASK]\u00a0»",
        "\"He said: 'Wait!' -- [MASK]\"",
    ),
    "German": (
        "„[MASK]!“ he cried; ‚it is the Smiths‘ dog‘",
        "\"[MASK]!\" he cried; 'it is the Smiths' dog'",
    ),
    "German books": ("»Where is the ›[MASK]‹?«―", "\"Where is the '[MASK]'?\"--"),
}


@pytest.mark.parametrize("keyboard", TYPED)
def test_a_sentence_is_read_alike_whoever_types_it(keyboard: str) -> None:
    tokenizer = load("relu").tokenizer
    typed, sentence = TYPED[keyboard]
    plain, other = tokenizer.encode(sentence), tokenizer.encode(typed)
    assert tokenizer.encode_many([typed, sentence]) == [other.ids, plain.ids]
    assert other.ids == plain.ids
    assert other.text == typed == "".join(token.text for token in other.tokens)
    letters, others = (
        ["".join(filter(str.isalnum, token.text)) for token in encoding.tokens]
        for encoding in (plain, other)
    )
    assert letters == others
    tokens = tokenizer.encode("I don’t [MASK] it.").tokens
    assert "’t" in [token.text for token in tokens], "in the person's own spelling"


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


@given(
    st.text()
    | st.lists(
        st.characters() | st.sampled_from([*READ_AS, "–", "[MASK]", " ", "the", "t."]), max_size=30
    ).map("".join)
)
@example("\u200b")
@example("\u00a0\u200b?")
@example("…\u200b")
@example("«\u00a0")
def test_every_character_that_is_read_has_its_place_in_the_typed_text(text: str) -> None:
    read, ends = as_read_with_ends(text)
    assert read == as_read(text) == as_read(read)
    assert len(ends) == len(read) + 1
    assert list(ends) == sorted(ends)
    assert ends[-1] == len(text)
    for place, character in enumerate(read):
        stretch = text[ends[place] : ends[place + 1]]
        assert not as_read(stretch) or character in as_read(stretch) or "–" in stretch


@given(st.text(alphabet="abz '\"-.,;!?0[]\n"), st.data())
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
