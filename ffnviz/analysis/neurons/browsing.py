"""All neurons of a block as rows of a table, and as descriptions of our own."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.neurons.block_index import BlockIndex
from ffnviz.analysis.neurons.descriptions import Description, Score
from ffnviz.analysis.neurons.interpretable_neurons import (
    WordAt,
    best_tags,
    common_words,
    words_at,
)
from ffnviz.analysis.neurons.neuron_index import NeuronIndex
from ffnviz.models.network import Network

WORDS = 4
HIGH = 0.99
BY, METHOD, SCORE = "ffnviz", "tag and words", "F1 of the tag"  # of our own descriptions


@dataclass(frozen=True)
class Overview:
    """One entry per neuron of the block."""

    awake: NDArray[np.float64]  # share of tokens on which it fires, (d_ff,)
    texts: NDArray[np.float64]  # share of texts in which it fires, (d_ff,)
    tag: tuple[str, ...]  # the tag with the highest F1; empty where the index has none
    selective: NDArray[np.float64]  # F1 between firing in a text, on a side, and that tag, (d_ff,)
    words: tuple[str, ...]  # those at its strongest examples, the commonest first
    high: NDArray[np.float64]  # the 0.99 quantile of its values, to within a bin, (d_ff,)
    counts: BlockIndex

    @property
    def never(self) -> int:
        """The number of neurons that never fired."""
        return int((self.awake == 0).sum())


def overview(index: NeuronIndex, block: int, word_at: WordAt) -> Overview:
    """All neurons of a block."""
    counts = index.by_number[block]
    neurons = range(len(counts.texts))
    tags, f1 = best_tags(index, counts)
    words = (common_words(index, counts, neuron, word_at)[:WORDS] for neuron in neurons)
    return Overview(
        counts.fired / index.n_tokens,
        counts.fired_texts / index.n_texts,
        tuple(tags),
        f1,
        tuple(", ".join(word for word, _ in row) for row in words),
        np.array([counts.quantile(neuron, HIGH) for neuron in neurons]),
        counts,
    )


def described(index: NeuronIndex, network: Network) -> Iterator[Description]:
    """A description of each neuron that fired: its tag with the F1, and its commonest words."""
    word_at = words_at(network)
    for block in index.numbers:
        rows = overview(index, block, word_at)
        for neuron, (tag, words) in enumerate(zip(rows.tag, rows.words, strict=True)):
            texts = [f"texts tagged “{tag}”"] * bool(tag) + [f"words: {words}"] * bool(words)
            if rows.awake[neuron] and texts:
                scores = (Score(float(rows.selective[neuron]), SCORE, BY),) if tag else ()
                yield Description(
                    str(block), neuron, "; ".join(texts), network.card.id, BY,
                    method=METHOD, scores=scores,
                )  # fmt: skip
