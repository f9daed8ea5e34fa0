"""Neurons that mean something are found by what is counted, not by what is hoped."""

import numpy as np
import pytest

from ffnviz.analysis.neurons.neuron_index import BlockIndex, NeuronIndex, interpretable_neurons

TEXTS = tuple(f"text {place}" for place in range(100))
WORDS = {0: ["forty"] * 12, 1: list("abcdefghijkl"), 2: ["the"] * 12}


def index(fired: list[int], by_tag: list[list[int]]) -> NeuronIndex:
    """Two tags of 20 texts each, three neurons; every neuron's examples are its first texts."""
    d_ff = len(fired)
    block = BlockIndex(
        by_position=np.zeros((3, d_ff), np.int32),
        by_class=np.zeros((5, d_ff), np.int32),
        mean=np.zeros(d_ff),
        deviation=np.zeros(d_ff),
        histogram=np.zeros((d_ff, 1), np.int32),
        partners=np.full((1, d_ff), -1, np.int32),
        alike=np.zeros((1, d_ff), np.float32),
        texts=np.array(fired, np.int32),
        by_tag=np.array(by_tag, np.int32),
        values=np.ones((12, d_ff), np.float32),
        examples=np.tile(np.arange(12, dtype=np.int32)[:, None], (1, d_ff)),
        tokens=np.tile(np.arange(d_ff, dtype=np.int32)[None], (12, 1)),
        low_values=np.zeros((0, d_ff), np.float32),
        low_examples=np.zeros((0, d_ff), np.int32),
        low_tokens=np.zeros((0, d_ff), np.int32),
        low_texts=np.zeros(d_ff, np.int32),
        low_by_tag=np.zeros((0, d_ff), np.int32),
        both_texts=np.zeros(d_ff, np.int32),
    )
    return NeuronIndex("our texts", 0.0, 100, np.array([100]), np.zeros(5, np.int64),
                       ("numbers", "sea"), np.array([20, 20]), TEXTS, (block,), (0,))  # fmt: skip


def word(text: str, token: int) -> str:
    return WORDS[token][int(text.split()[1])]


def test_a_neuron_of_one_tag_and_one_word_is_the_clearest() -> None:
    found = interpretable_neurons(index([20, 20, 20], [[20, 20, 10], [0, 0, 10]]), 0, word)
    assert found[0].neuron == 0
    assert (found[0].tag, found[0].words) == ("numbers", ("forty",))
    assert found[0].score == pytest.approx(1.0)  # on all texts of the tag, no other, one word
    # As rare and as much at home, but of twelve words: four of them are a third, F1 is 1.
    alone = interpretable_neurons(index([5, 20, 5], [[5, 20, 5], [0, 0, 0]]), 0, word)
    assert [(each.neuron, each.words) for each in alone] == [(1, ())]
    assert alone[0].score == pytest.approx(4 / 12)


def test_what_fires_nearly_everywhere_or_nearly_never_tells_nothing() -> None:
    assert interpretable_neurons(index([36, 90, 14], [[20, 20, 14], [16, 20, 0]]), 0, word) == ()


def test_each_tag_is_told_once_by_its_clearest() -> None:
    found = interpretable_neurons(index([20, 20, 20], [[20, 0, 19], [0, 20, 1]]), 0, word)
    assert [(each.neuron, each.tag) for each in found] == [(0, "numbers"), (1, "sea")]
