"""Repeated measurements: tasks run in turn, and the spread of their times."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from ffnviz.analysis.timing.measured_trace import milliseconds

Progress = Callable[[float], None]
CPU = torch.device("cpu")


def subprogress(progress: Progress, place: int, n: int) -> Progress:
    """The progress of one of n equal steps, told as a share of them all."""
    return lambda share: progress((place + share) / n)


@dataclass(frozen=True)
class Spread:
    """Repeated measurements of one quantity."""

    median: float
    lower: float  # the lower quartile
    upper: float  # the upper quartile
    least: float  # the smallest, which a busy machine disturbed least
    repeats: int

    @classmethod
    def of(cls, samples: Sequence[float]) -> "Spread":
        """The spread of the samples."""
        lower, median, upper = np.percentile(samples, [25, 50, 75])
        return cls(float(median), float(lower), float(upper), min(samples), len(samples))

    @property
    def quartiles(self) -> tuple[float, float, float]:
        """The median, and the quartiles below and above it."""
        return self.median, self.lower, self.upper

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.lower:.2f}-{self.upper:.2f})"


def in_turn(
    tasks: Mapping[str, Callable[[], object]],
    repeats: int,
    warm_up: int = 5,
    device: torch.device = CPU,
    progress: Progress = lambda _: None,
) -> dict[str, Spread]:
    """Milliseconds of each task, run one after the other, round after round.

    A busy moment of the machine then affects all of them. Every second round is in reverse order,
    so that each task follows another as often as it precedes it.

    Args:
        tasks: what to run, by name.
        repeats: rounds that count.
        warm_up: rounds before them that do not count.
        device: waited for before and after each task.
        progress: told the share of all rounds that are done, from 0 to 1.
    """
    samples: dict[str, list[float]] = {name: [] for name in tasks}
    order = list(tasks.items())
    for round_ in range(warm_up + repeats):
        for name, task in order:
            elapsed = milliseconds(task, device)
            if round_ >= warm_up:
                samples[name].append(elapsed)
        order.reverse()
        progress((round_ + 1) / (warm_up + repeats))
    return {name: Spread.of(taken) for name, taken in samples.items()}
