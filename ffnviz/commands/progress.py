"""A progress bar on stderr, so that stdout holds the result alone."""

from collections.abc import Callable
from typing import TypeVar

from tqdm import tqdm

from ffnviz.analysis.spread import Progress

R = TypeVar("R")


def with_bar(name: str, measure: Callable[[Progress], R]) -> R:
    """Whatever `measure` returns; the bar follows the share that it tells."""
    look = "{desc} {percentage:3.0f}% {bar}"
    with tqdm(total=100, desc=name, leave=False, bar_format=look) as bar:

        def progress(share: float) -> None:
            bar.update(round(100 * share) - bar.n)

        return measure(progress)
