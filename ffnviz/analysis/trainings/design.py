"""The design of the study: which runs it has, in which order, and at which learning rate.

It was fixed before the first run. Each variant is trained once at each of five learning rates; of
these, and of further ones as long as the best is the lowest or the highest tried, the one with the
lowest loss on the validation sentences is the variant's own. At that rate it is trained from each
seed, and measured on other sentences, the held-out ones. The seed of the search is none of these.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from ffnviz.analysis.trainings.table import FINAL, RATE, Row

STEPS = 16_000  # of each run: three minutes of one core
SEEDS = 8
RATES = (5e-4, 1e-3, 2e-3, 4e-3, 8e-3)
LOWEST, HIGHEST = RATES[0] / 8, RATES[-1] * 8  # that the search goes on to
RATE_SEED = 100

# Families: each is trained before the next is begun, and its comparisons are corrected together.
FAMILIES = (
    ("relu", "no-ffn", "half", "double", "identity", "gelu", "no-residual", "no-norm"),
    ("shared-ffn", "attention-only", "one-block", "four-blocks", "swiglu", "quadruple",
     "gelu-half", "gelu-quadruple"),
    ("eightfold", "post-norm", "dropout", "few", "few-dropout"),
)  # fmt: skip


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
    return Search({
        row.learning_rate: row.loss if math.isfinite(row.loss) else math.inf
        for row in rows
        if (row.variant, row.phase, row.steps) == (variant, RATE, steps)
    })  # fmt: skip


@dataclass(frozen=True)
class Run:
    """A run to be done."""

    variant: str
    phase: str
    learning_rate: float
    seed: int


def next_run(rows: Sequence[Row], design: Design) -> Run | None:
    """The run that a log lacks first; None if it has all.

    A family's rates come first, then seed by seed all its variants, so that a log which breaks off
    has as many pairs of each as it can.
    """
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
