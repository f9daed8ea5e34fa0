"""The limits of chance: for a mean, for the signs of differences, and for a trend."""

import math

import numpy as np
import torch
from numpy.typing import NDArray

FALSE_ALARM = 1e-3  # how often a true claim may be called false by chance


def strays(comparisons: int = 1, sides: int = 2) -> float:
    """The most standard errors that chance puts between a mean and its true value.

    By the normal distribution, which assumes many draws; over `comparisons` (Bonferroni).
    """
    tail = torch.tensor(1 - FALSE_ALARM / (sides * comparisons), dtype=torch.float64)
    return float(torch.special.ndtri(tail))


def agreed(differences: NDArray[np.float64], what: str = "draws") -> str:
    """Why differences, one for each of `what`, decide nothing: too few, or of both signs.

    Empty if they do. By the sign test: were both signs equally likely, all n would have the claimed
    one once in 2ⁿ times.
    """
    n, above = len(differences), int((differences > 0).sum())
    enough = math.ceil(-math.log2(FALSE_ALARM))
    if n < enough:
        return f"it takes {enough} {what} that agree, and there {'is' if n == 1 else 'are'} {n}"
    return "" if above in (0, n) else f"it is so in {above} of {n} {what}"


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
