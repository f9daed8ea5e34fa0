"""Numbers in words: short, but never something as nothing."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ffnviz.parts import sentences
from ffnviz.pictures.wording import (
    as_text,
    counted,
    number,
    percent,
    plain,
    quoted,
    signed,
    spare,
    strong,
    to_spans,
    typed,
)
from ffnviz.pictures.wording import as_text as read


def test_a_share_is_short_one_is_one_and_a_minus_is_a_minus() -> None:
    shares = (0, 1e-9, 0.0123, 0.0994, 0.0996, 1)
    assert [*map(percent, shares)] == ["0%", "<0.1%", "1.2%", "9.9%", "10%", "100%"]
    said = [counted(n, "token") for n in (0, 1, 2, 1_024)]
    assert said == ["0 tokens", "1 token", "2 tokens", "1,024 tokens"]
    assert signed(-1.234) == "−1.23"


@given(share=st.floats(min_value=1e-12, max_value=1))
def test_something_is_never_shown_as_nothing(share: float) -> None:
    assert percent(share) not in ("0%", "0.0%")


def test_the_sentences_hold_the_live_numbers() -> None:
    labels = ["The", "cat"]
    assert read(sentences.of_tokens(labels, np.array([0.25, 0.5]), 1)) == (
        "“cat” activates the most neurons, 50% of block 2; “The” the fewest, 25%."
    )
    assert read(sentences.of_tokens(labels, np.array([0.5, 0.5]), 0)) == (
        "Each token activates 50% of block 1's neurons."
    )
    gated = read(sentences.of_ffn(512, 2_048, gated=True))
    assert "2,048, gated by a bent projection, →" in gated
    assert "“mat”: +0.34." in read(sentences.of_leading("mat", 0.341, 1))
    assert "“mat”: −0.01." in read(sentences.of_leading("mat", -0.01, 0))
    maps = sentences.of_maps([("ReLU", 0.07, 0.0, "relu"), ("GELU", 0.4, 0.1, "gelu")])
    assert read(maps) == (
        "ReLU leaves 93% of its activations exactly zero, GELU 60% within 0.1 of zero."
    )
    kinds = [kind for _, kind in to_spans(maps)]
    assert kinds == ["plain", "number@relu", "plain"]  # one number a sentence stands out


TOLD, WITHOUT = ("mat", 0.21), ("floor", 0.09)


@pytest.mark.parametrize(
    ("token", "asked", "is_off", "begins"),
    [
        ("[MASK]", sentences.HIDDEN, False, "For the hidden word the network says “mat” (21%)."),
        ("cat", sentences.SHOWN, False, "“cat” is not hidden; the network says “mat” (21%)."),
        ("cat", sentences.NEXT, False, "After “cat” the network expects “mat” (21%)."),
        ("[MASK]", sentences.HIDDEN, True, "Without the FFN of block 2 the network says “floor”"),
    ],
)
def test_a_guess_is_told_for_what_it_is(token: str, asked: Any, is_off: bool, begins: str) -> None:
    told = sentences.of_prediction(token, TOLD, WITHOUT, 1, asked, is_off)
    assert read(told).startswith(begins)
    kinds = [kind for _, kind in to_spans(told) if kind != "typed"]
    assert kinds[-3:] == ["number", "stop", "plain"], "a full stop behind what it says"


def test_a_neuron_that_sleeps_everywhere_is_said_to_sleep() -> None:
    def told(values: list[float], threshold: float) -> str:
        return read(sentences.of_neuron(["The", "cat"], np.array(values), threshold, 1))

    assert "strongest on “cat”: −2.50" in told([1.0, -2.5], 0.1)
    assert told([0.0, 0.0], 0.0) == "This neuron of block 2 is active on no token here."
    assert "no token here; furthest from zero on “cat”: −0.05." in told([0.0, -0.05], 0.1)


def test_a_sentence_that_hides_nothing_is_answered_with_what_to_do() -> None:
    nothing = read(sentences.of_the_question("The cat sat.", 0, can_hide=True))
    assert "press “Hide”" in nothing
    asked = read(sentences.of_the_question("What is a cat? ", 0, can_hide=False))
    assert asked.startswith("The network answers no questions")
    assert sentences.of_the_question("The [MASK]?", 1, can_hide=True) == ""
    assert sentences.of_the_question("The cat", None, can_hide=True) == ""


MARKS = st.sampled_from("\ufdd0\ufdd1\ufdd2\ufdd3")
ANY = st.text(st.one_of(st.characters(), MARKS, st.sampled_from("“”`@{}")))


def unmarked(text: str) -> str:
    return "".join(letter for letter in text if not "\ufdd0" <= letter <= "\ufdd2")


@given(text=ANY)
def test_what_a_person_types_is_one_part_of_a_sentence_and_makes_no_other(text: str) -> None:
    assert to_spans(f"a {quoted(text)} b {number('5')}") == [
        ["a ", "plain"],
        [f"“{unmarked(text)}”", "typed"],
        [" b ", "plain"],
        ["5", "number"],
    ]


@given(text=ANY, said=ANY, colour=ANY)
def test_no_text_gets_out_of_the_stretch_that_it_is_in(text: str, said: str, colour: str) -> None:
    kind = f"number@{unmarked(colour)}" if colour else "number"
    sentence = f"{plain(said)}{number(text, colour)}{typed(text)}{strong(text)}{plain(said)}"
    spans = [[said, "plain"], [text, kind], [text, "typed"], [text, "strong"], [said, "plain"]]
    assert to_spans(sentence) == [[unmarked(part), kind] for part, kind in spans if unmarked(part)]
    assert as_text(sentence) == "".join(unmarked(part) for part, _ in spans)


@given(text=ANY)
def test_what_is_spare_takes_room_and_is_not_read(text: str) -> None:
    sentence = f"a {spare(f'It says {quoted(text)}. ')}b"
    assert as_text(sentence) == "a b"
    assert to_spans(sentence) == [
        ["a ", "plain"],
        [f"It says “{unmarked(text)}”. ", "spare"],
        ["b", "plain"],
    ]
