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

from ffnviz.models.activations import Activation
from ffnviz.models.trace import ForwardPass

NEAR_ZERO = 0.1


@dataclass(frozen=True)
class Awake:
    """The number of active neurons on each token of a sentence."""

    threshold: float  # a neuron is active where |hidden| is above it
    counts: NDArray[np.int64]  # active neurons on each token, (T,)
    d_ff: int

    @property
    def shares(self) -> NDArray[np.float64]:
        """Share of neurons active on each token, (T,), from 0 to 1."""
        return self.counts / self.d_ff

    @property
    def share(self) -> float:
        """Share of the sentence's T × d_ff hidden values that are active, from 0 to 1."""
        return float(self.shares.mean())


def threshold_for(phi: Activation) -> float:
    """The |hidden| above which a neuron is active, for a φ."""
    return 0.0 if phi.exact_zeros else NEAR_ZERO


@overload
def active(hidden: Tensor, threshold: float) -> Tensor: ...
@overload
def active(hidden: NDArray[np.floating], threshold: float) -> NDArray[np.bool_]: ...
def active(hidden: Tensor | NDArray[np.floating], threshold: float) -> Tensor | NDArray[np.bool_]:
    """Whether each hidden value, in an array of any shape, is that of an active neuron."""
    magnitude: Any = abs(hidden)
    beyond: Tensor | NDArray[np.bool_] = magnitude > threshold
    return beyond


def awake(trace: ForwardPass, block: int, threshold: float) -> Awake:
    """Count the active neurons of a block on each token of a trace."""
    hidden = trace.blocks[block].ffn.hidden  # (T, d_ff)
    counts = active(hidden, threshold).sum(dim=-1).cpu().numpy()
    return Awake(threshold, counts, hidden.shape[-1])


def share_against_threshold(
    trace: ForwardPass, block: int, thresholds: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The share of a block's T × d_ff hidden values with |hidden| above each threshold, (n,).

    The thresholds, (n,), must rise and not be negative.
    """
    magnitudes = trace.blocks[block].ffn.hidden.abs().flatten().cpu().double().numpy()
    # A float64 threshold such as 0.1 lies between two float32 values: compare as float64 does.
    edges = [-1.0, *np.nextafter(thresholds, 9e9), np.inf]
    counts, _ = np.histogram(magnitudes, edges)
    return 1 - counts[:-1].cumsum() / magnitudes.size
