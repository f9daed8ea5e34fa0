"""All neurons of a block in a table: how often each fires, on what, and how strongly."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.neurons.interpretable_neurons import common_words, tag_f1
from ffnviz.analysis.neurons.neuron_index import NeuronIndex

WORDS = 4
HIGH = 0.99


@dataclass(frozen=True)
class Overview:
    """One row a neuron, in their order."""

    awake: NDArray[np.float64]  # share of tokens on which it fires, (d_ff,)
    texts: NDArray[np.float64]  # share of texts in which it does, (d_ff,)
    tag: tuple[str, ...]  # the tag it is most at home on; empty where the index has none
    # (d_ff,), F1 between firing in a text, on one side of zero, and the text having that tag
    selective: NDArray[np.float64]
    words: tuple[str, ...]  # those at which it is strongest, the commonest first
    mean: NDArray[np.float64]  # of its values on all tokens, (d_ff,)
    # the value that it does not exceed on 99 of 100 tokens, to within a bin, (d_ff,)
    high: NDArray[np.float64]
    # most, least: its largest value and its lowest; 0 where it never fired on that side, (d_ff,)
    most: NDArray[np.float64]
    least: NDArray[np.float64]

    @property
    def never(self) -> int:
        """How many never fired."""
        return int((self.awake == 0).sum())


def overview(index: NeuronIndex, block: int, words_of: Callable[[str, int], str]) -> Overview:
    """A block's neurons.

    Args:
        index: of the network.
        block: from 0.
        words_of: the word that a text has at a token.
    """
    counts = index.by_number[block]
    d_ff = len(counts.texts)
    f1 = np.max([tag_f1(index, counts, side) for side in counts.sides], axis=0)
    best = f1.argmax(axis=0) if len(f1) else np.zeros(d_ff, dtype=int)
    words = (common_words(index, counts, neuron, words_of)[:WORDS] for neuron in range(d_ff))
    return Overview(
        counts.fired / index.n_tokens,
        counts.fired_texts / index.n_texts,
        tuple(index.tags[place] for place in best) if len(f1) else ("",) * d_ff,
        f1.max(axis=0, initial=0.0),
        tuple(", ".join(word for word, _ in each) for each in words),
        np.asarray(counts.mean, dtype=np.float64),
        np.array([counts.quantile(neuron, HIGH) for neuron in range(d_ff)]),
        counts.most,
        counts.least,
    )
