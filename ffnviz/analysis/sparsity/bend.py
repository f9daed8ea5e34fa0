"""Where φ bends, and where a sentence's pre-activations land on its curve."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from ffnviz.models.activations import Activation
from ffnviz.models.trace import ForwardPass


@dataclass(frozen=True)
class Curve:
    """An activation function and its derivative."""

    x: NDArray[np.float32]  # (n,)
    value: NDArray[np.float32]  # φ(x), (n,)
    slope: NDArray[np.float32]  # φ′(x), (n,), by automatic differentiation


@dataclass(frozen=True)
class Landing:
    """A histogram of a block's pre-activations, and the shares that end up near zero."""

    edges: NDArray[np.float64]  # of the bins, (n + 1,)
    shares: NDArray[np.float64]  # share of the sentence's values in each bin, (n,); they sum to 1
    token_shares: NDArray[np.float64]  # the same for the chosen token alone, (n,)
    below_zero: float  # share of the pre-activations below zero, from 0 to 1
    near_zero: float  # share of the hidden values within the threshold of zero
    exactly_zero: float  # share of the hidden values that are 0


def curve(phi: Activation, low: float, high: float, n: int = 241) -> Curve:
    """φ and φ′ at n points from low to high; of a gated activation, its φ without the gate."""
    with torch.inference_mode(False), torch.enable_grad():
        x = torch.linspace(low, high, n, requires_grad=True)
        value = phi.function(x)
        (slope,) = torch.autograd.grad(value.sum(), x)
    return Curve(x.detach().numpy(), value.detach().numpy(), slope.numpy())


def value_range(trace: ForwardPass, block: int) -> tuple[float, float]:
    """A range in half units around the pre-activations of a block."""
    values = trace.blocks[block].ffn.pre_activation
    return np.floor(float(values.min()) * 2) / 2 - 0.5, np.ceil(float(values.max()) * 2) / 2 + 0.5


def landing(
    trace: ForwardPass, block: int, token: int, edges: NDArray[np.float64], threshold: float
) -> Landing:
    """A histogram of a block's pre-activations, (T, d_ff), and how many φ leaves near zero.

    All pre-activations must lie between the first and the last edge, (n + 1,). A hidden value is
    near zero where |hidden| is at most the threshold.
    """
    record = trace.blocks[block].ffn
    values = record.pre_activation.cpu().numpy()  # (T, d_ff)
    counts = np.histogram(values, edges)[0]
    token_counts = np.histogram(values[token], edges)[0]
    return Landing(
        edges,
        counts / values.size,
        token_counts / values.shape[1],
        float((values < 0).mean()),
        float((record.hidden.abs() <= threshold).float().mean()),
        float((record.hidden == 0).float().mean()),
    )
