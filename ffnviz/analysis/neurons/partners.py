"""Which neurons fire together, from a sketch whose size does not depend on the number of pairs.

Every sampled token gets M signs of its own. A neuron's sketch is the sum of the signs of the tokens
on which it fires; the product of two is, on average, M times the number of tokens on which both
fire (Alon, Matias & Szegedy 1996, "The space complexity of approximating the frequency moments").

For the product, a token's signs are ones and zeros, packed three to a float32 with weights 1, 2⁸
and 2¹⁶. Few enough rows are multiplied at a time that each sum stays below 2⁸, and all below 2²⁴,
so that it is exact. Where a processor or a GPU multiplies so fast that unpacking would cost more,
signs are not packed; a bfloat16 holds whole numbers up to 2⁸, and the sketch is the same.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.models.device import cpu_has

M = 512  # signs per token
SAMPLED = 4  # one token in four
SHOWN = 8
SURE = 4.0  # standard errors above zero from which a partnership counts
MOST = 2**14  # neurons: all pairs of more would take too long
_ROWS = 1_024  # of the table of all pairs, at a time

_STEP, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Hash numbers by splitmix64 (Steele et al. 2014)."""
    with np.errstate(over="ignore"):
        z = numbers + np.uint64(_STEP)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(_FIRST)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(_SECOND)
        return np.asarray(z ^ (z >> np.uint64(31)))


def signs(places: NDArray[np.uint64]) -> tuple[NDArray[np.bool_], NDArray[np.int8]]:
    """Whether each token is sampled, (n,), and the signs of those that are, by their places."""
    seeds = mixed(places)
    sampled = seeds % np.uint64(SAMPLED) == 0
    words = np.arange(1, M // 64 + 1, dtype=np.uint64)
    bits = mixed(seeds[sampled][:, None] ^ (words * np.uint64(_STEP))[None])
    as_bytes = bits.astype("<u8").view(np.uint8).reshape(len(bits), M // 8)
    return sampled, np.unpackbits(as_bytes, axis=1).astype(np.int8) * 2 - 1


def partners(
    sketches: NDArray[np.int64], fired: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Each neuron's strongest partners, and how alike they fire, (SHOWN, d_ff) each.

    `sketches` is (d_ff, M), or (0, M) for more than MOST neurons; `fired`, (d_ff,), the number of
    sampled tokens on which each fired. −1 stands where there are no more that are surely partners;
    the estimated cosine is both / √(one · other), from 0 to 1.
    """
    d_ff, m = len(fired), sketches.shape[1]
    neurons = np.full((SHOWN, d_ff), -1, dtype=np.int32)
    alike = np.zeros((SHOWN, d_ff), dtype=np.float32)
    awake = np.flatnonzero(fired)  # a neuron that never fires has no partners
    if not len(sketches):
        return neurons, alike
    exact = sketches[awake].astype(np.float64)  # products below 2**53 are exact, in any order
    length = np.sqrt(fired[awake].astype(np.float64))
    for start in range(0, len(awake), _ROWS):
        rows = slice(start, min(start + _ROWS, len(awake)))
        cosine = exact[rows] @ exact.T / (m * length[rows, None] * length[None])
        cosine[np.arange(len(cosine)), np.arange(rows.start, rows.stop)] = -np.inf
        for neuron, row in zip(awake[rows], np.minimum(cosine, 1.0), strict=True):
            sure = np.flatnonzero(row > SURE / np.sqrt(m))
            best = sure[np.argsort(-row[sure], kind="stable")[:SHOWN]]
            neurons[: len(best), neuron] = awake[best]
            alike[: len(best), neuron] = row[best]
    return neurons, alike


WAITING = 2**8 - 1  # rows: sums of so many ones are below 2**8
EXACT = 2**24  # rows until sums are moved to int64
FIELDS, BITS = 3, 8  # sums in a float32, and the bits of each
COLUMNS = -(-(M + 1) // FIELDS)  # the signs, and a one that counts how often it fires


@dataclass(frozen=True)
class Signs:
    """The signs of some tokens."""

    plain: Tensor  # −1 and 1, (n, M)

    @cached_property
    def packed(self) -> Tensor:
        """The signs with 0 for −1, and a 1 behind them, packed three to a number, (n, COLUMNS)."""
        ones = torch.ones(len(self.plain), FIELDS * COLUMNS)
        ones[:, :M] = self.plain > 0
        weights = 2.0 ** (BITS * torch.arange(FIELDS))
        return (ones.view(-1, FIELDS, COLUMNS) * weights[:, None]).sum(dim=1)


class Sketching:
    """The sketches of one block's neurons; its memory does not grow."""

    def __init__(self, d_ff: int, device: torch.device) -> None:
        """Begin with empty sketches; those of more than partners.MOST neurons stay empty."""
        self._kept = d_ff if d_ff <= MOST else 0
        bfloat16 = device.type == "cpu" and cpu_has("amx_bf16")
        self._packs = device.type == "cpu" and not bfloat16
        kind = torch.bfloat16 if bfloat16 else torch.float32
        width = COLUMNS if self._packs else M
        shape = (FIELDS * COLUMNS if self._packs else M, self._kept)
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
        return 2 * sums[:, :M] - sums[:, M, None]
