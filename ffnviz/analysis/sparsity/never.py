"""Neurons that are above zero on no token of a sentence."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ffnviz.models.trace import ForwardPass


@dataclass(frozen=True)
class Reached:
    """Which neurons have been above zero, token after token."""

    # of all neurons, those above zero on any of the first t tokens, t = 1 … T, (T,)
    shares: NDArray[np.float64]
    never: NDArray[np.int64]  # neurons above zero on no token of the sentence, by their numbers


def reached(trace: ForwardPass, block: int) -> Reached:
    """How many neurons of a block are above zero at least once as the sentence goes on.

    Above zero means the same for every φ here: φ(x) > 0 where x > 0. Of a gated neuron it is the
    gate that counts, as the sign of its hidden value is as much that of what φ is multiplied with.
    """
    above = trace.blocks[block].ffn.above_zero  # (T, d_ff)
    so_far = (above.cumsum(dim=0) > 0).cpu().numpy()
    return Reached(so_far.mean(axis=-1), np.flatnonzero(~so_far[-1]))
