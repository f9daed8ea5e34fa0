"""Histograms of a neuron's values in fixed bins, so that counts can be added.

A bin is a range of magnitudes of one sign, two per octave: [2ᵉ, 1.5·2ᵉ) and [1.5·2ᵉ, 2ᵉ⁺¹). It is
read off the bits of a float32, so a value falls into the same bin on every machine.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

LEAST, MOST = -12, 12  # below 2**LEAST is near zero; 2**MOST and more is one bin
SIDE = 2 * (MOST - LEAST) + 1  # bins of one sign
BINS = 2 * SIDE + 1  # negative from large to small, near zero, positive from small to large

_MANTISSA, _BIAS = 23, 127
_SIGN = 9  # bits of exponent and half octave, below the sign bit
_MAGNITUDE = 2**_SIGN - 1
_COLUMNS = 512  # neurons at a time, so that the counts stay in the processor's cache


def edges() -> NDArray[np.float64]:
    """The lower ends of all bins but the first, and so the upper ends of all but the last."""
    octaves = [2.0**e * step for e in range(LEAST, MOST) for step in (1.0, 1.5)]
    side = np.array([*octaves, 2.0**MOST])
    return np.concatenate([-side[::-1], side])


def add_to(counts: Tensor, hidden: Tensor, scratch: Tensor, signed: bool = True) -> None:
    """Count more values, (n, d_ff), in counts, (d_ff, BINS); scratch has two int32 a row or more.

    Without values below zero, `signed` may be False, which is faster.
    """
    n, d_ff = hidden.shape
    bits = hidden.float().contiguous().view(torch.int32)
    tiles = scratch.flatten()
    columns = max(1, min(_COLUMNS, len(tiles) // max(2 * n, 1), d_ff))
    width = SIDE + 1  # near zero, and the bins of one sign
    stride = 2 * width if signed else width
    low = 2 * (LEAST + _BIAS) - 1  # the largest exponent and half octave of values near zero
    for start in range(0, d_ff, columns):
        some, counted = bits[:, start : start + columns], counts[start : start + columns]
        n_bins = stride * len(counted)  # of these neurons, one behind the other
        first = torch.arange(0, n_bins, stride, dtype=torch.int32, device=bits.device)
        places = tiles[: some.numel()].view(some.shape)
        torch.bitwise_right_shift(some, _MANTISSA - 1, out=places)
        if signed:
            signs = tiles[some.numel() : 2 * some.numel()].view(some.shape)
            torch.bitwise_right_shift(places, _SIGN, out=signs)  # -1 below zero, else 0
            places.bitwise_and_(_MAGNITUDE)
        places.clamp_(low, low + SIDE).add_(first - low)
        if signed:
            places.sub_(signs, alpha=width)
        tally = torch.bincount(places.flatten(), minlength=n_bins).reshape(len(counted), -1, width)
        counted[:, SIDE:] += tally[:, 0]
        if signed:
            counted[:, :width] += tally[:, 1].flip(1)


def quantile(counts: NDArray[np.integer], share: float) -> float:
    """The value that this share of one neuron's values does not exceed, of counts, (BINS,).

    Values count as evenly spread within their bin, near zero as 0, beyond the last edge as it.
    """
    below = np.cumsum(counts)
    if not below[-1]:
        raise ValueError("There are no values to take a quantile of.")
    wanted = share * below[-1]
    place = int(np.searchsorted(below, max(wanted, 0.5)))  # no empty bin, for a share of 0 either
    if place == SIDE:
        return 0.0
    ends = edges()
    low, high = ends[max(place - 1, 0)], ends[min(place, len(ends) - 1)]
    before = below[place] - counts[place]
    return float(low + (high - low) * (wanted - before) / max(int(counts[place]), 1))
