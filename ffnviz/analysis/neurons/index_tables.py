"""A neuron index as a pandas table of its neurons, or of their strongest examples.

Neurons that mean something to people: rare, active on one tag, and on few words.

All neurons of a block as rows of a table, and as descriptions of our own.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.neurons.descriptions import Description, Score
from ffnviz.analysis.neurons.neuron_index import BlockIndex, NeuronIndex
from ffnviz.models.config import lacking
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

    @property
    def never(self) -> int:
        """The number of neurons that never fired."""
        return int((self.awake == 0).sum())


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
                    str(block), neuron, "; ".join(texts), network.card.id, BY,
                    method=METHOD, scores=scores,
                )  # fmt: skip


FORMATS = (".csv", ".parquet")
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # as `pictures/static` has them


def neurons_table(index: NeuronIndex) -> Any:
    """One row per neuron; see NeuronIndex.to_pandas."""
    pandas = _pandas()
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
    pandas = _pandas()
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
    """Check that a table can be written to this path.

    Raises:
        ValueError: if it ends in neither .csv nor .parquet.
        ImportError: in a sentence, without pandas.
    """
    if path.suffix.lower() not in FORMATS:
        raise ValueError(f"{path}: a table ends in {' or '.join(FORMATS)}.")
    _pandas()


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


def _pandas() -> Any:
    try:
        import pandas  # type: ignore[import-untyped]
    except ImportError as error:
        raise lacking("A table", "pandas") from error
    return pandas
