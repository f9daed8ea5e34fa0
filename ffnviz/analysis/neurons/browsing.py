"""All neurons of a block as rows of a table: how often each fires, on what, and how strongly."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.neurons.block_index import BlockIndex
from ffnviz.analysis.neurons.interpretable_neurons import WordAt, best_tags, common_words
from ffnviz.analysis.neurons.neuron_index import NeuronIndex

WORDS = 4
HIGH = 0.99


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
