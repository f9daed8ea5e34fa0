"""Neurons above zero on no token of a sentence."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ffnviz.models.trace import ForwardPass


@dataclass(frozen=True)
class Reached:
    """The neurons above zero at least once, as the sentence goes on."""

    # share of the neurons above zero on any of the first t tokens, for t = 1 … T, (T,)
    shares: NDArray[np.float64]
    never: NDArray[np.int64]  # indices of the neurons above zero on no token of the sentence


def reached(trace: ForwardPass, block: int) -> Reached:
    """Count the neurons of a block that are above zero at least once as the sentence goes on.

    This means the same for every φ here: φ(x) > 0 exactly where x > 0. For a gated neuron the gate
    counts, as the sign of its hidden value also depends on the value that φ is multiplied with.
    """
    above = trace.blocks[block].ffn.above_zero  # (T, d_ff)
    so_far = (above.cumsum(dim=0) > 0).cpu().numpy()
    return Reached(so_far.mean(axis=-1), np.flatnonzero(~so_far[-1]))
