"""The index of neurons: what activates each on a set of texts, and which people can interpret."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.needs import Capability
from ffnviz.analysis.neurons import histogram
from ffnviz.analysis.neurons.counting import COARSE, EXAMPLES, FINE, NOWHERE, BlockPart, IndexPart
from ffnviz.analysis.neurons.descriptions import Description, Score
from ffnviz.analysis.neurons.gathering import Gatherer
from ffnviz.analysis.neurons.partners import partners
from ffnviz.analysis.neurons.probes import Probe
from ffnviz.models.config import optional
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

    by_position: NDArray[np.integer]  # tokens at each place on which it fired, (n_positions, d_ff)
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
    partners: NDArray[np.int32]  # those that fire most like it, (SHOWN, d_ff); −1: no more
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
        return above | ({-1: (self.low_texts, self.low_by_tag)} if len(self.low_values) else {})

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
        return examples_table(self) if examples else neurons_table(self)

    def save_table(self, path: Path | str, examples: bool = False) -> None:
        """Write the table of `to_pandas` as .csv or .parquet, with its levels as columns.

        Raises:
            ValueError: if the name ends otherwise.
            ImportError: in a sentence, without pandas.
            OSError: if it cannot be written.
        """
        check_format(Path(path))
        write_table(self.to_pandas(examples), Path(path))


def finish(part: IndexPart, source: str, tags: tuple[str, ...], gatherer: Gatherer) -> NeuronIndex:
    """Make an index of the counts on all texts."""
    if not part.n_texts:
        raise ValueError("There are no texts to make an index of.")
    row_of = {place: row for row, place in enumerate(part.texts)}
    n_positions = int((part.at_position > 0).sum())
    return NeuronIndex(
        source,
        gatherer.threshold,
        part.n_texts,
        part.at_position[:n_positions],
        part.of_class,
        tags,
        part.with_tag,
        tuple(part.texts.values()),
        tuple(_finish(block, n_positions, part.n_tokens, row_of) for block in part.blocks),
        gatherer.blocks,
        dict(sorted(part.problems.items())),
        gatherer.network,
    )


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
    """Run a network over any number of texts, read once, in this process; long ones are cut.

    `progress` is called after each batch with the number of tokens done. `blocks` are counted from
    0; by default all are indexed.
    """
    gatherer = Gatherer(model, tags, blocks)
    return finish(gatherer.gather(texts, 0, progress), source, tags, gatherer)


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
    """The neurons of a block that people can interpret best, each of another tag.

    By the F1 between firing and tag, times the share of its examples at its commonest words.
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
    """Each neuron's tag with the highest F1 on either side, or "", and that F1, (d_ff,), or 0."""
    f1 = np.max([tag_f1(index, counts, side) for side in counts.sides], axis=0)  # (n_tags, d_ff)
    best = f1.argmax(axis=0) if index.tags else []
    tags = [index.tags[row] for row in best] or [""] * f1.shape[1]
    return tags, f1.max(axis=0, initial=0.0)


def common_words(
    index: NeuronIndex, counts: BlockIndex, neuron: int, word_at: WordAt, side: int | None = None
) -> list[tuple[str, int]]:
    """The words at a neuron's examples, of both sides or one, with counts, the commonest first."""
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


WORDS_SHOWN = 4
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


def overview(index: NeuronIndex, block: int, word_at: WordAt) -> Overview:
    """All neurons of a block."""
    counts = index.by_number[block]
    neurons = range(len(counts.texts))
    tags, f1 = best_tags(index, counts)
    words = (common_words(index, counts, neuron, word_at)[:WORDS_SHOWN] for neuron in neurons)
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
                    str(block),
                    neuron,
                    "; ".join(texts),
                    network.card.id,
                    BY,
                    method=METHOD,
                    scores=scores,
                )


FORMATS = (".csv", ".parquet")
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # as `pictures/static` has them


def neurons_table(index: NeuronIndex) -> Any:
    """One row per neuron; see NeuronIndex.to_pandas."""
    pandas = optional("pandas", "A table")
    tables = []
    for number, block in index.by_number.items():
        neurons = range(block.values.shape[1])
        tags, f1 = best_tags(index, block)
        columns = {
            "tokens": block.fired,
            "tokens_share": block.fired / index.n_tokens,
            "texts": block.fired_texts,
            "texts_share": block.fired_texts / index.n_texts,
            "mean": block.mean.astype(np.float64),
            "deviation": block.deviation.astype(np.float64),
            f"quantile_{HIGH:g}": [block.quantile(neuron, HIGH) for neuron in neurons],
            "most": block.most,
            "least": block.least,
            "tag": np.array(tags, dtype=object),
            "tag_f1": f1,
            "partner": block.partners[0].astype(np.int64),
            "partner_cosine": block.alike[0].astype(np.float64),
        }
        rows = pandas.MultiIndex.from_product([[number], neurons], names=["block", "neuron"])
        tables.append(pandas.DataFrame(columns, rows))
    return pandas.concat(tables)


def examples_table(index: NeuronIndex) -> Any:
    """One row per example; see NeuronIndex.to_pandas."""
    pandas = optional("pandas", "A table")
    rows = [
        (number, neuron, side, rank, example.value, example.token, index.texts[example.text])
        for number, block in index.by_number.items()
        for neuron in range(block.values.shape[1])
        for side in block.sides
        for rank, example in enumerate(block.examples_of(neuron, side))
    ]
    names = ["block", "neuron", "side", "rank", "value", "token", "text"]
    return pandas.DataFrame(rows, columns=names).set_index(names[:4])


def check_format(path: Path) -> None:
    """Check that a table can be written to this path."""
    if path.suffix.lower() not in FORMATS:
        raise ValueError(f"{path}: give a name that ends in {' or '.join(FORMATS)}.")
    optional("pandas", "A table")


def write_table(table: Any, path: Path) -> None:
    """Write a table in the format that its name ends in, with its levels as columns."""
    plain = table.reset_index()
    if path.suffix.lower() == ".csv":
        texts = plain.select_dtypes(exclude="number").columns
        plain[texts] = plain[texts].map(_as_text)
        plain.to_csv(path, index=False)
    else:
        plain.to_parquet(path, index=False, engine="pyarrow")


def _as_text(value: Any) -> Any:
    """A cell that no spreadsheet takes for a formula: those begin with one of these signs."""
    return f"“{value}”" if isinstance(value, str) and value.startswith(FORMULA) else value
