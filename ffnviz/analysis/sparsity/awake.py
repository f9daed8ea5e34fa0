"""How many neurons a token wakes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ffnviz.model.activations import ACTIVATIONS, Activation
from ffnviz.model.trace import ForwardPass

NEAR_ZERO = 0.1


@dataclass(frozen=True)
class Awake:
    """Neurons away from zero, token by token.

    Attributes:
        threshold: a neuron is awake where |hidden| is above this.
        counts: awake neurons of each token, (T,).
        d_ff: neurons there are.
    """

    threshold: float
    counts: NDArray[np.int64]
    d_ff: int

    @property
    def shares(self) -> NDArray[np.float64]:
        """Share of neurons awake on each token, (T,), from 0 to 1."""
        return self.counts / self.d_ff

    @property
    def share(self) -> float:
        """Share of all values of the sentence that are awake, from 0 to 1."""
        return float(self.shares.mean())


def threshold_for(activation: str | Activation) -> float:
    """Where "awake" begins for a φ or its name: a ReLU zero is exact, a GELU value only near."""
    phi = activation if isinstance(activation, Activation) else ACTIVATIONS[activation]
    return 0.0 if phi.exact_zeros else NEAR_ZERO


def awake(trace: ForwardPass, block: int, threshold: float) -> Awake:
    """The neurons of a block whose |hidden| is above the threshold, for each token of a trace."""
    hidden = trace.blocks[block].ffn.hidden  # (T, d_ff)
    counts = (hidden.abs() > threshold).sum(dim=-1).cpu().numpy()
    return Awake(threshold, counts, hidden.shape[-1])
