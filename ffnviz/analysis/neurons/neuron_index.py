"""The index of neurons: what activates each of them on a set of texts."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.needs import Capability
from ffnviz.analysis.neurons import histogram
from ffnviz.analysis.neurons.counting import COARSE, EXAMPLES, FINE, NOWHERE, BlockPart, IndexPart
from ffnviz.analysis.neurons.gathering import Gatherer
from ffnviz.analysis.neurons.partners import partners
from ffnviz.analysis.neurons.probes import Probe
from ffnviz.models.network import Network


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


NEEDS: tuple[Capability, ...] = ()


@dataclass(frozen=True)
class NeuronIndex:
    """All neurons of a network on a set of texts.

    Examples:
        >>> index = ffnviz.read_index(ffnviz.load("relu").card.provenance.index)
        >>> index.numbers, index.both_sides, index.n_tokens > index.n_texts
        ((0, 1), False, True)
    """

    source: str  # of the texts
    threshold: float  # a neuron fires where |hidden| is above it
    n_texts: int
    at_position: NDArray[np.int64]  # tokens at each position, (n_positions,)
    of_class: NDArray[np.int64]  # tokens of each class, (n_classes,)
    tags: tuple[str, ...]  # all tags, sorted
    with_tag: NDArray[np.int64]  # texts with each tag, (n_tags,)
    texts: tuple[str, ...]  # the examples of any neuron
    blocks: tuple[BlockIndex, ...]  # those that were counted
    numbers: tuple[int, ...]  # of these blocks, from 0
    problems: Mapping[str, int] = field(default_factory=dict)  # of reading, with their counts
    network: str = ""  # its fingerprint; empty if unknown

    @property
    def both_sides(self) -> bool:
        """Whether values below zero count as firing, with examples of their own."""
        return len(self.blocks[0].low_values) > 0

    @property
    def n_tokens(self) -> int:
        """Tokens in all texts."""
        return int(self.at_position.sum())

    @property
    def by_number(self) -> Mapping[int, BlockIndex]:
        """The blocks by their numbers in the network, from 0."""
        return dict(zip(self.numbers, self.blocks, strict=True))

    def to_pandas(self, examples: bool = False) -> Any:
        """The index as a pandas.DataFrame.

        Args:
            examples: a row for each strongest example, with the levels block, neuron, side (1 above
                zero, −1 below) and rank (0 is the furthest), and the columns value, token (its
                place in the text) and text. Otherwise a row for each neuron, with the levels block
                and neuron: the tokens and texts on which it fired, and their shares of all; mean,
                deviation, 0.99 quantile, largest and lowest of its values; the tag with the highest
                F1, and that F1; the neuron that fires most like it (−1: none), with the cosine.

        Returns:
            Blocks × d_ff rows; of examples, at most 12 per neuron and side.

        Raises:
            ImportError: in a sentence, without pandas.
        """
        from ffnviz.analysis.neurons.index_tables import examples_table, neurons_table

        return examples_table(self) if examples else neurons_table(self)

    def save_table(self, path: Path | str, examples: bool = False) -> None:
        """Write the table of `to_pandas` as .csv or .parquet, with its levels as columns.

        Raises:
            ValueError: if the name ends otherwise.
            ImportError: in a sentence, without pandas.
            OSError: if it cannot be written.
        """
        from ffnviz.analysis.neurons.index_tables import check_format, write_table

        check_format(Path(path))
        write_table(self.to_pandas(examples), Path(path))


def finish(part: IndexPart, source: str, tags: tuple[str, ...], gatherer: Gatherer) -> NeuronIndex:
    """Make an index of the counts on all texts.

    Raises:
        ValueError: if there were no texts.
    """
    if not part.n_texts:
        raise ValueError("There are no texts to make an index of.")
    row_of = {place: row for row, place in enumerate(part.texts)}
    n_positions = int((part.at_position > 0).sum())
    return NeuronIndex(
        source, gatherer.threshold, part.n_texts, part.at_position[:n_positions], part.of_class,
        tags, part.with_tag, tuple(part.texts.values()),
        tuple(_finish(block, n_positions, part.n_tokens, row_of) for block in part.blocks),
        gatherer.blocks, dict(sorted(part.problems.items())), gatherer.network,
    )  # fmt: skip


def _finish(
    part: BlockPart, n_positions: int, n_tokens: int, row_of: Mapping[int, int]
) -> BlockIndex:
    mean = part.total / 2.0**FINE / n_tokens
    square = part.squares / 2.0**COARSE / n_tokens
    neurons, alike = partners(part.sketch, part.sampled)
    both = np.concatenate([part.places, part.low_places])
    places, inverse = np.unique(both, return_inverse=True)
    rows = np.array([row_of[place] if place != NOWHERE else 0 for place in places.tolist()])
    high, low = np.split(rows[inverse].reshape(both.shape).astype(np.int32), [len(part.places)])
    return BlockIndex(
        part.by_position[:n_positions], part.by_class, part.texts, part.by_tag, mean,
        np.sqrt(np.maximum(square - mean**2, 0.0)), part.histogram, part.values,
        high, part.tokens, neurons, alike, -part.low_values, low, part.low_tokens,
        part.low_texts, part.low_by_tag, part.both_texts,
    )  # fmt: skip


def build_index(
    model: Network,
    texts: Iterable[Probe],
    tags: tuple[str, ...],
    source: str,
    progress: Callable[[int], None] = lambda _tokens: None,
    blocks: Sequence[int] | None = None,
) -> NeuronIndex:
    """Run a network over any number of texts, read once, in this process.

    Long texts are cut into pieces. `progress` is called after each batch with the number of tokens
    done. `blocks` are counted from 0; by default all are indexed.

    Raises:
        ValueError: if there are no texts, or one has a tag that is not in `tags`.
    """
    gatherer = Gatherer(model, tags, blocks)
    part = gatherer.gather(texts, 0, progress)
    return finish(part, source, tags, gatherer)
