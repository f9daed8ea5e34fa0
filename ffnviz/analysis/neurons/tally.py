"""Counting batch by batch in place, which moves far less memory than merging parts.

All counts are whole numbers that a float32 or float64 holds exactly, so a tally gives the same
part, to the bit, as merging one for each batch.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.neurons import histogram
from ffnviz.analysis.neurons.batch_statistics import SMALL, strongest, sums
from ffnviz.analysis.neurons.index_part import (
    Batch,
    BlockPart,
    IndexPart,
    PreparedBatch,
    Strongest,
    prepare,
    stronger,
    used,
)
from ffnviz.analysis.neurons.sketching import Sketching

SUMS = ("by_position", "by_class", "texts", "by_tag", "low_texts", "low_by_tag", "both_texts",
        "total", "squares", "sampled")  # fmt: skip
TEXTS = 4_096  # kept before those that are no neuron's example any more are dropped


@dataclass
class BlockTally:
    """The counts of one block, on its device; the attributes are those of a BlockPart."""

    sums: tuple[Tensor, ...]  # the attributes that SUMS names
    histogram: Tensor  # (d_ff, BINS)
    sketch: Sketching
    # high, low: the examples above zero, and those below
    high: Strongest
    low: Strongest

    def add(self, hidden: Tensor, batch: PreparedBatch, scratch: Tensor) -> None:
        """Count a batch's (B, T, d_ff) values; scratch has as many, and at least two per token."""
        n_tokens, d_ff = hidden.shape[1:]
        (by_position, by_class, texts, by_tag, low_texts, low_by_tag, both_texts, total, squares,
         sampled) = self.sums  # fmt: skip
        flat, device = hidden.reshape(-1, d_ff), hidden.device
        peaks = [hidden.amax(dim=1)] + [-hidden.amin(dim=1)] * (len(self.low[0]) > 0)
        in_text = [(peak > batch.threshold).float() for peak in peaks]
        tagged = batch.tagged.to(device).mT
        by_side = zip(in_text, (texts, low_texts), (by_tag, low_by_tag), strict=False)
        for fired, n_texts, n_tagged in by_side:
            n_texts += fired.sum(dim=0)
            n_tagged += tagged @ fired
        if len(in_text) == 2:
            both_texts += (in_text[0] * in_text[1]).sum(dim=0)
        fires = scratch[: hidden.numel()].view(hidden.shape)
        for side, best, sign in zip((self.high, self.low), peaks, (1, -1), strict=False):
            _keep(side, hidden, best, sign, batch, fires)
        torch.abs(hidden, out=fires).gt_(batch.threshold)  # as `active`, in the same memory
        by_position[:n_tokens] += fires.sum(dim=0)
        flat_fires = fires.reshape(-1, d_ff)
        by_class += batch.is_class.to(device).mT @ flat_fires
        of_sample = flat_fires.index_select(0, batch.sampled.to(device))
        sampled += of_sample.sum(dim=0)
        self.sketch.add(of_sample, batch.signs)
        low, high = (float(extreme) for extreme in torch.aminmax(flat))
        of_batch = sums(flat, max(-low, high) < SMALL)
        total += of_batch[0]
        squares += of_batch[1]
        # The memory of `fires` is not needed any more, and is used again.
        histogram.add_to(self.histogram, flat, scratch.view(torch.int32), not low >= 0)

    def end(self) -> BlockPart:
        """The counts; each is given up here as it is converted, for they may be large."""
        left, self.sums = list(self.sums), ()
        sums = [left.pop(0).to(torch.int64).cpu().numpy() for _ in SUMS]
        values, places, tokens = self.high
        low_values, low_places, low_tokens = self.low
        return BlockPart(
            **dict(zip(SUMS, sums, strict=True)), histogram=self.histogram.cpu().numpy(),
            sketch=self.sketch.total().cpu().numpy(), values=values, places=places, tokens=tokens,
            low_values=low_values, low_places=low_places, low_tokens=low_tokens,
        )  # fmt: skip


def _keep(
    side: Strongest, hidden: Tensor, best: Tensor, sign: int, batch: PreparedBatch, scratch: Tensor
) -> None:
    """Update the strongest examples of one side with those of a batch."""
    least = torch.from_numpy(side[0][-1]).to(hidden.device)
    columns, new = strongest(hidden, best, sign, batch.threshold, batch.places, least, scratch)
    if not len(columns):
        return
    values, places, tokens = side
    kept = stronger((values[:, columns], places[:, columns], tokens[:, columns]), new)
    values[:, columns], places[:, columns], tokens[:, columns] = kept


class Tally:
    """The counts of all blocks and texts."""

    def __init__(self, empty: IndexPart, device: torch.device, threshold: float) -> None:
        """Begin with an empty part."""
        self._threshold = threshold
        self._texts: dict[int, str] = {}
        self._most_texts = TEXTS
        self._scratch = torch.empty(0, device=device)
        self._blocks = tuple(_empty(block, device) for block in empty.blocks)
        self._at_position, self._of_class, self._with_tag = (
            counts.copy() for counts in (empty.at_position, empty.of_class, empty.with_tag)
        )
        self._n_texts = self.n_tokens = 0

    def begin(self, batch: Batch) -> Callable[[Tensor], None]:
        """Begin a batch; the result is to be called with each block's (B, T, d_ff) in turn."""
        n_texts, n_tokens = batch.ids.shape
        prepared, blocks = prepare(batch, self._threshold), iter(self._blocks)
        if len(self._texts) > self._most_texts:
            self._texts = self._used()
            self._most_texts = max(TEXTS, 2 * len(self._texts))
        self._at_position[:n_tokens] += n_texts
        self._of_class += prepared.is_class.sum(dim=0).long().numpy()
        self._with_tag += batch.tagged.sum(dim=0).long().numpy()
        self._n_texts += n_texts
        self.n_tokens += n_texts * n_tokens
        self._texts |= zip(batch.places.tolist(), batch.texts, strict=True)

        def add_block(hidden: Tensor) -> None:
            size = max(hidden.numel(), 2 * n_texts * n_tokens)
            if self._scratch.numel() < size:
                self._scratch = torch.empty(size, device=hidden.device)
            next(blocks).add(hidden.float(), prepared, self._scratch)

        return add_block

    def _used(self) -> dict[int, str]:
        places = [side[1] for block in self._blocks for side in (block.high, block.low)]
        return used(self._texts, places)

    def end(self) -> IndexPart:
        """The counts of all batches; the tally is at its end."""
        return IndexPart(
            self._n_texts, self._at_position, self._of_class, self._with_tag, self._used(),
            tuple(block.end() for block in self._blocks),
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
