"""Neurons above zero on no token of a sentence."""

import numpy as np
from numpy.typing import NDArray

from ffnviz.models.trace import ForwardPass


def reached(trace: ForwardPass, block: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The share of neurons above zero on any of the first t tokens, and those that never are.

    Above zero means the same for every φ here: φ(x) > 0 exactly where x > 0. For a gated neuron
    the gate counts, as the sign of its hidden value also depends on what φ is multiplied with.

    Returns:
        The shares for t = 1 … T, (T,), and the indices of the neurons above zero on no token.
    """
    above = trace.blocks[block].ffn.above_zero  # (T, d_ff)
    so_far = (above.cumsum(dim=0) > 0).cpu().numpy()
    return so_far.mean(axis=-1), np.flatnonzero(~so_far[-1])
