"""The study's trainings: its design, its log with one finished run a line, and the paired t-test.

The design was fixed before the first run. Each variant is trained once at each of five learning
rates, and at further ones as long as the best is the lowest or the highest tried; the one with the
lowest loss on the validation sentences is its own. At that rate it is trained from each seed, and
measured on the held-out sentences. The seed of the search is none of these.
"""

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ffnviz.models.config import ASSETS
from ffnviz.models.text_encoding import read_text

TABLE = ASSETS / "study.csv"  # made by: ffnviz study --out assets/study.csv
RATE, FINAL = "rate", "final"  # phases: a run that looks for a learning rate, and one that counts


class StudyError(ValueError):
    """A file that is not a log of trainings."""


@dataclass(frozen=True)
class Row:
    """One finished run; losses are in nats, of one masked word in each sentence."""

    variant: str  # its name
    phase: str  # RATE or FINAL
    learning_rate: float  # the highest; a warm-up before, a cosine to zero after
    seed: int  # of the initial weights and the batches
    steps: int
    tokens: int  # read in all steps
    parameters: int  # that are trained
    training_loss: float  # on some of the sentences that it was trained on
    loss: float  # on sentences that it never read: validation if RATE, held-out if FINAL
    top5: float  # share of the masked words among the five likeliest, of the same sentences
    version: str  # of ffnviz and of PyTorch
    processor: str

    @property
    def run(self) -> tuple[str, str, float, int, int]:
        """What tells it from other runs."""
        return self.variant, self.phase, self.learning_rate, self.seed, self.steps


COLUMNS = [field.name for field in fields(Row)]


@cache
def trainings() -> tuple[Row, ...]:
    """The trainings that come with the package."""
    return tuple(read_table(TABLE))


def read_table(path: Path) -> list[Row]:
    """The rows of a log, without repetitions."""
    types: dict[Any, Any] = {field.name: field.type for field in fields(Row)}
    try:
        table = csv.DictReader(io.StringIO(read_text(path)))
        if table.fieldnames != COLUMNS:
            raise ValueError("its columns are different")
        rows = [Row(**{name: types[name](row[name]) for name in COLUMNS}) for row in table]
    except (ValueError, TypeError) as error:
        raise StudyError(f"{path} is not a log of this study: choose another file.") from error
    return unique(rows)


def unique(rows: Sequence[Row]) -> list[Row]:
    """The rows without those of a run that is there already."""
    found: dict[tuple[str, str, float, int, int], Row] = {}
    for row in rows:
        found.setdefault(row.run, row)
    return list(found.values())


def written(rows: Sequence[Row]) -> bytes:
    """The log of some rows, in CSV."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    table.writerows([getattr(row, name) for name in COLUMNS] for row in rows)
    return text.getvalue().encode()


STEPS = 16_000  # of each run: three minutes of one core
SEEDS = 8
RATES = (5e-4, 1e-3, 2e-3, 4e-3, 8e-3)
LOWEST, HIGHEST = RATES[0] / 8, RATES[-1] * 8  # that the search goes on to
RATE_SEED = 100

# Families: each is trained before the next is begun, and its comparisons are corrected together.
_OTHER_WIDTHS = ("quadruple", "gelu-half", "gelu-quadruple")
FAMILIES = (
    ("relu", "no-ffn", "half", "double", "identity", "gelu", "no-residual", "no-norm"),
    ("shared-ffn", "attention-only", "one-block", "four-blocks", "swiglu", *_OTHER_WIDTHS),
    ("eightfold", "post-norm", "dropout", "few", "few-dropout"),
)


@dataclass(frozen=True)
class Design:
    """Which variants are trained, from how many seeds, and for how long."""

    families: tuple[tuple[str, ...], ...] = FAMILIES
    seeds: int = SEEDS
    steps: int = STEPS

    @property
    def fewest(self) -> int:
        """The number of runs, if no search has to go on beyond its five rates."""
        return sum(map(len, self.families)) * (len(RATES) + self.seeds)


@dataclass(frozen=True)
class Search:
    """The losses of one variant on the validation sentences, by learning rate."""

    losses: dict[float, float]  # those that diverged are infinite

    @property
    def best(self) -> float:
        """The rate with the lowest loss."""
        return min(self.losses, key=self.losses.__getitem__)

    @property
    def next(self) -> float | None:
        """The rate to try next; None if the best is found."""
        for rate in RATES:
            if rate not in self.losses:
                return rate
        best = self.best
        if best == min(self.losses) > LOWEST:
            return best / 2
        return 2 * best if best == max(self.losses) < HIGHEST else None


def search(rows: Sequence[Row], variant: str, steps: int = STEPS) -> Search:
    """What a variant's search for its rate has found so far."""
    return Search(
        {
            row.learning_rate: row.loss if math.isfinite(row.loss) else math.inf
            for row in rows
            if (row.variant, row.phase, row.steps) == (variant, RATE, steps)
        }
    )


@dataclass(frozen=True)
class Run:
    """A run to be done."""

    variant: str
    phase: str
    learning_rate: float
    seed: int


def next_run(rows: Sequence[Row], design: Design) -> Run | None:
    """The run that a log lacks first: a family's rates, then its variants seed by seed; or None."""
    done = {row.run for row in rows}
    for family in design.families:
        found = {name: search(rows, name, design.steps) for name in family}
        for name in family:
            if (rate := found[name].next) is not None:
                return Run(name, RATE, rate, RATE_SEED)
        for seed, name in product(range(design.seeds), family):
            rate = found[name].best
            if (name, FINAL, rate, seed, design.steps) not in done:
                return Run(name, FINAL, rate, seed)
    return None


HIGHEST_T = 2.0**40  # of the quantiles looked for


@dataclass(frozen=True)
class Pairs:
    """Trainings of two variants, one of each from every seed; each variant at its own rate."""

    seeds: tuple[int, ...]  # of the pairs, in order, (n,)
    losses: NDArray[np.float64]  # of the one variant and of the other, in nats, (2, n)
    rates: tuple[float, float]  # the learning rate of each
    parameters: tuple[int, int]  # how many each trains

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
        """The confidence interval of the mean difference, level 1 − missed; none of one pair."""
        if self.n < 2:
            return -math.inf, math.inf
        reach = t_quantile(1 - missed / 2, self.n - 1) * self.error
        return self.effect - reach, self.effect + reach


def pairs(rows: Sequence[Row], one: str, other: str) -> Pairs | None:
    """The final trainings of two variants from the same seeds, but those that diverged; or None."""
    final = [row for row in rows if (row.phase, row.steps) == (FINAL, STEPS)]
    trained = {(row.variant, row.seed): row for row in final if math.isfinite(row.loss)}
    found = [seed for variant, seed in trained if variant == one and (other, seed) in trained]
    if not found:
        return None
    seeds = tuple(sorted(found))
    both = [[trained[name, seed] for seed in seeds] for name in (one, other)]
    return Pairs(
        seeds,
        np.array([[row.loss for row in each] for each in both]),
        (both[0][0].learning_rate, both[1][0].learning_rate),
        (both[0][0].parameters, both[1][0].parameters),
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
    while t_below(high, freedom) < share and high < HIGHEST_T:
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
