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
    """Trainings that differ in one thing only, and each pair in its seed.

    Attributes:
        seeds: of the pairs, in order, (n,).
        losses: of the one and of the other, in nats, (2, n).
        parameters: how many each trains.
        steps: of each training.
    """

    seeds: tuple[int, ...]
    losses: NDArray[np.float64]
    parameters: tuple[int, int]
    steps: int

    @property
    def n(self) -> int:
        """How many pairs there are."""
        return len(self.seeds)

    @property
    def differences(self) -> NDArray[np.float64]:
        """By how much the one's loss is higher than the other's, (n,)."""
        difference: NDArray[np.float64] = self.losses[0] - self.losses[1]
        return difference

    @property
    def effect(self) -> float:
        """The mean difference."""
        return float(self.differences.mean())

    def interval(self, missed: float) -> tuple[float, float]:
        """Where the true mean difference lies but for this share of the cases: paired t.

        It takes the differences for normally distributed; one pair says nothing.
        """
        if self.n < 2:
            return -math.inf, math.inf
        error = float(self.differences.std(ddof=1)) / math.sqrt(self.n)
        reach = t_quantile(1 - missed / 2, self.n - 1) * error
        return self.effect - reach, self.effect + reach

    @property
    def higher(self) -> int:
        """In how many pairs the one's loss is the higher."""
        return int((self.differences > 0).sum())

    @property
    def sign_p(self) -> float:
        """The sign test: how often chance alone is as one-sided, or more. Ties are left out."""
        return sign_test(self.higher, int((self.differences != 0).sum()))


def pairs(rows: Sequence[Row], one: str, other: str) -> Pairs | None:
    """What two variants lost from the same seeds in as many steps; None if no seed has both.

    Of a table with trainings of several lengths, those of which there are most pairs.
    """
    losses = {(row.variant, row.steps, row.seed): row for row in rows}
    common: dict[int, list[int]] = {}
    for variant, steps, seed in losses:
        if variant == one and (other, steps, seed) in losses:
            common.setdefault(steps, []).append(seed)
    if not common:
        return None
    steps = max(common, key=lambda each: (len(common[each]), each))
    seeds = tuple(sorted(common[steps]))
    by_name = [[losses[name, steps, seed] for seed in seeds] for name in (one, other)]
    return Pairs(
        seeds,
        np.array([[row.loss for row in each] for each in by_name]),
        (by_name[0][0].parameters, by_name[1][0].parameters),
        steps,
    )


def sign_test(above: int, n: int) -> float:
    """The exact two-sided p of so many of n signs, were both signs as likely."""
    tail = sum(math.comb(n, k) for k in range(min(above, n - above) + 1))
    return min(1.0, float(2 * tail / 2**n))


@cache
def t_quantile(share: float, freedom: int) -> float:
    """What Student's t stays below in a share of the cases, from ½ to 1."""
    low, high = 0.0, 1.0
    while t_below(high, freedom) < share and high < HIGHEST:
        low, high = high, 2 * high
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (middle, high) if t_below(middle, freedom) < share else (low, middle)
    return high


def t_below(t: float, freedom: int) -> float:
    """How often Student's t is at most t (Abramowitz & Stegun 1964, 26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(freedom))
    odd = freedom % 2
    term, total = (math.cos(angle) if odd else 1.0), 0.0
    for k in range(1 + odd, freedom, 2):  # cos, 2/3 cos³, …; or 1, 1/2 cos², 1·3/(2·4) cos⁴, …
        total += term
        term *= k / (k + 1) * math.cos(angle) ** 2
    total *= math.sin(angle)
    within = 2 / math.pi * (angle + total) if odd else total
    return (1 + within) / 2
