"""What was counted on some of the texts: parts that can be added up in any order, to the bit.

All sums are of whole numbers. A value counts as a multiple of 2⁻¹⁰, a square as one of 2⁻⁶, each
rounded once; whatever is summed then, in whatever order, gives the same.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import reduce
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.neurons import histogram, partners

EXAMPLES = 12
FINE, COARSE = 10, 6  # binary places of a value, and of a square
ROWS = 64  # tokens whose values are worked on at a time
NOWHERE = np.int64(2**62)  # more than any place


@dataclass(frozen=True)
class Batch:
    """What is counted at once: texts of one length, and where they stand in the corpus.

    Attributes:
        texts: B of them.
        places: a number a text, which no other text has; it grows with the place in the corpus.
        ids: (B, T).
        tagged: whether a text has a tag, (B, n_tags).
        classes: of each token, (B, T).
        n_classes: how many there are.
    """

    texts: tuple[str, ...]
    places: NDArray[np.int64]
    ids: Tensor
    tagged: Tensor
    classes: Tensor
    n_classes: int


@dataclass(frozen=True)
class BlockPart:
    """One block's neurons.

    Attributes:
        by_position: tokens at each position on which a neuron fired, (n_positions, d_ff).
        by_class: tokens of each class on which it fired, (n_classes, d_ff).
        texts: texts in which it fired, (d_ff,).
        by_tag: of these, those with each tag, (n_tags, d_ff).
        total: the sum of its values, in units of 2⁻ᶠᴵᴺᴱ, (d_ff,).
        squares: of their squares, in units of 2⁻ᶜᴼᴬᴿˢᴱ, (d_ff,).
        histogram: its values by histogram.py's bins, (d_ff, BINS).
        sketch: its sketch by partners.py, (d_ff, M).
        sampled: how many of the tokens in the sketch it fired on, (d_ff,).
        values: its strongest value in each of its strongest texts, (EXAMPLES, d_ff), the strongest
            first and of equals the earlier; −inf where it fired in fewer.
        places: where these texts stand, (EXAMPLES, d_ff); NOWHERE likewise.
        tokens: at which of the text's tokens, (EXAMPLES, d_ff).
    """

    by_position: NDArray[np.int64]
    by_class: NDArray[np.int64]
    texts: NDArray[np.int64]
    by_tag: NDArray[np.int64]
    total: NDArray[np.int64]
    squares: NDArray[np.int64]
    histogram: NDArray[np.int64]
    sketch: NDArray[np.int64]
    sampled: NDArray[np.int64]
    values: NDArray[np.float32]
    places: NDArray[np.int64]
    tokens: NDArray[np.int32]


@dataclass(frozen=True)
class IndexPart:
    """All blocks', and what was read.

    Attributes:
        n_texts: how many.
        at_position: tokens at each position, (n_positions,).
        of_class: tokens of each class, (n_classes,).
        with_tag: texts with each tag, (n_tags,).
        texts: those that are somebody's example, by their places.
        blocks: one a block.
        problems: what could not be read as it stands, and how often.
    """

    n_texts: int
    at_position: NDArray[np.int64]
    of_class: NDArray[np.int64]
    with_tag: NDArray[np.int64]
    texts: Mapping[int, str]
    blocks: tuple[BlockPart, ...]
    problems: Mapping[str, int] = field(default_factory=dict)

    @property
    def n_tokens(self) -> int:
        """Tokens in all texts."""
        return int(self.at_position.sum())

    def add(self, batch: Batch, hidden: Iterable[Tensor], threshold: float) -> "IndexPart":
        """With a batch more; see `counted`."""
        return merge(self, counted(batch, hidden, threshold, len(self.at_position)))


def empty(n_blocks: int, d_ff: int, n_positions: int, n_classes: int, n_tags: int) -> IndexPart:
    """Nothing counted yet."""

    def zeros(*shape: int) -> NDArray[np.int64]:
        return np.zeros(shape, dtype=np.int64)

    block = BlockPart(
        zeros(n_positions, d_ff), zeros(n_classes, d_ff), zeros(d_ff), zeros(n_tags, d_ff),
        zeros(d_ff), zeros(d_ff), zeros(d_ff, histogram.BINS),
        zeros(d_ff if d_ff <= partners.MOST else 0, partners.M),
        zeros(d_ff), np.full((EXAMPLES, d_ff), -np.inf, dtype=np.float32),
        np.full((EXAMPLES, d_ff), NOWHERE), np.zeros((EXAMPLES, d_ff), dtype=np.int32),
    )  # fmt: skip
    return IndexPart(
        0, zeros(n_positions), zeros(n_classes), zeros(n_tags), {}, (block,) * n_blocks
    )


def counted(
    batch: Batch, hidden: Iterable[Tensor], threshold: float, n_positions: int
) -> IndexPart:
    """A batch alone.

    Args:
        batch: its texts.
        hidden: one a block, (B, T, d_ff).
        threshold: a neuron fires where hidden is above this.
        n_positions: how many positions are counted.
    """
    n_texts, n_tokens = batch.ids.shape
    of_texts = partners.mixed(batch.places.astype(np.uint64))
    of_tokens = np.add.outer(of_texts, np.arange(n_tokens, dtype=np.uint64)).ravel()
    looked_at, token_signs = partners.signs(of_tokens)
    is_class = torch.nn.functional.one_hot(batch.classes.flatten(), batch.n_classes).float()
    about = _About(
        batch.places, batch.tagged.float(), is_class, torch.from_numpy(np.flatnonzero(looked_at)),
        torch.from_numpy(token_signs), threshold, n_positions,
    )  # fmt: skip
    blocks = tuple(_block(each, about) for each in hidden)
    at_position = np.zeros(n_positions, dtype=np.int64)
    at_position[:n_tokens] = n_texts
    found = dict(zip(batch.places.tolist(), batch.texts, strict=True))
    return IndexPart(
        n_texts, at_position, is_class.sum(dim=0).long().numpy(),
        batch.tagged.sum(dim=0).long().numpy(), _used(found, blocks), blocks,
    )  # fmt: skip


@dataclass(frozen=True)
class _About:
    """What all blocks of a batch have in common."""

    places: NDArray[np.int64]
    tagged: Tensor
    is_class: Tensor
    looked_at: Tensor
    signs: Tensor
    threshold: float
    n_positions: int


def _block(hidden: Tensor, about: _About) -> BlockPart:
    n_tokens, d_ff = hidden.shape[1:]
    hidden, device = hidden.float(), hidden.device
    flat = hidden.reshape(-1, d_ff)
    # As float32, which holds whole numbers up to 2²⁴ exactly: a batch has fewer tokens.
    fires = (hidden > about.threshold).float()
    by_position = torch.zeros(about.n_positions, d_ff, device=device)
    by_position[:n_tokens] = fires.sum(dim=0)
    in_text = fires.amax(dim=1)  # (B, d_ff)
    fires = fires.reshape(-1, d_ff)
    sampled = fires[about.looked_at.to(device)]
    total, squares = _sums(flat)
    values, rows, tokens = _strongest(hidden, about.threshold)
    places = np.where(np.isfinite(values), about.places[rows], NOWHERE)
    sums = (
        by_position, about.is_class.to(device).mT @ fires, in_text.sum(dim=0),
        about.tagged.to(device).mT @ in_text, total, squares, histogram.counted(flat),
        partners.sketch(sampled, about.signs.to(device)), sampled.sum(dim=0),
    )  # fmt: skip
    whole: list[Any] = [each.to(torch.int64).cpu().numpy() for each in sums]
    tokens = np.where(np.isfinite(values), tokens, 0).astype(np.int32)
    return BlockPart(*[*whole, values, places, tokens])


def _sums(values: Tensor) -> tuple[Tensor, Tensor]:
    """The sums of (n, d_ff) values and of their squares, in units of 2⁻ᶠᴵᴺᴱ and 2⁻ᶜᴼᴬᴿˢᴱ, (d_ff,).

    A product with a power of two is exact, so each value is rounded once, and a float64 holds the
    sums of such whole numbers exactly. Some rows at a time stay in the processor's cache.
    """
    total = torch.zeros(values.shape[1], dtype=torch.float64, device=values.device)
    squares = torch.zeros_like(total)
    for rows in torch.split(values, ROWS):
        total += (rows * 2.0**FINE).round_().sum(dim=0, dtype=torch.float64)
        squares += (rows * rows).mul_(2.0**COARSE).round_().sum(dim=0, dtype=torch.float64)
    return total, squares


def _strongest(
    hidden: Tensor, threshold: float
) -> tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.int64]]:
    """Of each neuron the strongest texts in which it fires: values, rows, tokens, (k, d_ff).

    Of equal values the earlier comes first: value and row make one number, which no other has.
    """
    n_texts = len(hidden)
    best, at = hidden.max(dim=1)  # (B, d_ff)
    bits = best.view(torch.int32).to(torch.int64)
    ordered = torch.where(bits < 0, bits ^ 0x7FFFFFFF, bits)  # grows with the value
    rows = torch.arange(n_texts, device=hidden.device)[:, None]
    keys = (ordered << 24) + (2**24 - 1 - rows)
    keys = torch.where(best > threshold, keys, torch.iinfo(torch.int64).min + rows)
    chosen = keys.topk(min(EXAMPLES, n_texts), dim=0).indices
    found = best.gather(0, chosen)
    values = torch.where(found > threshold, found, -torch.inf).cpu().numpy()
    tokens = at.gather(0, chosen).cpu().numpy()
    missing = EXAMPLES - len(values)
    pad = ((0, missing), (0, 0))
    return (
        np.pad(values, pad, constant_values=-np.inf),
        np.pad(chosen.cpu().numpy(), pad),
        np.pad(tokens, pad),
    )


def merge(a: IndexPart, b: IndexPart) -> IndexPart:
    """Both together; in whatever order parts are merged, the same comes out, bit for bit."""
    blocks = tuple(_merge(one, two) for one, two in zip(a.blocks, b.blocks, strict=True))
    return IndexPart(
        a.n_texts + b.n_texts, a.at_position + b.at_position, a.of_class + b.of_class,
        a.with_tag + b.with_tag, _used({**a.texts, **b.texts}, blocks), blocks,
        dict(Counter(a.problems) + Counter(b.problems)),
    )  # fmt: skip


def merged(parts: Sequence[IndexPart]) -> IndexPart:
    """All of at least one."""
    return reduce(merge, parts)


def _merge(a: BlockPart, b: BlockPart) -> BlockPart:
    values = np.concatenate([a.values, b.values])
    places = np.concatenate([a.places, b.places])
    order = np.lexsort((places, -values), axis=0)[:EXAMPLES]
    best = [
        np.take_along_axis(both, order, axis=0)
        for both in (values, places, np.concatenate([a.tokens, b.tokens]))
    ]
    sums: list[Any] = [
        getattr(a, f.name) + getattr(b, f.name) for f in fields(BlockPart)[: -len(best)]
    ]
    return BlockPart(*sums, *best)


def _used(texts: Mapping[int, str], blocks: Sequence[BlockPart]) -> dict[int, str]:
    """Those that are somebody's example, in their order."""
    used = np.unique(np.concatenate([[NOWHERE], *(b.places.ravel() for b in blocks)]))
    return {place: texts[place] for place in used[:-1].tolist()}
