"""The index of one block: what activates each of its neurons."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.neurons import histogram
from ffnviz.analysis.neurons.index_part import EXAMPLES


@dataclass(frozen=True)
class Example:
    """A text in which a neuron fired.

    Examples:
        >>> index = ffnviz.read_index(ffnviz.load("relu").card.provenance.index)
        >>> example = index.by_number[1].examples_of(1709, side=1)[0]
        >>> example.value > 0, len(index.texts[example.text]) > 0
        (True, True)
    """

    value: float  # the neuron's furthest from zero in the text, on one side
    text: int  # its index in NeuronIndex.texts
    token: int  # the token of that value


@dataclass(frozen=True)
class BlockIndex:
    """What activates the neurons of one block.

    Examples:
        >>> index = ffnviz.read_index(ffnviz.load("relu").card.provenance.index)
        >>> block = index.by_number[1]
        >>> block.fired.shape, block.values.shape == block.examples.shape == block.tokens.shape
        ((2048,), True)
    """

    # tokens at each position on which a neuron fired, (n_positions, d_ff)
    by_position: NDArray[np.integer]
    by_class: NDArray[np.integer]  # tokens of each class on which it fired, (n_classes, d_ff)
    texts: NDArray[np.integer]  # texts in which it fired above zero at least once, (d_ff,)
    by_tag: NDArray[np.integer]  # of these, those with each tag, (n_tags, d_ff)
    mean: NDArray[np.float64]  # of its values on all tokens, (d_ff,)
    deviation: NDArray[np.float64]  # their standard deviation, (d_ff,)
    histogram: NDArray[np.integer]  # its values by the bins of histogram.py, (d_ff, BINS)
    # its largest value in each of the texts where that is largest, the largest first, (k, d_ff);
    # −inf where it fired above zero in fewer texts
    values: NDArray[np.float32]
    examples: NDArray[np.int32]  # these texts, as indices in NeuronIndex.texts, (k, d_ff)
    tokens: NDArray[np.int32]  # the token of that value in its text, (k, d_ff)
    # the neurons that fire most like it, (SHOWN, d_ff); −1 where there are no more
    partners: NDArray[np.int32]
    alike: NDArray[np.float32]  # the estimated cosine between its firing and theirs, (SHOWN, d_ff)
    # low_values, low_examples, low_tokens: the same for its lowest values, the lowest first; ∞
    # where it fired below zero in fewer texts, (0, d_ff) where that was not counted
    low_values: NDArray[np.float32]
    low_examples: NDArray[np.int32]
    low_tokens: NDArray[np.int32]
    low_texts: NDArray[np.integer]  # texts in which it fired below zero at least once, (d_ff,)
    low_by_tag: NDArray[np.integer]  # of these, those with each tag, (n_tags, d_ff) or (0, d_ff)
    both_texts: NDArray[np.integer]  # texts in which it fired on both sides, (d_ff,)

    @property
    def fired_texts(self) -> NDArray[np.int64]:
        """Texts in which each neuron fired at least once, (d_ff,)."""
        return np.asarray(self.texts.astype(np.int64) + self.low_texts - self.both_texts)

    @property
    def sides(self) -> dict[int, tuple[NDArray[np.integer], NDArray[np.integer]]]:
        """`texts` and `by_tag` of each side that was counted: 1 is above zero, −1 below."""
        above = {1: (self.texts, self.by_tag)}
        below = {-1: (self.low_texts, self.low_by_tag)}
        return above | (below if len(self.low_values) else {})

    @property
    def most(self) -> NDArray[np.float64]:
        """The largest value at which each neuron fired above zero, (d_ff,); 0 if it never did."""
        return np.asarray(self.values.max(axis=0, initial=0.0), np.float64)

    @property
    def least(self) -> NDArray[np.float64]:
        """The lowest value at which each neuron fired below zero, (d_ff,); 0 if it never did."""
        return np.asarray(self.low_values.min(axis=0, initial=0.0), np.float64)

    def examples_of(self, neuron: int, side: int) -> list[Example]:
        """A neuron's examples of one side, 1 above zero and −1 below, the furthest first."""
        values, texts, tokens = {
            1: (self.values, self.examples, self.tokens),
            -1: (self.low_values, self.low_examples, self.low_tokens),
        }[side]
        return [
            Example(float(values[k, neuron]), int(texts[k, neuron]), int(tokens[k, neuron]))
            for k in np.flatnonzero(side * values[:, neuron] > 0)
        ]

    def strongest(self, neuron: int, at_least: int = 0) -> tuple[Example, ...]:
        """The examples in which a neuron is furthest from zero on either side, the furthest first.

        Args:
            neuron: within the block.
            at_least: of each side to include, if there are as many.
        """
        high, low = (self.examples_of(neuron, side) for side in (1, -1))
        included = high[:at_least] + low[:at_least]
        others = sorted(high[at_least:] + low[at_least:], key=lambda each: -abs(each.value))
        best = included + others[: EXAMPLES - len(included)]
        return tuple(sorted(best, key=lambda each: -abs(each.value)))

    @property
    def fired(self) -> NDArray[np.int64]:
        """Tokens on which each neuron fired, (d_ff,)."""
        return np.asarray(self.by_position.sum(axis=0, dtype=np.int64))

    def quantile(self, neuron: int, share: float) -> float:
        """The value that this share of a neuron's values does not exceed, to within its bin."""
        return histogram.quantile(self.histogram[neuron], share)
