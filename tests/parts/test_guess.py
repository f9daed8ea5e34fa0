"""What stands under every guess: what was asked, what the network has read, what it has not."""

import json
from pathlib import Path

import pytest

from ffnviz.models.encoder.folder import TRAINING
from ffnviz.models.encoder.model import MODELS, load
from ffnviz.parts import PAGES
from ffnviz.parts.guess import of_pieces, of_what_it_read, question, under_guess
from ffnviz.parts.places import MOVED
from ffnviz.pictures.wording import as_text as read
from ffnviz.pictures.wording import to_spans
from tests.heads import Heads
from tests.parts.visits import opened
from tests.run_factory import run_of

MODERN = "My laptop ran out of [MASK]"
SHOWN = {  # by the name of its note, where a guess stands
    "prediction": ("", ""),
    "cut": ("vocabulary", "softmax"),
    "step": ("vocabulary", "write"),
    "lens": ("vocabulary", "lens"),
    "parts": ("vocabulary", "parts"),
    "keep": ("sparsity", "keep"),
    "gate-words": ("sparsity", "gate"),
    "switched": ("neurons", "switch"),
    "planted": ("neurons", "plant"),
    "lab-without": ("lab", "bend"),
    "lab-width-words": ("lab", "width"),
}
SAYS_SO_ABOVE = ("prediction", "step")  # in its headline; and what is written is always hidden


@pytest.mark.parametrize("note", SHOWN)
def test_wherever_a_guess_stands_it_is_said_what_is_unknown(heads: Heads, note: str) -> None:
    page, part = SHOWN[note]
    page, part, view = MOVED.get((page, part), (page, part, {}))
    opened(page, text=MODERN, part=part, words="2", twin="gelu", **view)
    assert "It has read" in heads.under[note]
    assert "“laptop” as la + pt + op" in heads.under[note]
    assert "hidden" not in heads.under[note]
    opened(page, text="The cat sat.", part=part, words="2", twin="gelu", **view)
    warned = heads.under[note].startswith("No word is hidden here")
    assert warned == (note not in SAYS_SO_ABOVE)


def test_the_parts_are_those_of_the_pages() -> None:
    parts = {(page.name, part.name) for page in PAGES for part in page.parts} | set(MOVED)
    assert {where for where in SHOWN.values() if where[0]} <= parts


def test_what_was_read_is_what_the_training_record_says() -> None:
    record = json.loads((MODELS / "relu" / TRAINING).read_text())
    corpora = [run["corpus"] for run in (record, *record.get("further", []))]
    texts = {name for corpus in corpora for name in corpus["training_books"]}
    books = texts - {"encyclopedia-articles"}
    told = read(under_guess(run_of(load("relu"), "The cat [MASK].")))
    assert f"It has read only {len(books):,} books (" in told
    assert ("sentences" in told) == any("sentences" in corpus for corpus in corpora)
    assert ("articles" in told) == (books != texts)
    assert read(of_what_it_read(["emma", "the-time-machine"])) == (
        "It has read only 2 books (from Emma to The Time Machine). "
    )
    assert read(of_what_it_read(["emma"], ["everyday sentences"])) == (
        "It has read only one book (Emma) and everyday sentences. "
    )
    assert read(of_what_it_read(["<b>"])) == "It has read only one book (<b>). "
    assert ["<b>", "typed"] in to_spans(of_what_it_read(["<b>"]))


def test_of_an_unknown_network_nothing_is_claimed_but_its_pieces(model_folder: Path) -> None:
    run = run_of(load(model_folder), "The [MASK] sat.")
    assert "has read" not in read(under_guess(run))
    assert read(under_guess(run_of(load(model_folder), "laptop [MASK]"))).startswith("It reads “")


def test_a_word_that_can_be_seen_beside_one_that_is_hidden() -> None:
    run = run_of(load("relu"), "The cat [MASK].", token=1)
    assert question(run) == ""
    told = read(under_guess(run))
    assert told.startswith("“cat” is not hidden, so a guess at it means little. ")


def test_words_in_pieces_are_named_but_not_all_of_many() -> None:
    assert of_pieces([]) == ""
    assert read(of_pieces([("phone", ["ph", "one"]), ("猫", ["猫", "", ""])])) == (
        "It reads “phone” as ph + one, “猫” in 3 pieces. "
    )
    many = [("ab", ["a", "b"])] * 5
    assert read(of_pieces(many)).endswith("“ab” as a + b, and 2 more in pieces. ")
