"""What is said of a station, from small vectors worked by hand."""

import numpy as np
import pytest

from ffnviz.parts.block.block_view import (
    TokenInBlock,
    attends_most,
    degrees,
    explanation,
    headline,
    note,
    title,
)
from ffnviz.pictures.wording import as_text as read

TOKEN = TokenInBlock("cat", 4, 9, "ReLU", "it is", "to block 2")
E1, E2 = np.array([1.0, 0.0]), np.array([0.0, 1.0])


def test_an_angle_is_that_between_two_vectors_whatever_their_lengths() -> None:
    assert degrees(E1, 3 * E2) == pytest.approx(90)
    assert degrees(E1, E1 + E2) == pytest.approx(45)
    assert degrees(E1, -2 * E1) == pytest.approx(180)
    assert degrees(E1, E1) == 0
    assert degrees(0 * E1, E1) == pytest.approx(90), "nothing has no direction"


def test_each_station_has_its_name_and_number() -> None:
    assert title("sum", "cross-attention") == "+ cross"
    assert title("sum", "attention") == "+ attention"
    assert note("sum", E1, E1 + E2) == "turned 45°"
    assert note("norm", E1, 3 * E2) == "norm 3.0"
    assert note("ffn", E1, 3 * E2) == "writes 3.0"


def test_it_is_said_what_is_done_to_the_token() -> None:
    told = read(explanation("norm", np.array([1.0, 3.0]), E1, TOKEN, None, last=False))
    assert "the mean (2.00)" in told
    assert "standard deviation (1.00)" in told
    assert "from 3.2 to 1.0." in told
    told = read(explanation("sum", E1, E1 + E2, TOKEN, None, last=True))
    assert "turns “cat” by 45°; the length goes from 1.0 to 1.4." in told
    assert told.endswith(" The vector goes on to block 2.")
    assert "4 tokens" in read(explanation("attention", E1, E2, TOKEN, None, last=False))
    told = read(explanation("ffn", E1, E2, TOKEN, np.zeros(8), last=False))
    assert "2 → 8 numbers, through ReLU (9 active), → 2" in told


def test_the_sentence_above_names_every_turn() -> None:
    turns = [("attention", 10.4), ("cross", 20.0), ("FFN", 30.0)]
    assert read(headline(turns, "cat", "In block 1, ")).startswith(
        "In block 1, the attention turns “cat” by 10°, the cross by 20° and the FFN by 30°."
    )


def test_what_is_asked_most_is_that_of_the_mean_over_heads() -> None:
    weights = np.zeros((2, 1, 3))
    weights[0, 0] = [0.0, 0.6, 0.4]
    weights[1, 0] = [0.1, 0.0, 0.9]
    assert "attends most to “c” (65%)" in read(attends_most("x", ["a", "b", "c"], weights, 0))
