"""What wakes each neuron on a set of texts: what the counts come to, ready to be read."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.needs import Capability
from ffnviz.analysis.neurons.block_index import BlockIndex
from ffnviz.analysis.neurons.gathering import Gatherer
from ffnviz.analysis.neurons.index_part import COARSE, FINE, NOWHERE, BlockPart, IndexPart
from ffnviz.analysis.neurons.partners import partners
from ffnviz.analysis.neurons.probes import Probe
from ffnviz.models.network import Network

NEEDS: tuple[Capability, ...] = ()


@dataclass(frozen=True)
class NeuronIndex:
    """All neurons of a model on a set of texts."""

    source: str  # what the texts are
    threshold: float  # a neuron fires where hidden is further than this from zero
    n_texts: int  # how many texts
    at_position: NDArray[np.int64]  # tokens at each position, (n_positions,)
    of_class: NDArray[np.int64]  # tokens of each class, (n_classes,)
    tags: tuple[str, ...]  # all tags, sorted
    with_tag: NDArray[np.int64]  # texts with each, (n_tags,)
    texts: tuple[str, ...]  # those that are somebody's example
    blocks: tuple[BlockIndex, ...]  # one for each block that was looked at
    numbers: tuple[int, ...]  # which blocks those are, from 0
    # what could not be read as it stands, and how often
    problems: Mapping[str, int] = field(default_factory=dict)
    network: str = ""  # its fingerprint; empty if that is not known

    @property
    def both_sides(self) -> bool:
        """Whether values below zero were looked at for examples, and counted as firing."""
        return len(self.blocks[0].low_values) > 0

    @property
    def n_tokens(self) -> int:
        """Tokens in all texts."""
        return int(self.at_position.sum())

    @property
    def by_number(self) -> Mapping[int, BlockIndex]:
        """The blocks that were looked at, by their places in the network, from 0."""
        return dict(zip(self.numbers, self.blocks, strict=True))

    def to_pandas(self, examples: bool = False) -> Any:
        """The index as a pandas.DataFrame.

        Args:
            examples: a row for each strongest example, with the levels block, neuron, side (1 above
                zero, −1 below) and rank (0 is the furthest), and the columns value, token (its
                place in the text) and text. Otherwise a row for each neuron, with the levels block
                and neuron: on how many tokens and texts it fired and which share of all these are;
                mean, deviation, 0.99 quantile, most and least of its values; the tag it is most at
                home on, with F1; the neuron that fires most like it (−1: none), with the cosine.

        Returns:
            Blocks × d_ff rows; of examples, at most 12 a neuron and side.

        Raises:
            ImportError: in a sentence, without pandas.
        """
        from ffnviz.analysis.neurons.index_table import examples_table, neurons_table

        return examples_table(self) if examples else neurons_table(self)

    def save_table(self, path: Path | str, examples: bool = False) -> None:
        """Write what `to_pandas` gives as .csv or .parquet; its levels are columns there.

        Raises:
            ValueError: if the name has another ending.
            ImportError: in a sentence, without pandas.
            OSError: if it cannot be written.
        """
        from ffnviz.analysis.neurons.index_table import check_format, write_table

        check_format(Path(path))
        write_table(self.to_pandas(examples), Path(path))


def finish(part: IndexPart, source: str, tags: tuple[str, ...], gatherer: Gatherer) -> NeuronIndex:
    """What the counts of all texts come to.

    Raises:
        ValueError: if there were no texts.
    """
    if not part.n_texts:
        raise ValueError("There are no texts to make an index of.")
    place_of = {place: at for at, place in enumerate(part.texts)}
    n_positions = int((part.at_position > 0).sum())
    return NeuronIndex(
        source, gatherer.threshold, part.n_texts, part.at_position[:n_positions], part.of_class,
        tags, part.with_tag, tuple(part.texts.values()),
        tuple(_finish(block, n_positions, part.n_tokens, place_of) for block in part.blocks),
        gatherer.blocks, dict(sorted(part.problems.items())), gatherer.network,
    )  # fmt: skip


def _finish(
    part: BlockPart, n_positions: int, n_tokens: int, place_of: Mapping[int, int]
) -> BlockIndex:
    mean = part.total / 2.0**FINE / n_tokens
    square = part.squares / 2.0**COARSE / n_tokens
    who, alike = partners(part.sketch, part.sampled)
    both = np.concatenate([part.places, part.low_places])
    places, back = np.unique(both, return_inverse=True)
    at = np.array([place_of[place] if place != NOWHERE else 0 for place in places.tolist()])
    high, low = np.split(at[back].reshape(both.shape).astype(np.int32), [len(part.places)])
    return BlockIndex(
        part.by_position[:n_positions], part.by_class, part.texts, part.by_tag, mean,
        np.sqrt(np.maximum(square - mean**2, 0.0)), part.histogram, part.values,
        high, part.tokens, who, alike, -part.low_values, low, part.low_tokens,
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
    """One pass over texts, of which there may be any number, in this process.

    Args:
        model: whose neurons.
        texts: read once; longer ones are cut into pieces.
        tags: all that may occur.
        source: what the texts are, in a few words.
        progress: told after each batch how many tokens are done.
        blocks: which are looked at, from 0; all, if none are named.

    Raises:
        ValueError: if there are no texts, or one has a tag that is not in `tags`.
    """
    gatherer = Gatherer(model, tags, blocks)
    part = gatherer.gather(texts, 0, progress)
    return finish(part, source, tags, gatherer)
