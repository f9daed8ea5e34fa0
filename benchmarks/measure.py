"""What all benchmarks share: runs taken in turn, their spread, and tables that say where."""

import os
import platform
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from ffnviz.training.hardware import processor


@dataclass(frozen=True)
class Spread:
    """Repeated measurements of one quantity.

    Attributes:
        median, lower, upper: the median and the quartiles around it.
        least: the smallest; the one a busy machine disturbed least.
        repeats: how many there were.
    """

    median: float
    lower: float
    upper: float
    least: float
    repeats: int

    @classmethod
    def of(cls, samples: Sequence[float]) -> "Spread":
        """The spread of the samples."""
        lower, median, upper = np.percentile(samples, [25, 50, 75])
        return cls(float(median), float(lower), float(upper), min(samples), len(samples))

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.lower:.2f}-{self.upper:.2f})"


def in_turn(
    tasks: Mapping[str, Callable[[], object]], repeats: int, warm_up: int = 5
) -> dict[str, Spread]:
    """Milliseconds of each task, run one after the other, round after round.

    A busy moment of the machine then touches all of them. Every second round goes backwards, so
    that each task as often follows as precedes another.
    """
    samples: dict[str, list[float]] = {name: [] for name in tasks}
    order = list(tasks.items())
    for round_ in range(warm_up + repeats):
        for name, task in order:
            started = time.perf_counter()
            task()
            elapsed = time.perf_counter() - started
            if round_ >= warm_up:
                samples[name].append(elapsed * 1_000)
        order.reverse()
    return {name: Spread.of(taken) for name, taken in samples.items()}


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table, its columns padded so that it also reads in a terminal."""
    cells = [[str(cell) for cell in row] for row in (header, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "| " + " | ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in cells
    ]
    rule = "|" + "|".join("-" * (width + 1) + ":" for width in widths) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


def machine() -> str:
    """Processor, cores, load average and versions, as one sentence."""
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    return (
        f"{processor()}, {os.cpu_count()} cores; load average {load}; "
        f"Python {platform.python_version()}, PyTorch {torch.__version__}."
    )


def ratios(spreads: Mapping[str, Spread], base: str, what: str, unit: str) -> str:
    """A table of spreads, each also as a ratio to the median of the one named `base`."""
    rows = [
        (
            name,
            spread,
            f"{spread.median / spreads[base].median:.2f}",
            f"{spread.least:.2f}",
            spread.repeats,
        )
        for name, spread in spreads.items()
    ]
    return table((what, unit, "ratio", "least", "repeats"), rows)
