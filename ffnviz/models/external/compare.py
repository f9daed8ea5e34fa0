"""How far apart two tensors of a pass are, whatever shapes the network keeps them in."""

import math

import torch
from torch import Tensor

# The largest error that an equation may have, as a share of the largest value.
TOLERANCE = {torch.float64: 1e-9, torch.float32: 2e-5, torch.float16: 4e-3, torch.bfloat16: 2e-2}


def rows(values: Tensor) -> Tensor:
    """(…, width) -> (n, width): some networks flatten batch and tokens on the way."""
    return values.reshape(-1, values.shape[-1])


def wide(values: Tensor) -> Tensor:
    """The values in float32, or as they are if in float64; NumPy takes no bfloat16."""
    return values if values.dtype == torch.float64 else values.float()


def same(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors hold the same numbers, to the bit."""
    return a.numel() == b.numel() and torch.equal(a.reshape(-1), b.reshape(-1))


def error(values: Tensor, expected: Tensor, slack: Tensor | None = None) -> float:
    """The largest difference as a share of the largest expected value; infinite if sizes differ.

    `slack`, of the same size, is the difference that rounding alone may make; it is subtracted.
    """
    if values.numel() != expected.numel():
        return float("inf")
    a, b = wide(values).reshape(-1), wide(expected).reshape(-1)
    apart = (a - b).abs()
    if slack is not None:
        apart = (apart - wide(slack).reshape(-1)).clamp_min(0)
    largest = float(apart.max() / b.abs().max().clamp_min(1e-30))
    return float("inf") if math.isnan(largest) else largest


def best_multiple(values: Tensor, target: Tensor) -> float:
    """The s for which s · values is nearest to the target, by least squares."""
    return float((values * target).sum() / values.square().sum().clamp_min(1e-30))
