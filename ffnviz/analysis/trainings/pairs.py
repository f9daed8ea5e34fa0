"""Two variants compared seed by seed: the effect, its interval, and the sign test."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.trainings.table import Row

HIGHEST = 2.0**40  # of the quantiles looked for


@dataclass(frozen=True)
class Pairs:
    """Trainings of two variants, one of each from every seed."""

    seeds: tuple[int, ...]  # of the pairs, in order, (n,)
    losses: NDArray[np.float64]  # of the one variant and of the other, in nats, (2, n)
    parameters: tuple[int, int]  # how many each variant trains
    steps: int  # of each training

    @property
    def n(self) -> int:
        """How many pairs there are."""
        return len(self.seeds)

    @property
    def differences(self) -> NDArray[np.float64]:
        """The one's loss minus the other's, (n,)."""
        difference: NDArray[np.float64] = self.losses[0] - self.losses[1]
        return difference

    @property
    def effect(self) -> float:
        """The mean difference."""
        return float(self.differences.mean())

    def interval(self, missed: float) -> tuple[float, float]:
        """The confidence interval of the mean difference by the paired t-test, level 1 − missed.

        The differences are taken as normally distributed; one pair gives no bounds.
        """
        if self.n < 2:
            return -math.inf, math.inf
        error = float(self.differences.std(ddof=1)) / math.sqrt(self.n)
        reach = t_quantile(1 - missed / 2, self.n - 1) * error
        return self.effect - reach, self.effect + reach

    @property
    def higher(self) -> int:
        """The number of pairs in which the one's loss is the higher."""
        return int((self.differences > 0).sum())

    @property
    def sign_p(self) -> float:
        """The two-sided p of the sign test; ties are left out."""
        return sign_test(self.higher, int((self.differences != 0).sum()))


def pairs(rows: Sequence[Row], one: str, other: str) -> Pairs | None:
    """The trainings of two variants from the same seeds in as many steps; None if there are none.

    Of a table with trainings of several lengths, the length with most pairs.
    """
    trained = {(row.variant, row.steps, row.seed): row for row in rows}
    common: dict[int, list[int]] = {}
    for variant, steps, seed in trained:
        if variant == one and (other, steps, seed) in trained:
            common.setdefault(steps, []).append(seed)
    if not common:
        return None
    steps = max(common, key=lambda steps: (len(common[steps]), steps))
    seeds = tuple(sorted(common[steps]))
    both = [[trained[name, steps, seed] for seed in seeds] for name in (one, other)]
    return Pairs(
        seeds,
        np.array([[row.loss for row in each] for each in both]),
        (both[0][0].parameters, both[1][0].parameters),
        steps,
    )


def sign_test(above: int, n: int) -> float:
    """The exact two-sided p of `above` positive signs of n, were both signs equally likely."""
    tail = sum(math.comb(n, k) for k in range(min(above, n - above) + 1))
    return min(1.0, float(2 * tail / 2**n))


@cache
def t_quantile(share: float, freedom: int) -> float:
    """The quantile of Student's t for a share from ½ to 1."""
    low, high = 0.0, 1.0
    while t_below(high, freedom) < share and high < HIGHEST:
        low, high = high, 2 * high
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (middle, high) if t_below(middle, freedom) < share else (low, middle)
    return high


def t_below(t: float, freedom: int) -> float:
    """P(Student's t ≤ t) (Abramowitz & Stegun 1964, 26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(freedom))
    odd = freedom % 2
    term, total = (math.cos(angle) if odd else 1.0), 0.0
    for k in range(1 + odd, freedom, 2):  # cos, 2/3 cos³, …; or 1, 1/2 cos², 1·3/(2·4) cos⁴, …
        total += term
        term *= k / (k + 1) * math.cos(angle) ** 2
    total *= math.sin(angle)
    within = 2 / math.pi * (angle + total) if odd else total
    return (1 + within) / 2
