"""Which neurons are active: the one definition, which all counts and sentences follow.

A neuron is active (awake, it fires) on a token where its hidden value is not zero, for a φ whose
zeros are exact, as ReLU's are; for any other φ, where it is further than 0.1 from zero, on either
side: GELU goes down to −0.17, tanh to −1, and the product of a gated FFN as far as it likes.
"""

from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.models.activations import ACTIVATIONS, Activation
from ffnviz.models.trace import ForwardPass

NEAR_ZERO = 0.1


@dataclass(frozen=True)
class Awake:
    """Neurons away from zero, token by token."""

    threshold: float  # beyond which a neuron is active
    counts: NDArray[np.int64]  # awake neurons of each token, (T,)
    d_ff: int  # neurons there are

    @property
    def shares(self) -> NDArray[np.float64]:
        """Share of neurons awake on each token, (T,), from 0 to 1."""
        return self.counts / self.d_ff

    @property
    def share(self) -> float:
        """Share of all values of the sentence that are awake, from 0 to 1."""
        return float(self.shares.mean())


def threshold_for(activation: str | Activation) -> float:
    """How far from zero "active" begins, for a φ or its name."""
    phi = activation if isinstance(activation, Activation) else ACTIVATIONS[activation]
    return 0.0 if phi.exact_zeros else NEAR_ZERO


@overload
def active(hidden: Tensor, threshold: float) -> Tensor: ...
@overload
def active(hidden: NDArray[np.floating], threshold: float) -> NDArray[np.bool_]: ...
def active(hidden: Tensor | NDArray[np.floating], threshold: float) -> Tensor | NDArray[np.bool_]:
    """Where hidden values, of any shape, are those of active neurons: True or False for each."""
    size: Any = abs(hidden)
    beyond: Tensor | NDArray[np.bool_] = size > threshold
    return beyond


def awake(trace: ForwardPass, block: int, threshold: float) -> Awake:
    """The active neurons of a block, for each token of a trace."""
    hidden = trace.blocks[block].ffn.hidden  # (T, d_ff)
    counts = active(hidden, threshold).sum(dim=-1).cpu().numpy()
    return Awake(threshold, counts, hidden.shape[-1])
