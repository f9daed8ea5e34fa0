"""Counts on some of the texts: parts that can be added up in any order, with the same bits.

All sums are of whole numbers that a float32 or float64 holds exactly: each value is rounded once to
a multiple of 2⁻¹⁰, each square to one of 2⁻⁶. A tally counts batch by batch in place, which moves
far less memory than merging a part for each.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, reduce
from itertools import chain
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.neurons import histogram, partners
from ffnviz.analysis.neurons.partners import Signs, Sketching

EXAMPLES = 12
FINE, COARSE = 10, 6  # binary places of a value, and of a square
NOWHERE = np.int64(2**62)  # larger than any text's place

OF_SIDES = ("values", "places", "tokens", "low_values", "low_places", "low_tokens")
# of one side, (k, d_ff) each: values, places and tokens, as a BlockPart has them
Strongest = tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.int32]]


@dataclass(frozen=True)
class Batch:
    """Texts of one length that are counted together, and their places in the corpus."""

    texts: tuple[str, ...]  # B of them
    places: NDArray[np.int64]  # of each, unique and in the corpus's order, (B,)
    n_tokens: int  # of each, T
    tagged: Tensor  # whether a text has a tag, 1.0 or 0.0, (B, n_tags)
    is_class: Tensor  # whether a token is of a class, likewise, (B·T, n_classes)

    @cached_property
    def sample(self) -> tuple[Tensor, Signs]:
        """The tokens that go into the sketch, as rows of B·T, and their signs."""
        of_texts = partners.mixed(self.places.astype(np.uint64))
        of_tokens = np.add.outer(of_texts, np.arange(self.n_tokens, dtype=np.uint64)).ravel()
        is_sampled, signs = partners.signs(of_tokens)
        return torch.from_numpy(np.flatnonzero(is_sampled)), Signs(torch.from_numpy(signs))


@dataclass(frozen=True)
class BlockPart:
    """Counts of one block's neurons."""

    by_position: NDArray[np.int64]  # tokens at each position on which it fired, (n_positions, d_ff)
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

    @property
    def sides(self) -> tuple[Strongest, Strongest]:
        """The strongest examples above zero, and those below, in the order of OF_SIDES."""
        low = self.low_values, self.low_places, self.low_tokens
        return (self.values, self.places, self.tokens), low


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
        return (
            np.full((k, d_ff), -np.inf, dtype=np.float32),
            np.full((k, d_ff), NOWHERE),
            np.zeros((k, d_ff), dtype=np.int32),
        )

    block = BlockPart(
        zeros(n_positions, d_ff),
        zeros(n_classes, d_ff),
        zeros(d_ff),
        zeros(n_tags, d_ff),
        zeros(d_ff),
        zeros(n_tags if signed else 0, d_ff),
        zeros(d_ff),
        zeros(d_ff),
        zeros(d_ff),
        zeros(d_ff, histogram.BINS),
        zeros(d_ff if d_ff <= partners.MOST else 0, partners.M),
        zeros(d_ff),
        *no_examples(EXAMPLES),
        *no_examples(EXAMPLES if signed else 0),
    )
    return IndexPart(
        0, zeros(n_positions), zeros(n_classes), zeros(n_tags), {}, (block,) * n_blocks
    )


def merge(a: IndexPart, b: IndexPart) -> IndexPart:
    """Add two parts; the order in which parts are merged does not change a bit."""
    blocks = tuple(_merge(one, two) for one, two in zip(a.blocks, b.blocks, strict=True))
    examples = [side[1] for block in blocks for side in block.sides]
    return IndexPart(
        a.n_texts + b.n_texts,
        a.at_position + b.at_position,
        a.of_class + b.of_class,
        a.with_tag + b.with_tag,
        used({**a.texts, **b.texts}, examples),
        blocks,
        dict(Counter(a.problems) + Counter(b.problems)),
    )


def merged(parts: Sequence[IndexPart]) -> IndexPart:
    """The sum of at least one part."""
    return reduce(merge, parts)


def _merge(a: BlockPart, b: BlockPart) -> BlockPart:
    kept = chain(*map(stronger, a.sides, b.sides))
    best: dict[str, Any] = dict(zip(OF_SIDES, kept, strict=True))
    added = [each.name for each in fields(BlockPart) if each.name not in best]
    return BlockPart(**{name: getattr(a, name) + getattr(b, name) for name in added}, **best)


def stronger(a: Strongest, b: Strongest) -> Strongest:
    """The strongest examples of two sets, (k, n) each, of one side."""
    values, places = np.concatenate([a[0], b[0]]), np.concatenate([a[1], b[1]])
    tokens = np.concatenate([a[2], b[2]])
    order = np.lexsort((places, -values), axis=0)[:EXAMPLES]
    return (
        np.take_along_axis(values, order, axis=0),
        np.take_along_axis(places, order, axis=0),
        np.take_along_axis(tokens, order, axis=0),
    )


def used(texts: Mapping[int, str], places: Sequence[NDArray[np.int64]]) -> dict[int, str]:
    """The texts at these places, in their order."""
    in_order = np.unique(np.concatenate([[NOWHERE], *map(np.ravel, places)]))
    return {place: texts[place] for place in in_order[:-1].tolist()}


ROWS = 64  # tokens at a time
SMALL = (2.0 ** (24 - COARSE) / ROWS) ** 0.5  # a float32 holds ROWS squares of less exactly
FEW = 8  # a value picked out of a batch takes so many times as long as another


def sums(values: Tensor, small: bool) -> tuple[Tensor, Tensor]:
    """The sums of (n, d_ff) values and of their squares, in units of 2⁻ᶠᴵᴺᴱ and 2⁻ᶜᴼᴬᴿˢᴱ, (d_ff,).

    A product with a power of two is exact, so each value is rounded once. A float64 holds the sums
    of such whole numbers exactly; if all values are below SMALL, as nearly always, a float32 does
    too, and is faster. ROWS at a time stay in the processor's cache.
    """
    kind = torch.float32 if small else torch.float64
    total = torch.zeros(values.shape[1], dtype=torch.float64, device=values.device)
    squares = torch.zeros_like(total)
    scratch = torch.empty_like(values[:ROWS])
    for rows in torch.split(values, ROWS):
        buffer = scratch[: len(rows)]
        total += torch.mul(rows, 2.0**FINE, out=buffer).round_().sum(dim=0, dtype=kind)
        torch.mul(rows, rows, out=buffer)
        squares += buffer.mul_(2.0**COARSE).round_().sum(dim=0, dtype=kind)
    return total, squares


def keep_strongest(
    side: Strongest,
    hidden: Tensor,
    best: Tensor,
    sign: int,
    threshold: float,
    places: NDArray[np.int64],
    scratch: Tensor,
) -> None:
    """Update the strongest examples of one side, in place, with those of a batch.

    Of equal values the earlier comes first: value and row make one unique key.

    Args:
        side: the examples so far.
        hidden: (B, T, d_ff).
        best: the largest of sign · hidden in each text, (B, d_ff).
        sign: 1 for the side above zero, −1 for the one below.
        threshold: a neuron fires where |hidden| is above it.
        places: of the texts, (B,).
        scratch: (B, T, d_ff), overwritten.
    """
    known_values, known_places, known_tokens = side
    least = torch.from_numpy(known_values[-1]).to(hidden.device)  # that a candidate must reach
    wanted = (best > threshold) & (best >= least)
    columns = wanted.any(dim=0).nonzero().flatten()
    if not len(columns):
        return
    peaks, best = sign * best, best[:, columns]
    bits = best.view(torch.int32).to(torch.int64)
    ordered = torch.where(bits < 0, bits ^ 0x7FFFFFFF, bits)  # grows with the value
    rows = torch.arange(len(best), device=hidden.device)[:, None]
    keys = (ordered << 24) + (2**24 - 1 - rows)
    keys = torch.where(wanted[:, columns], keys, torch.iinfo(torch.int64).min + rows)
    chosen = keys.topk(min(EXAMPLES, len(best)), dim=0).indices
    is_wanted = wanted[:, columns].gather(0, chosen)
    values = torch.where(is_wanted, best.gather(0, chosen), -torch.inf)
    rank, column = is_wanted.nonzero(as_tuple=True)
    tokens = torch.zeros(chosen.shape, dtype=torch.int32, device=hidden.device)
    text, neuron = chosen[rank, column], columns[column]
    if FEW * len(rank) < wanted.numel():
        tokens[rank, column] = (sign * hidden[text, :, neuron]).argmax(dim=1).int()
    else:
        tokens[rank, column] = _first(hidden, peaks, scratch)[text, neuron].int()
    where = np.where(is_wanted.cpu().numpy(), places[chosen.cpu().numpy()], NOWHERE)
    new = values.cpu().numpy(), where, tokens.cpu().numpy()
    these = columns.cpu().numpy()
    known = known_values[:, these], known_places[:, these], known_tokens[:, these]
    kept = stronger(known, new)
    known_values[:, these], known_places[:, these], known_tokens[:, these] = kept


def _first(hidden: Tensor, peaks: Tensor, scratch: Tensor) -> Tensor:
    """The first token at which each text has its peak, (B, d_ff): much faster than argmax."""
    n_tokens = hidden.shape[1]
    left = torch.arange(n_tokens, 0, -1, dtype=hidden.dtype, device=hidden.device)[:, None]
    most = torch.empty_like(peaks)
    some = max(1, ROWS // n_tokens)
    for start in range(0, len(hidden), some):
        rows = slice(start, start + some)
        buffer = scratch[: len(peaks[rows])]
        torch.eq(hidden[rows], peaks[rows, None], out=buffer).mul_(left)
        torch.amax(buffer, dim=1, out=most[rows])
    return n_tokens - most


_OF_TEXTS = ("texts", "by_tag", "low_texts", "low_by_tag", "both_texts")
SUMS = ("by_position", "by_class", *_OF_TEXTS, "total", "squares", "sampled")
TEXTS = 4_096  # kept before those that are no longer a neuron's example are dropped


class BlockTally:
    """The counts of one block, on its device."""

    def __init__(self, empty: BlockPart, threshold: float, device: torch.device) -> None:
        """Begin with an empty part; a neuron fires where |hidden| is above the threshold."""
        self._threshold = threshold
        self._sums = [
            torch.zeros(getattr(empty, name).shape, dtype=torch.float64, device=device)
            for name in SUMS
        ]
        self._histogram = torch.zeros(empty.histogram.shape, dtype=torch.int64, device=device)
        self._sketch = Sketching(len(empty.sampled), device)
        self.sides: list[Strongest] = [
            (values.copy(), places.copy(), tokens.copy()) for values, places, tokens in empty.sides
        ]

    def add(self, hidden: Tensor, batch: Batch, scratch: Tensor) -> None:
        """Count a batch's (B, T, d_ff) values; scratch has as many, and at least two per token."""
        n_tokens, d_ff = hidden.shape[1:]
        by_position, by_class, *of_texts, total, squares, sampled = self._sums
        texts, by_tag, low_texts, low_by_tag, both_texts = of_texts
        flat, device = hidden.reshape(-1, d_ff), hidden.device
        peaks = [hidden.amax(dim=1)] + [-hidden.amin(dim=1)] * (len(self.sides[1][0]) > 0)
        in_text = [(peak > self._threshold).float() for peak in peaks]
        tagged = batch.tagged.to(device).mT
        by_side = zip(in_text, (texts, low_texts), (by_tag, low_by_tag), strict=False)
        for fired, n_texts, n_tagged in by_side:
            n_texts += fired.sum(dim=0)
            n_tagged += tagged @ fired
        if len(in_text) == 2:
            both_texts += (in_text[0] * in_text[1]).sum(dim=0)
        fires = scratch[: hidden.numel()].view(hidden.shape)
        for side, best, sign in zip(self.sides, peaks, (1, -1), strict=False):
            keep_strongest(side, hidden, best, sign, self._threshold, batch.places, fires)
        torch.abs(hidden, out=fires).gt_(self._threshold)  # as `active`, in the same memory
        by_position[:n_tokens] += fires.sum(dim=0)
        flat_fires = fires.reshape(-1, d_ff)
        by_class += batch.is_class.to(device).mT @ flat_fires
        sample, signs = batch.sample
        of_sample = flat_fires.index_select(0, sample.to(device))
        sampled += of_sample.sum(dim=0)
        self._sketch.add(of_sample, signs)
        low, high = (float(extreme) for extreme in torch.aminmax(flat))
        of_batch = sums(flat, max(-low, high) < SMALL)
        total += of_batch[0]
        squares += of_batch[1]
        # The memory of `fires` is not needed any more, and is used again.
        histogram.add_to(self._histogram, flat, scratch.view(torch.int32), not low >= 0)

    def end(self) -> BlockPart:
        """The counts; each is given up here as it is converted, for they may be large."""
        left, self._sums = self._sums, []
        sums = [left.pop(0).to(torch.int64).cpu().numpy() for _ in SUMS]
        best: dict[str, Any] = dict(zip(OF_SIDES, chain(*self.sides), strict=True))
        return BlockPart(
            **dict(zip(SUMS, sums, strict=True)),
            histogram=self._histogram.cpu().numpy(),
            sketch=self._sketch.total().cpu().numpy(),
            **best,
        )


class Tally:
    """The counts of all blocks and texts."""

    def __init__(self, empty: IndexPart, device: torch.device, threshold: float) -> None:
        """Begin with an empty part."""
        self._texts: dict[int, str] = {}
        self._most_texts = TEXTS
        self._scratch = torch.empty(0, device=device)
        self._blocks = [BlockTally(block, threshold, device) for block in empty.blocks]
        self._at_position, self._of_class, self._with_tag = (
            counts.copy() for counts in (empty.at_position, empty.of_class, empty.with_tag)
        )
        self._n_texts = self.n_tokens = 0

    def begin(self, batch: Batch) -> Callable[[Tensor], None]:
        """Begin a batch; the result is to be called with each block's (B, T, d_ff) in turn."""
        n_texts, n_tokens, blocks = len(batch.texts), batch.n_tokens, iter(self._blocks)
        if len(self._texts) > self._most_texts:
            self._texts = self._used()
            self._most_texts = max(TEXTS, 2 * len(self._texts))
        self._at_position[:n_tokens] += n_texts
        self._of_class += batch.is_class.sum(dim=0).long().numpy()
        self._with_tag += batch.tagged.sum(dim=0).long().numpy()
        self._n_texts += n_texts
        self.n_tokens += n_texts * n_tokens
        self._texts |= zip(batch.places.tolist(), batch.texts, strict=True)

        def add_block(hidden: Tensor) -> None:
            size = max(hidden.numel(), 2 * n_texts * n_tokens)
            if self._scratch.numel() < size:
                self._scratch = torch.empty(size, device=hidden.device)
            next(blocks).add(hidden.float(), batch, self._scratch)

        return add_block

    def _used(self) -> dict[int, str]:
        places = [side[1] for block in self._blocks for side in block.sides]
        return used(self._texts, places)

    def end(self) -> IndexPart:
        """The counts of all batches; the tally is at its end."""
        return IndexPart(
            self._n_texts,
            self._at_position,
            self._of_class,
            self._with_tag,
            self._used(),
            tuple(block.end() for block in self._blocks),
        )
