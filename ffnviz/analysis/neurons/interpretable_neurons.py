"""Neurons that can be told in a word: rare, at home on one tag, and woken by few words."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.neurons.block_index import BlockIndex
from ffnviz.analysis.neurons.neuron_index import NeuronIndex

FEWEST, MOST_SHARE = 15, 0.35  # texts in which a neuron fires, and the share of all texts
LEAST = 0.15  # of the score; below, neither tag nor words say much
WORDS = 4  # how many different words count as few
SHOWN = 3


@dataclass(frozen=True)
class InterpretableNeuron:
    """One neuron."""

    neuron: int  # its number
    tag: str  # what the sentences have in common in which it fires
    words: tuple[str, ...]  # those that wake it most, if any does more than once
    score: float  # from 0 to 1; 1 fires on all sentences of the tag, on no other, and on few words
    side: int = 1  # 1 if it is above zero there, −1 if below


def interpretable_neurons(
    index: NeuronIndex, block: int, words_of: Callable[[str, int], str], most: int = 4
) -> tuple[InterpretableNeuron, ...]:
    """A block's neurons that mean something to people, the clearest first, each of another tag.

    The score is the F1 between "it fires in this text" and "the text has this tag", times the share
    of its strongest examples that its commonest words make up.

    Args:
        index: of the network.
        block: from 0.
        words_of: the word that a text has at a token.
        most: how many, at most.
    """
    counts = index.by_number.get(block)
    if counts is None:
        return ()
    if not index.tags:
        return ()
    by_tag: dict[str, InterpretableNeuron] = {}
    for side, (texts, _) in counts.sides.items():
        f1 = tag_f1(index, counts, side)  # (n_tags, d_ff)
        often = (texts < FEWEST) | (texts > MOST_SHARE * index.n_texts)
        best = np.where(often, 0.0, f1.max(axis=0))
        for neuron in np.flatnonzero(best >= LEAST):
            common = common_words(index, counts, int(neuron), words_of, side)
            clear = sum(n for _, n in common[:WORDS]) / len(counts.values)
            tag = index.tags[int(f1[:, neuron].argmax())]
            words = tuple(word for word, n in common[:SHOWN] if n > 1)
            each = InterpretableNeuron(int(neuron), tag, words, float(best[neuron]) * clear, side)
            if each.score >= LEAST and (tag not in by_tag or each.score > by_tag[tag].score):
                by_tag[tag] = each
    clearest = {each.neuron: each for each in sorted(by_tag.values(), key=lambda each: each.score)}
    return tuple(sorted(clearest.values(), key=lambda each: -each.score)[:most])


def tag_f1(index: NeuronIndex, counts: BlockIndex, side: int) -> NDArray[np.float64]:
    """2 · both / (fired + tagged): the harmonic mean of precision and recall, (n_tags, d_ff)."""
    texts, by_tag = counts.sides[side]
    return np.asarray(2 * by_tag / np.maximum(texts[None] + index.with_tag[:, None], 1))


def common_words(
    index: NeuronIndex,
    counts: BlockIndex,
    neuron: int,
    words_of: Callable[[str, int], str],
    side: int | None = None,
) -> list[tuple[str, int]]:
    """The words at which a neuron is strongest, and how often each, the commonest first.

    Of both sides, unless one is named.
    """
    strongest = counts.strongest(neuron) if side is None else counts.examples_of(neuron, side)
    words = (words_of(index.texts[each.text], each.token) for each in strongest)
    return Counter(word for word in words if word.isalpha()).most_common()
