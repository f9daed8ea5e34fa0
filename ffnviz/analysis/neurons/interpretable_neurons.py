"""Neurons that mean something to people: rare, active on one tag, and on few words."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.neurons.block_index import BlockIndex
from ffnviz.analysis.neurons.neuron_index import NeuronIndex
from ffnviz.models.network import Network

FEWEST, MOST_SHARE = 15, 0.35  # bounds on the texts in which it fires, as number and as share
LEAST = 0.15  # score; below, neither tag nor words say much
WORDS = 4  # different words that count as few
SHOWN = 3

WordAt = Callable[[str, int], str]  # a text's word at a token


@dataclass(frozen=True)
class InterpretableNeuron:
    """A neuron with the tag and the words on which it fires."""

    neuron: int
    tag: str  # of most sentences in which it fires
    words: tuple[str, ...]  # those among its strongest examples more than once
    score: float  # from 0 to 1; 1 for all sentences of the tag, no other, and few words
    side: int = 1  # 1 if it is above zero there, −1 if below


def interpretable_neurons(
    index: NeuronIndex, block: int, word_at: WordAt, most: int = 4
) -> tuple[InterpretableNeuron, ...]:
    """The neurons of a block that people can interpret best, at most `most`, each of another tag.

    The score is the F1 between "it fires in this text" and "the text has this tag", times the share
    of its strongest examples at its commonest words.
    """
    counts = index.by_number.get(block)
    if counts is None or not index.tags:
        return ()
    by_tag: dict[str, InterpretableNeuron] = {}
    for side, (texts, _) in counts.sides.items():
        f1 = tag_f1(index, counts, side)  # (n_tags, d_ff)
        rare_or_common = (texts < FEWEST) | (texts > MOST_SHARE * index.n_texts)
        best = np.where(rare_or_common, 0.0, f1.max(axis=0))
        for neuron in np.flatnonzero(best >= LEAST).tolist():
            common = common_words(index, counts, neuron, word_at, side)
            share = sum(n for _, n in common[:WORDS]) / len(counts.values)
            tag = index.tags[int(f1[:, neuron].argmax())]
            words = tuple(word for word, n in common[:SHOWN] if n > 1)
            score = float(best[neuron]) * share
            if score >= LEAST and (tag not in by_tag or score > by_tag[tag].score):
                by_tag[tag] = InterpretableNeuron(neuron, tag, words, score, side)
    by_neuron = {each.neuron: each for each in sorted(by_tag.values(), key=lambda each: each.score)}
    return tuple(sorted(by_neuron.values(), key=lambda each: -each.score)[:most])


def tag_f1(index: NeuronIndex, counts: BlockIndex, side: int) -> NDArray[np.float64]:
    """F1 between firing on a side and each tag: 2 · both / (fired + tagged), (n_tags, d_ff)."""
    texts, by_tag = counts.sides[side]
    return np.asarray(2 * by_tag / np.maximum(texts[None] + index.with_tag[:, None], 1))


def best_tags(index: NeuronIndex, counts: BlockIndex) -> tuple[list[str], NDArray[np.float64]]:
    """Each neuron's tag with the highest F1 on either side of zero, and that F1, (d_ff,).

    Without tags in the index, these are "" and 0.
    """
    f1 = np.max([tag_f1(index, counts, side) for side in counts.sides], axis=0)  # (n_tags, d_ff)
    best = f1.argmax(axis=0) if index.tags else []
    tags = [index.tags[row] for row in best] or [""] * f1.shape[1]
    return tags, f1.max(axis=0, initial=0.0)


def common_words(
    index: NeuronIndex, counts: BlockIndex, neuron: int, word_at: WordAt, side: int | None = None
) -> list[tuple[str, int]]:
    """The words at a neuron's strongest examples with their counts, the commonest first.

    The examples are of both sides of zero, unless one is given.
    """
    strongest = counts.strongest(neuron) if side is None else counts.examples_of(neuron, side)
    words = (word_at(index.texts[each.text], each.token) for each in strongest)
    return Counter(word for word in words if word.isalpha()).most_common()


def words_at(network: Network) -> WordAt:
    """A function that gives a text's word at a token, in lower case."""

    @cache
    def words(text: str) -> list[str]:
        tokens = network.tokenizer.encode(text, network.sizes.max_tokens).tokens
        return [token.text.strip().lower() for token in tokens]

    return lambda text, token: words(text)[min(token, len(words(text)) - 1)]
