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

_MANTISSA, _BIAS = 23, 127
_ROWS = 16


def edges() -> NDArray[np.float64]:
    """The lower ends of all bins but the first, and so the upper ends of all but the last."""
    octaves = [2.0**e * step for e in range(LEAST, MOST) for step in (1.0, 1.5)]
    side = np.array([*octaves, 2.0**MOST])
    return np.concatenate([-side[::-1], side])


def counted(hidden: Tensor) -> Tensor:
    """How many of (n, d_ff) values of each neuron fall into each bin, (d_ff, BINS)."""
    d_ff = hidden.shape[1]
    values = hidden.float().contiguous()
    first = BINS * torch.arange(d_ff, dtype=torch.int32, device=hidden.device) + SIDE
    places = torch.empty(hidden.shape, dtype=torch.int32, device=hidden.device)
    # Some rows at a time stay in the processor's cache.
    for rows, place in zip(torch.split(values, _ROWS), torch.split(places, _ROWS), strict=True):
        # The exponent, and the half of the octave.
        torch.bitwise_right_shift(rows.abs().view(torch.int32), _MANTISSA - 1, out=place)
        place.sub_(2 * (LEAST + _BIAS) - 1).clamp_(0, SIDE).mul_(rows.sign().int()).add_(first)
    return torch.bincount(places.flatten(), minlength=BINS * d_ff).reshape(d_ff, BINS)


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
