"""Numbers in words: short, but never something as nothing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ffnviz.figures.journey import sentences
from ffnviz.figures.wording import Sentence, percent, signed


def read(sentence: Sentence) -> str:
    return "".join(part if isinstance(part, str) else part[0] for part in sentence)


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (0, "0.0%"),
        (1e-9, "<0.1%"),
        (0.0123, "1.2%"),
        (0.0994, "9.9%"),
        (0.0996, "10%"),
        (1, "100%"),
    ],
)
def test_a_share_is_short(share: float, shown: str) -> None:
    assert percent(share) == shown


@given(share=st.floats(min_value=1e-12, max_value=1))
def test_something_is_never_shown_as_nothing(share: float) -> None:
    assert percent(share) not in ("0%", "0.0%")


def test_a_minus_is_a_minus() -> None:
    assert signed(-1.234) == "−1.23"


def test_the_sentences_hold_the_live_numbers() -> None:
    labels = ["The", "cat"]
    assert read(sentences.of_tokens(labels, np.array([0.25, 0.5]), 0.0, 1)) == (
        "Each token has its own share of block 2's neurons awake (above zero): "
        "50% for “cat” down to 25% for “The”."
    )
    assert "wakes 143 of 2,048 neurons (7.0%)" in read(
        sentences.of_ffn("cat", 143, 2_048, 0.0, "ReLU")
    )
    gelu = read(sentences.of_ffn("cat", 600, 2_048, 0.1, "GELU"))
    assert "moves 600 of 2,048 neurons (29%) further than 0.1 from zero" in gelu
    assert "mat (21%); without this FFN floor (9.0%)" in read(
        sentences.of_prediction("[MASK]", ("mat", 0.21), ("floor", 0.09))
    )
    assert read(sentences.of_maps([("ReLU", 0.07, 0.0), ("GELU", 0.4, 0.1)])) == (
        "On this sentence ReLU leaves 93% of its values exactly zero (7.0% awake); "
        "GELU is away from zero, beyond 0.1, in 40%."
    )
    assert read(sentences.of_maps([("GELU", 0.4, 0.1)])) == (
        "On this sentence GELU is away from zero, beyond 0.1, in 40%."
    )
    assert "strongest on “cat”: −2.50" in read(sentences.of_neuron(labels, np.array([1.0, -2.5])))
