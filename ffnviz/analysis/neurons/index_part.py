"""Counts on some of the texts: parts that can be added up in any order, with the same bits.

All sums are of whole numbers: each value is rounded once to a multiple of 2⁻¹⁰, each square to one
of 2⁻⁶, and the order of their sums makes no difference.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import reduce
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.neurons import histogram, partners
from ffnviz.analysis.neurons.sketching import Signs

EXAMPLES = 12
FINE, COARSE = 10, 6  # binary places of a value, and of a square
NOWHERE = np.int64(2**62)  # larger than any text's place

# of one side, (k, d_ff) each: values, places and tokens, as a BlockPart has them
Strongest = tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.int32]]


@dataclass(frozen=True)
class Batch:
    """Texts of one length that are counted together, and their places in the corpus."""

    texts: tuple[str, ...]  # B of them
    places: NDArray[np.int64]  # of each, unique and in the corpus's order, (B,)
    ids: Tensor  # (B, T)
    tagged: Tensor  # whether a text has a tag, (B, n_tags)
    classes: Tensor  # of each token, (B, T)
    n_classes: int


@dataclass(frozen=True)
class BlockPart:
    """Counts of one block's neurons."""

    # tokens at each position on which a neuron fired, (n_positions, d_ff)
    by_position: NDArray[np.int64]
    by_class: NDArray[np.int64]  # tokens of each class on which it fired, (n_classes, d_ff)
    texts: NDArray[np.int64]  # texts in which it fired above zero, (d_ff,)
    by_tag: NDArray[np.int64]  # of these, those with each tag, (n_tags, d_ff)
    low_texts: NDArray[np.int64]  # texts in which it fired below zero, (d_ff,)
    low_by_tag: NDArray[np.int64]  # of these, those with each tag, (n_tags, d_ff) or (0, d_ff)
    both_texts: NDArray[np.int64]  # texts in which it fired on both sides, (d_ff,)
    total: NDArray[np.int64]  # the sum of its values, in units of 2⁻ᶠᴵᴺᴱ, (d_ff,)
    squares: NDArray[np.int64]  # of their squares, in units of 2⁻ᶜᴼᴬᴿˢᴱ, (d_ff,)
    histogram: NDArray[np.int64]  # its values by histogram.py's bins, (d_ff, BINS)
    sketch: NDArray[np.int64]  # its sketch by partners.py, (d_ff, M)
    sampled: NDArray[np.int64]  # the tokens of the sketch on which it fired, (d_ff,)
    # its strongest examples: the largest value in each of the texts where that is largest, the
    # largest first, of equals the earlier; −inf where it fired in fewer texts, (EXAMPLES, d_ff)
    values: NDArray[np.float32]
    places: NDArray[np.int64]  # of these texts, (EXAMPLES, d_ff); NOWHERE likewise
    tokens: NDArray[np.int32]  # the token of that value in its text, (EXAMPLES, d_ff)
    # low_values, low_places, low_tokens: the same for the negated values, so the furthest below
    # zero; (0, d_ff) where hidden cannot be below zero
    low_values: NDArray[np.float32]
    low_places: NDArray[np.int64]
    low_tokens: NDArray[np.int32]


@dataclass(frozen=True)
class IndexPart:
    """Counts of all blocks and texts."""

    n_texts: int
    at_position: NDArray[np.int64]  # tokens at each position, (n_positions,)
    of_class: NDArray[np.int64]  # tokens of each class, (n_classes,)
    with_tag: NDArray[np.int64]  # texts with each tag, (n_tags,)
    texts: Mapping[int, str]  # the examples of any neuron, by their places
    blocks: tuple[BlockPart, ...]
    problems: Mapping[str, int] = field(default_factory=dict)  # of reading, with their counts

    @property
    def n_tokens(self) -> int:
        """Tokens in all texts."""
        return int(self.at_position.sum())


def empty(
    n_blocks: int, d_ff: int, n_positions: int, n_classes: int, n_tags: int, signed: bool
) -> IndexPart:
    """A part without any text; signed: whether hidden can be below zero."""

    def zeros(*shape: int) -> NDArray[np.int64]:
        return np.zeros(shape, dtype=np.int64)

    def no_examples(k: int) -> Strongest:
        return (np.full((k, d_ff), -np.inf, dtype=np.float32), np.full((k, d_ff), NOWHERE),
                np.zeros((k, d_ff), dtype=np.int32))  # fmt: skip

    block = BlockPart(
        zeros(n_positions, d_ff), zeros(n_classes, d_ff), zeros(d_ff), zeros(n_tags, d_ff),
        zeros(d_ff), zeros(n_tags if signed else 0, d_ff), zeros(d_ff), zeros(d_ff), zeros(d_ff),
        zeros(d_ff, histogram.BINS), zeros(d_ff if d_ff <= partners.MOST else 0, partners.M),
        zeros(d_ff), *no_examples(EXAMPLES), *no_examples(EXAMPLES if signed else 0),
    )  # fmt: skip
    return IndexPart(
        0, zeros(n_positions), zeros(n_classes), zeros(n_tags), {}, (block,) * n_blocks
    )


@dataclass(frozen=True)
class PreparedBatch:
    """What a batch's blocks have in common."""

    places: NDArray[np.int64]  # of its texts, (B,)
    tagged: Tensor  # (B, n_tags)
    is_class: Tensor  # whether a token is of a class, (B·T, n_classes)
    sampled: Tensor  # the tokens that go into the sketch, as rows of B·T
    signs: Signs  # of these tokens
    threshold: float  # a neuron fires where |hidden| is above it


def prepare(batch: Batch, threshold: float) -> PreparedBatch:
    """Compute what follows from a batch's texts alone."""
    of_texts = partners.mixed(batch.places.astype(np.uint64))
    of_tokens = np.add.outer(of_texts, np.arange(batch.ids.shape[1], dtype=np.uint64)).ravel()
    is_sampled, token_signs = partners.signs(of_tokens)
    is_class = torch.nn.functional.one_hot(batch.classes.flatten(), batch.n_classes).float()
    return PreparedBatch(
        batch.places, batch.tagged.float(), is_class, torch.from_numpy(np.flatnonzero(is_sampled)),
        Signs(torch.from_numpy(token_signs)), threshold,
    )  # fmt: skip


def merge(a: IndexPart, b: IndexPart) -> IndexPart:
    """Add two parts; the order in which parts are merged does not change a bit."""
    blocks = tuple(_merge(one, two) for one, two in zip(a.blocks, b.blocks, strict=True))
    examples = [places for block in blocks for places in (block.places, block.low_places)]
    return IndexPart(
        a.n_texts + b.n_texts, a.at_position + b.at_position, a.of_class + b.of_class,
        a.with_tag + b.with_tag, used({**a.texts, **b.texts}, examples), blocks,
        dict(Counter(a.problems) + Counter(b.problems)),
    )  # fmt: skip


def merged(parts: Sequence[IndexPart]) -> IndexPart:
    """The sum of at least one part."""
    return reduce(merge, parts)


def _merge(a: BlockPart, b: BlockPart) -> BlockPart:
    best: list[Any] = [
        *stronger((a.values, a.places, a.tokens), (b.values, b.places, b.tokens)),
        *stronger((a.low_values, a.low_places, a.low_tokens),
                  (b.low_values, b.low_places, b.low_tokens)),
    ]  # fmt: skip
    sums: list[Any] = [
        getattr(a, f.name) + getattr(b, f.name) for f in fields(BlockPart)[: -len(best)]
    ]
    return BlockPart(*sums, *best)


def stronger(a: Strongest, b: Strongest) -> Strongest:
    """The strongest examples of two sets, (k, n) each, of one side."""
    values, places = np.concatenate([a[0], b[0]]), np.concatenate([a[1], b[1]])
    tokens = np.concatenate([a[2], b[2]])
    order = np.lexsort((places, -values), axis=0)[:EXAMPLES]
    return (np.take_along_axis(values, order, axis=0), np.take_along_axis(places, order, axis=0),
            np.take_along_axis(tokens, order, axis=0))  # fmt: skip


def used(texts: Mapping[int, str], places: Sequence[NDArray[np.int64]]) -> dict[int, str]:
    """The texts at these places, in their order."""
    in_order = np.unique(np.concatenate([[NOWHERE], *map(np.ravel, places)]))
    return {place: texts[place] for place in in_order[:-1].tolist()}
