"""Two variants compared seed by seed: the effect, its interval, and the paired t-test."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.trainings.design import STEPS
from ffnviz.analysis.trainings.table import FINAL, Row

HIGHEST = 2.0**40  # of the quantiles looked for


@dataclass(frozen=True)
class Pairs:
    """Trainings of two variants, one of each from every seed; each variant at its own rate."""

    seeds: tuple[int, ...]  # of the pairs, in order, (n,)
    losses: NDArray[np.float64]  # of the one variant and of the other, in nats, (2, n)
    rates: tuple[float, float]  # the learning rate of each
    parameters: tuple[int, int]  # how many each trains
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

    @property
    def higher(self) -> int:
        """The number of pairs in which the one's loss is the higher."""
        return int((self.differences > 0).sum())

    @property
    def error(self) -> float:
        """The standard error of the mean difference; NaN for one pair."""
        return float(self.differences.std(ddof=1)) / math.sqrt(self.n) if self.n > 1 else math.nan

    @property
    def p(self) -> float:
        """The two-sided p of the paired t-test: differences are taken as normally distributed."""
        if self.n < 2 or self.effect == 0:
            return 1.0
        if self.error == 0:
            return 0.0
        return 2 * (1 - t_below(abs(self.effect) / self.error, self.n - 1))

    def interval(self, missed: float) -> tuple[float, float]:
        """The confidence interval of the mean difference by the same test, level 1 − missed.

        One pair gives no bounds.
        """
        if self.n < 2:
            return -math.inf, math.inf
        reach = t_quantile(1 - missed / 2, self.n - 1) * self.error
        return self.effect - reach, self.effect + reach


def pairs(rows: Sequence[Row], one: str, other: str, steps: int = STEPS) -> Pairs | None:
    """The final trainings of two variants from the same seeds; None if there are none.

    Trainings that diverged are left out.
    """
    trained = {
        (row.variant, row.seed): row
        for row in rows
        if (row.phase, row.steps) == (FINAL, steps) and math.isfinite(row.loss)
    }
    seeds = tuple(sorted(
        seed for variant, seed in trained if variant == one and (other, seed) in trained
    ))  # fmt: skip
    if not seeds:
        return None
    both = [[trained[name, seed] for seed in seeds] for name in (one, other)]
    return Pairs(
        seeds,
        np.array([[row.loss for row in each] for each in both]),
        (both[0][0].learning_rate, both[1][0].learning_rate),
        (both[0][0].parameters, both[1][0].parameters),
        steps,
    )


def holm(ps: Sequence[float]) -> list[float]:
    """The p of several tests, corrected so that any of them errs as seldom as one (Holm 1979).

    The k-th smallest of m is taken m − k + 1 times, and none becomes smaller than one before it.
    """
    corrected, highest = [1.0] * len(ps), 0.0
    for rank, place in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        highest = max(highest, min(1.0, (len(ps) - rank) * ps[place]))
        corrected[place] = highest
    return corrected


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
