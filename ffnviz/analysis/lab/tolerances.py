"""The limits of chance: for a mean, for the signs of differences, and for a trend.

Bounds of rounding that no correct computation exceeds.

A sum of n products in floating point is off by at most γ_n = n·u / (1 − n·u) times the sum of the
products' magnitudes, in whatever order it is added (Higham 2002, *Accuracy and Stability of
Numerical Algorithms*, section 3.1); u is half the gap between 1 and the next number.
"""

import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ffnviz.analysis.lab.local_map import derivative
from ffnviz.models.activations import ACTIVATIONS
from ffnviz.models.encoder.feed_forward import FeedForward

AT_ONCE = 2**14  # weights: 128 kB
PHI_ROUNDINGS = 4  # for the arithmetic inside φ, relative to its argument or value


def gamma(n: int, dtype: torch.dtype) -> float:
    """γ_n for a floating-point type."""
    unit = torch.finfo(dtype).eps / 2
    return n * unit / (1 - n * unit)


def linear_bound(layer: nn.Linear, x: Tensor, error: Tensor | None = None) -> Tensor:
    """How far a layer's outputs may be off, (…, d_in) -> (…, d_out), for an x off by `error`."""
    share = gamma(layer.in_features + 1, x.dtype)
    rows = share * x.abs() if error is None else share * x.abs() + error
    # A copy of all weights would be 8 MB, which a server gets anew, and cleared, at every click.
    few = torch.split(layer.weight, max(1, AT_ONCE // layer.in_features))
    bound = torch.cat([rows @ weights.abs().mT for weights in few], dim=-1)
    if layer.bias is not None:
        bound = bound + share * layer.bias.abs()
    return bound


@torch.no_grad()
def ffn_bound(ffn: FeedForward, x: Tensor) -> Tensor:
    """How far two ways of computing a plain FFN may lie apart, (T, d_model)."""
    before = linear_bound(ffn.expand, x)
    pre_activation = ffn.expand(x)
    hidden = ffn.activation.function(pre_activation)
    size = torch.maximum(pre_activation.abs(), hidden.abs())  # a sigmoid is ½ at 0
    phi = ffn.activation
    steepest = phi.steepest
    if phi.name not in ACTIVATIONS:  # not ours: twice the largest slope at these values
        steepest = max(steepest, 2 * float(derivative(phi, pre_activation).abs().max()))
    after = steepest * before + PHI_ROUNDINGS * gamma(1, x.dtype) * size
    return 2 * linear_bound(ffn.compress, hidden, after)


def product_bound(factors: list[Tensor]) -> float:
    """How far a product of matrices may be off in its Frobenius norm.

    γ of all inner dimensions together, times the product of the norms (Higham 2002, section 3.7).
    """
    inner = sum(factor.shape[-1] + 1 for factor in factors)
    norms = torch.stack([factor.double().norm() for factor in factors])
    return gamma(inner, factors[0].dtype) * float(norms.prod())


FALSE_ALARM = 1e-3  # how often a true claim may be called false by chance


def strays() -> float:
    """The most standard errors that chance puts between a mean and its true value.

    By the normal distribution, which assumes many draws.
    """
    return float(torch.special.ndtri(torch.tensor(1 - FALSE_ALARM / 2, dtype=torch.float64)))


def agreed(differences: NDArray[np.float64]) -> str:
    """Why differences, one a draw, decide nothing: too few, or of both signs.

    Empty if they do. By the sign test: were both signs equally likely, all n would have the claimed
    one once in 2ⁿ times.
    """
    n, above = len(differences), int((differences > 0).sum())
    enough = math.ceil(-math.log2(FALSE_ALARM))
    if n < enough:
        return f"it takes {enough} draws that agree, and there {'is' if n == 1 else 'are'} {n}"
    return "" if above in (0, n) else f"it is so in {above} of {n} draws"


def trend_by_chance(n: int) -> int:
    """The largest S that n values in random order exceed less often than FALSE_ALARM.

    S is Kendall's: pairs that fall minus pairs that rise. Its distribution over all n! orders is
    that of the number of inversions (Kendall 1938), built here one value at a time.
    """
    orders = [1]  # orders[k]: the number of orders with k inversions
    for size in range(2, n + 1):
        orders = [sum(orders[max(0, k - size + 1) : k + 1]) for k in range(len(orders) + size - 1)]
    pairs, beyond = len(orders) - 1, 0
    for k in range(pairs, -1, -1):
        beyond += orders[k]
        if beyond > FALSE_ALARM * math.factorial(n):
            return 2 * k - pairs
    return -pairs
