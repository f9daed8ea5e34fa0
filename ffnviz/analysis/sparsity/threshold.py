"""How many hidden values are away from zero, as what counts as away grows."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ffnviz.models.trace import ForwardPass


@dataclass(frozen=True)
class ShareAgainstThreshold:
    """The share of a block's hidden values beyond each threshold."""

    thresholds: NDArray[np.float64]  # rising, (n,)
    # of the T × d_ff values with |hidden| above each, (n,), from 0 to 1
    shares: NDArray[np.float64]


def share_against_threshold(
    trace: ForwardPass, block: int, thresholds: NDArray[np.float64]
) -> ShareAgainstThreshold:
    """Shares for all thresholds at once; they must rise and not be negative."""
    sizes = trace.blocks[block].ffn.hidden.abs().flatten().cpu().numpy()
    # A float64 threshold such as 0.1 lies between two float32 values: compare as float64 does.
    counts = np.histogram(sizes.astype(np.float64), [-1.0, *np.nextafter(thresholds, 9e9), np.inf])
    return ShareAgainstThreshold(thresholds, 1 - counts[0][:-1].cumsum() / sizes.size)
