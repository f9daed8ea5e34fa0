"""How a neuron's values are spread: counts in bins that never change, so that counts can be added.

A bin is a range of magnitudes of one sign, two an octave: [2ᵉ, 1.5·2ᵉ) and [1.5·2ᵉ, 2ᵉ⁺¹). They are
read off the bits of a float32, so the same value falls into the same bin on every machine.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

LEAST, MOST = -12, 12  # smaller than 2**LEAST counts as near zero; 2**MOST and more as one bin
SIDE = 2 * (MOST - LEAST) + 1  # bins of one sign
BINS = 2 * SIDE + 1  # negative from large to small, near zero, positive from small to large

_MANTISSA, _BIAS, _MAGNITUDE = 23, 127, 0x7FFFFFFF
_ROWS = 64


def edges() -> NDArray[np.float64]:
    """The lower ends of all bins but the first, and so the upper ends of all but the last."""
    octaves = [2.0**e * step for e in range(LEAST, MOST) for step in (1.0, 1.5)]
    side = np.array([*octaves, 2.0**MOST])
    return np.concatenate([-side[::-1], side])


def counted(hidden: Tensor) -> Tensor:
    """How many of (n, d_ff) values of each neuron fall into each bin, (d_ff, BINS)."""
    counts = torch.zeros(hidden.shape[1], BINS, dtype=torch.int64, device=hidden.device)
    add_to(counts, hidden, torch.empty(hidden.shape, dtype=torch.int32, device=hidden.device))
    return counts


def add_to(counts: Tensor, hidden: Tensor, scratch: Tensor, signed: bool = True) -> None:
    """Count values more.

    Args:
        counts: (d_ff, BINS), added to in place.
        hidden: the values, (n, d_ff).
        scratch: as many int32, which are written over.
        signed: whether any value may be below zero; without, it is faster.
    """
    d_ff, width = hidden.shape[1], SIDE + 1  # near zero, and the bins of one sign
    bits = hidden.float().contiguous().view(torch.int32)
    stride = 2 * width if signed else width
    first = stride * torch.arange(d_ff, dtype=torch.int32, device=hidden.device) + signed * width
    low = 2 * (LEAST + _BIAS) - 1  # exponent and half octave of what is near zero, at most
    # Some rows at a time stay in the processor's cache.
    for rows, place in zip(torch.split(bits, _ROWS), torch.split(scratch, _ROWS), strict=True):
        if signed:
            torch.bitwise_and(rows, _MAGNITUDE, out=place)
            place.bitwise_right_shift_(_MANTISSA - 1).clamp_(low, low + SIDE).sub_(low)
            place.bitwise_xor_(rows >> 31).add_(first)  # below zero, p becomes -1 - p
        else:
            torch.bitwise_right_shift(rows, _MANTISSA - 1, out=place)
            place.clamp_(low, low + SIDE).add_(first - low)
    found = torch.bincount(scratch.flatten(), minlength=stride * d_ff).reshape(d_ff, stride)
    counts[:, SIDE:] += found[:, -width:]
    if signed:
        counts[:, :width] += found[:, :width]


def quantile(counts: NDArray[np.integer], share: float) -> float:
    """The value that this share of one neuron's values does not exceed, to within its bin.

    Within a bin values count as evenly spread; a value near zero as 0, and one beyond the last
    edge as that edge.

    Args:
        counts: of one neuron, (BINS,).
        share: from 0 to 1.

    Raises:
        ValueError: if nothing was counted.
    """
    below = np.cumsum(counts)
    if not below[-1]:
        raise ValueError("There are no values to take a quantile of.")
    wanted = share * below[-1]
    place = int(np.searchsorted(below, wanted, side="left"))
    if place == SIDE:
        return 0.0
    ends = edges()
    low, high = ends[max(place - 1, 0)], ends[min(place, len(ends) - 1)]
    before = below[place] - counts[place]
    return float(low + (high - low) * (wanted - before) / max(int(counts[place]), 1))
