"""Sketches (partners.py) over many batches: rows wait until a matrix product is worth it.

For the product, a token's signs are ones and zeros, packed three to a float32 with weights 1, 2⁸
and 2¹⁶. Few enough rows are multiplied at a time that each of the three sums stays below 2⁸, and
all together below 2²⁴: a float32 holds them exactly, and the product has a third of the columns.
Where a processor or a GPU multiplies so fast that unpacking would cost more, signs are multiplied
unpacked; a bfloat16 holds whole numbers up to 2⁸, and the sketch is the same to the bit.
"""

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from ffnviz.analysis.neurons import partners
from ffnviz.models.device import cpu_has

WAITING = 2**8 - 1  # rows: sums of so many ones are below 2**8
EXACT = 2**24  # rows until sums are moved to int64
FIELDS, BITS = 3, 8  # sums in a float32, and the bits of each
COLUMNS = -(-(partners.M + 1) // FIELDS)  # the signs, and a one that counts how often it fires


@dataclass(frozen=True)
class Signs:
    """The signs of some tokens."""

    plain: Tensor  # −1 and 1, (n, M)

    @cached_property
    def packed(self) -> Tensor:
        """The signs with 0 for −1, and a 1 behind them, packed three to a number, (n, COLUMNS)."""
        ones = torch.ones(len(self.plain), FIELDS * COLUMNS)
        ones[:, : partners.M] = self.plain > 0
        weights = 2.0 ** (BITS * torch.arange(FIELDS))
        return (ones.view(-1, FIELDS, COLUMNS) * weights[:, None]).sum(dim=1)


class Sketching:
    """The sketches of one block's neurons; its memory does not grow."""

    def __init__(self, d_ff: int, device: torch.device) -> None:
        """Begin with empty sketches; those of more than partners.MOST neurons stay empty."""
        self._kept = d_ff if d_ff <= partners.MOST else 0
        bfloat16 = device.type == "cpu" and cpu_has("amx_bf16")
        self._packs = device.type == "cpu" and not bfloat16
        kind = torch.bfloat16 if bfloat16 else torch.float32
        width = COLUMNS if self._packs else partners.M
        shape = (FIELDS * COLUMNS if self._packs else partners.M, self._kept)
        self._before = torch.zeros(shape, dtype=torch.int64, device=device)
        self._recent = torch.zeros(shape, dtype=torch.int32, device=device)  # of at most EXACT rows
        self._fires = torch.empty(WAITING, self._kept, dtype=kind, device=device)
        self._signs = torch.empty(WAITING, width, dtype=kind, device=device)
        self._n_waiting = self._n_recent = 0

    def add(self, fires: Tensor, signs: Signs) -> None:
        """Add tokens: whether each neuron fires on them, (n, d_ff), and their signs."""
        if not self._kept:
            return
        bits = signs.packed if self._packs else signs.plain.to(fires.device)
        done = 0
        while done < len(fires):
            rows = slice(done, done + WAITING - self._n_waiting)
            end = self._n_waiting + len(fires[rows])
            self._fires[self._n_waiting : end] = fires[rows]
            self._signs[self._n_waiting : end] = bits[rows]
            self._n_waiting, done = end, rows.stop
            if end == WAITING:
                self._multiply()

    def _multiply(self) -> None:
        n, self._n_waiting = self._n_waiting, 0
        self._n_recent += n
        if self._n_recent >= EXACT:
            self._before += self._recent
            self._recent.zero_()
            self._n_recent = n
        sums = (self._signs[:n].mT @ self._fires[:n]).to(torch.int32)
        if not self._packs:
            self._recent += sums
            return
        for field, own in enumerate(torch.split(self._recent, COLUMNS)):
            own += (sums >> BITS * field) & (2**BITS - 1)

    def total(self) -> Tensor:
        """The sketches so far, (d_ff, M) or (0, M)."""
        if self._n_waiting:
            self._multiply()
        sums = (self._before + self._recent).mT
        if not self._packs:
            return sums
        return 2 * sums[:, : partners.M] - sums[:, partners.M, None]
