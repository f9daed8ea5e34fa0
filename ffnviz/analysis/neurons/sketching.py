"""Sketches (partners.py) of many batches: rows wait until a matrix product is worth it.

A product of so few rows is at most their number, and a bfloat16 holds whole numbers up to that; so
where a processor multiplies these faster it may, and the sketch is the same to the bit.
"""

import torch
from torch import Tensor

from ffnviz.analysis.neurons import partners

WAITING = 2**8  # rows; a bfloat16 holds whole numbers up to this
EXACT = 2**24  # and a float32 up to this


class Sketching:
    """One block's; its memory does not grow."""

    def __init__(self, d_ff: int, device: torch.device) -> None:
        """Begin with nothing; of more than partners.MOST neurons it stays so."""
        self._kept = d_ff if d_ff <= partners.MOST else 0
        shape, kind = (self._kept, partners.M), _kind(device)
        self._before = torch.zeros(shape, dtype=torch.int64, device=device)
        self._recent = torch.zeros(shape, device=device)  # of fewer than EXACT tokens
        self._fires = torch.empty(WAITING, self._kept, dtype=kind, device=device)
        self._signs = torch.empty(WAITING, partners.M, dtype=kind, device=device)
        self._n_waiting = self._n_recent = 0

    def add(self, fires: Tensor, signs: Tensor) -> None:
        """Tokens more: whether each neuron fires, (n, d_ff), and their signs, (n, M)."""
        if not self._kept:
            return
        done = 0
        while done < len(fires):
            rows = slice(done, done + WAITING - self._n_waiting)
            end = self._n_waiting + len(fires[rows])
            self._fires[self._n_waiting : end] = fires[rows]
            self._signs[self._n_waiting : end] = signs[rows]
            self._n_waiting, done = end, rows.stop
            if end == WAITING:
                self._multiply()

    def _multiply(self) -> None:
        n, self._n_waiting = self._n_waiting, 0
        self._n_recent += n
        if self._n_recent >= EXACT:
            self._before += self._recent.long()
            self._recent.zero_()
            self._n_recent = n
        self._recent += self._fires[:n].mT @ self._signs[:n]

    def total(self) -> Tensor:
        """What there is by now, (d_ff, M), or (0, M)."""
        if self._n_waiting:
            self._multiply()
        return self._before + self._recent.long()


def _kind(device: torch.device) -> torch.dtype:
    fast = device.type == "cpu" and torch.cpu.get_capabilities().get("amx_bf16", False)
    return torch.bfloat16 if fast else torch.float32
