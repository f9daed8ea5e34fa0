"""What stands under every guess: what was asked, what the network has read, what it has not."""

import json
from pathlib import Path

import pytest

from ffnviz.analysis.prediction import predict, predict_without_ffn
from ffnviz.app.page_controls import Example, read_examples
from ffnviz.models.encoder.folder import TRAINING
from ffnviz.models.encoder.model import MODELS, TWINS, load
from ffnviz.parts import PAGES
from ffnviz.parts.guess import Split, of_pieces, of_what_it_read, question, under_guess
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


@pytest.mark.usefixtures("few")
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


EXAMPLES = read_examples()


def test_the_parts_are_those_of_the_pages_and_the_ffn_decides_some_examples() -> None:
    parts = {(page.name, part.name) for page in PAGES for part in page.parts} | set(MOVED)
    assert {where for where in SHOWN.values() if where[0]} <= parts
    assert sum(bool(example.says) for example in EXAMPLES) >= 3
    assert all(example.says != example.without for example in EXAMPLES if example.says)


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


def test_of_an_unknown_network_only_pieces_are_named_and_not_all(model_folder: Path) -> None:
    run = run_of(load(model_folder), "The [MASK] sat.")
    assert "has read" not in read(under_guess(run))
    assert read(under_guess(run_of(load(model_folder), "laptop [MASK]"))).startswith("It reads “")
    assert of_pieces([]) == ""
    assert read(of_pieces([Split("phone", ("ph", "one")), Split("猫", ("猫", "", ""))])) == (
        "It reads “phone” as ph + one, “猫” in 3 pieces. "
    )
    many = [Split("ab", ("a", "b"))] * 5
    assert read(of_pieces(many)).endswith("“ab” as a + b, and 2 more in pieces. ")
    run = run_of(load("relu"), "The cat [MASK].", token=1)
    assert question(run) == ""
    told = read(under_guess(run))
    assert told.startswith("“cat” is not hidden, so a guess at it means little. ")


@pytest.mark.parametrize("twin", TWINS)
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.sentence)
def test_an_example_keeps_its_promise(example: Example, twin: str) -> None:
    model = load(twin)
    trace = model.trace(example.sentence)
    assert example.why
    if example.token is not None:  # it is about a word that stands there twice
        words = [token.text.strip().lower() for token in trace.tokens]
        assert words.count(words[example.token - 1]) == 2
        assert words.index(words[example.token - 1]) < example.token - 1
    mask = model.tokenizer.mask_id
    if mask not in [token.id for token in trace.tokens]:
        return
    token = next(place for place, each in enumerate(trace.tokens) if each.id == mask)
    told = predict(model, trace, token)
    if example.says:
        assert told.words[0] == example.says
        last = len(trace.blocks) - 1
        assert predict_without_ffn(model, trace, last, token).words[0] == example.without
        assert example.says in example.why
        assert example.without in example.why
    if example.not_among:
        assert example.not_among not in told.words
