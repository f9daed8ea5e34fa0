"""A progress bar on stderr, so that stdout holds the result alone."""

import sys
from collections.abc import Callable
from typing import Any, TypeVar

from tqdm import tqdm

from ffnviz.analysis.spread import Progress

R = TypeVar("R")


def bar(**options: Any) -> "tqdm[None]":
    """A bar of tqdm's, hidden where stderr is no terminal."""
    return tqdm(disable=sys.stderr is None or not sys.stderr.isatty(), **options)


def with_bar(name: str, measure: Callable[[Progress], R]) -> R:
    """Call `measure` with a bar that follows the share it reports, and return its result."""
    look = "{desc} {percentage:3.0f}% {bar}"
    with bar(total=100, desc=name, leave=False, bar_format=look) as shown:

        def progress(share: float) -> None:
            shown.update(round(100 * share) - shown.n)

        return measure(progress)
