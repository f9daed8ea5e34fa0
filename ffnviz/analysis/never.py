"""Neurons that a sentence never wakes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ffnviz.model.encoder import EncoderTrace


@dataclass(frozen=True)
class Reached:
    """Which neurons have been above zero, token after token.

    Attributes:
        shares: of all neurons, those above zero on any of the first t tokens, t = 1 … T, (T,).
        never: neurons above zero on no token of the sentence, by their numbers.
    """

    shares: NDArray[np.float64]
    never: NDArray[np.int64]


def reached(trace: EncoderTrace, block: int) -> Reached:
    """How many neurons of a block are above zero at least once as the sentence goes on.

    Above zero means the same for both twins: φ(x) > 0 where x > 0, for ReLU and GELU alike.
    """
    awake = trace.blocks[block].ffn.hidden > 0  # (T, d_ff)
    so_far = (awake.cumsum(dim=0) > 0).cpu().numpy()
    return Reached(so_far.mean(axis=-1), np.flatnonzero(~so_far[-1]))
