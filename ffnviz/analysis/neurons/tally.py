"""What is counted batch by batch, added to in place: far less memory is moved than with parts.

All are whole numbers that a float32 or float64 holds exactly, so the part that is made of a tally
is the one that merging the batches' parts would give, to the bit.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.neurons import histogram
from ffnviz.analysis.neurons.index_part import (
    About,
    Batch,
    BlockPart,
    IndexPart,
    Strongest,
    about,
    stronger,
    used,
)
from ffnviz.analysis.neurons.of_batch import SMALL, strongest, sums
from ffnviz.analysis.neurons.sketching import Sketching

SUMS = ("by_position", "by_class", "texts", "by_tag", "low_texts", "low_by_tag", "both_texts",
        "total", "squares", "sampled")  # fmt: skip
TEXTS = 4_096  # kept before it is seen which of them are still somebody's example


@dataclass
class BlockTally:
    """One block's; the attributes are a BlockPart's, on the block's device."""

    sums: tuple[Tensor, ...]  # what SUMS names
    histogram: Tensor  # (d_ff, BINS)
    sketch: Sketching  # what becomes it
    # high, low: values, places, tokens of the side above zero, and of the one below
    high: Strongest
    low: Strongest

    def add(self, hidden: Tensor, traced: About, scratch: Tensor) -> None:
        """A batch's (B, T, d_ff); scratch are as many values, and two a token at least."""
        n_tokens, d_ff = hidden.shape[1:]
        (by_position, by_class, texts, by_tag, low_texts, low_by_tag, both_texts, total, squares,
         sampled) = self.sums  # fmt: skip
        flat, device = hidden.reshape(-1, d_ff), hidden.device
        peaks = [hidden.amax(dim=1)] + [-hidden.amin(dim=1)] * (len(self.low[0]) > 0)
        sides, tagged = (
            [(peak > traced.threshold).float() for peak in peaks],
            traced.tagged.to(device).mT,
        )
        for in_text, each, with_tag in zip(
            sides, (texts, low_texts), (by_tag, low_by_tag), strict=False
        ):
            each += in_text.sum(dim=0)
            with_tag += tagged @ in_text
        if len(sides) == 2:
            both_texts += (sides[0] * sides[1]).sum(dim=0)
        fires = scratch[: hidden.numel()].view(hidden.shape)
        for side, best, sign in zip((self.high, self.low), peaks, (1, -1), strict=False):
            _keep(side, hidden, best, sign, traced, fires)
        torch.abs(hidden, out=fires).gt_(traced.threshold)  # as `active` has it, in the same memory
        by_position[:n_tokens] += fires.sum(dim=0)
        flat_fires = fires.reshape(-1, d_ff)
        by_class += traced.is_class.to(device).mT @ flat_fires
        looked_at = flat_fires.index_select(0, traced.looked_at.to(device))
        sampled += looked_at.sum(dim=0)
        self.sketch.add(looked_at, traced.signs)
        low, high = (float(each) for each in torch.aminmax(flat))
        for whole, more in zip((total, squares), sums(flat, max(-low, high) < SMALL), strict=True):
            whole += more
        # What fires is counted by now: its memory serves once more.
        histogram.add_to(self.histogram, flat, scratch.view(torch.int32), not low >= 0)

    def part(self) -> BlockPart:
        """What there is by now."""
        sums = [each.to(torch.int64).cpu().numpy() for each in self.sums]
        parts = dict(zip(SUMS, sums, strict=True)) | {
            "histogram": self.histogram.cpu().numpy(), "sketch": self.sketch.total().cpu().numpy()
        }  # fmt: skip
        values, places, tokens = self.high
        low_values, low_places, low_tokens = self.low
        return BlockPart(
            **parts, values=values, places=places, tokens=tokens, low_values=low_values,
            low_places=low_places, low_tokens=low_tokens,
        )  # fmt: skip


def _keep(
    side: Strongest, hidden: Tensor, best: Tensor, sign: int, traced: About, scratch: Tensor
) -> None:
    """The strongest of one side, of those before and of a batch; of equals the earlier."""
    least = torch.from_numpy(side[0][-1]).to(hidden.device)
    columns, new = strongest(hidden, best, sign, traced.threshold, traced.places, least, scratch)
    if not len(columns):
        return
    values, places, tokens = side
    kept = stronger((values[:, columns], places[:, columns], tokens[:, columns]), new)
    values[:, columns], places[:, columns], tokens[:, columns] = kept


class Tally:
    """All blocks', and what was read."""

    def __init__(self, nothing: IndexPart, device: torch.device, threshold: float) -> None:
        """Begin with an empty part, of which the shapes are taken."""
        self._part, self._threshold = nothing, threshold
        self._texts: dict[int, str] = {}
        self._most_texts = TEXTS
        self._scratch = torch.empty(0, device=device)
        self._blocks = tuple(_empty(block, device) for block in nothing.blocks)
        self._at_position, self._of_class, self._with_tag = (
            each.copy() for each in (nothing.at_position, nothing.of_class, nothing.with_tag)
        )
        self._n_texts = self.n_tokens = 0

    def add(self, batch: Batch, hidden: Iterable[Tensor]) -> None:
        """A batch more; hidden is one a block, (B, T, d_ff)."""
        see = self.opened(batch)
        for each in hidden:
            see(each)

    def opened(self, batch: Batch) -> Callable[[Tensor], None]:
        """A batch more; what is returned is to be called with each block's (B, T, d_ff) in turn."""
        n_texts, n_tokens = batch.ids.shape
        traced, blocks = about(batch, self._threshold), iter(self._blocks)
        if len(self._texts) > self._most_texts:
            self._texts = self._used()
            self._most_texts = max(TEXTS, 2 * len(self._texts))
        self._at_position[:n_tokens] += n_texts
        self._of_class += traced.is_class.sum(dim=0).long().numpy()
        self._with_tag += batch.tagged.sum(dim=0).long().numpy()
        self._n_texts += n_texts
        self.n_tokens += n_texts * n_tokens
        self._texts |= zip(batch.places.tolist(), batch.texts, strict=True)

        def see(hidden: Tensor) -> None:
            size = max(hidden.numel(), 2 * n_texts * n_tokens)
            if self._scratch.numel() < size:
                self._scratch = torch.empty(size, device=hidden.device)
            next(blocks).add(hidden.float(), traced, self._scratch)

        return see

    def _used(self) -> dict[int, str]:
        return used(
            self._texts, [side[1] for block in self._blocks for side in (block.high, block.low)]
        )

    def part(self) -> IndexPart:
        """What there is by now."""
        return IndexPart(
            self._n_texts, self._at_position, self._of_class, self._with_tag, self._used(),
            tuple(block.part() for block in self._blocks),
        )  # fmt: skip


def _empty(like: BlockPart, device: torch.device) -> BlockTally:
    def zeros(values: NDArray[np.int64], dtype: torch.dtype = torch.float64) -> Tensor:
        return torch.zeros(values.shape, dtype=dtype, device=device)

    return BlockTally(
        tuple(zeros(getattr(like, name)) for name in SUMS), zeros(like.histogram, torch.int64),
        Sketching(like.sampled.shape[0], device),
        (like.values.copy(), like.places.copy(), like.tokens.copy()),
        (like.low_values.copy(), like.low_places.copy(), like.low_tokens.copy()),
    )  # fmt: skip


def counted(
    batch: Batch, hidden: Iterable[Tensor], threshold: float, nothing: IndexPart
) -> IndexPart:
    """A batch alone; see `Tally`."""
    tally = Tally(nothing, torch.device("cpu"), threshold)
    tally.add(batch, hidden)
    return tally.part()
