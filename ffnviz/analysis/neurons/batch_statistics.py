"""Sums and strongest examples of one batch's hidden values, on which an index spends its time."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.neurons.index_part import COARSE, EXAMPLES, FINE, NOWHERE, Strongest

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


def strongest(
    hidden: Tensor,
    best: Tensor,
    sign: int,
    threshold: float,
    places: NDArray[np.int64],
    least: Tensor,
    scratch: Tensor,
) -> tuple[NDArray[np.int64], Strongest]:
    """For each neuron that has any, the batch's candidates for its strongest examples of one side.

    Of equal values the earlier comes first: value and row make one unique key.

    Args:
        hidden: (B, T, d_ff).
        best: the largest of sign · hidden in each text, (B, d_ff).
        sign: 1 for the side above zero, −1 for the one below.
        threshold: a neuron fires where |hidden| is above it.
        places: of the texts, (B,).
        least: the value that a candidate must reach, (d_ff,).
        scratch: (B, T, d_ff), overwritten.

    Returns:
        The neurons, (c,), and their examples, (k, c) each.
    """
    wanted = (best > threshold) & (best >= least)
    columns = wanted.any(dim=0).nonzero().flatten()
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
    return columns.cpu().numpy(), (values.cpu().numpy(), where, tokens.cpu().numpy())


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
