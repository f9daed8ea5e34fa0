"""The range of a colour scale where a few values tower over all others."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

QUANTILE = 0.995
TOWERING = 4.0  # times as large; a value at a quarter of the scale is still visible


def scale_end(values: Sequence[NDArray[np.floating]]) -> float:
    """The magnitude that the ends of a colour scale stand for: the largest, as a rule.

    The first token of many trained networks has values a hundred times as large as all others
    (Sun et al. 2024, "Massive Activations in Large Language Models", arXiv:2402.17762), beside
    which the others would look like zero. There the scale ends at a quantile of the others.

    Args:
        values: of the pictures on one scale, (T, n) each, a row a token; or (n,), of one token.
    """
    return max((_end_of(np.abs(each)) for each in values), default=0.0)


def _end_of(magnitude: NDArray[np.floating]) -> float:
    largest = float(magnitude.max(initial=0.0))
    others = magnitude
    if magnitude.ndim > 1 and len(magnitude) > 1:
        first = int(magnitude.max(axis=1).argmax())
        others = np.concatenate([magnitude[:first], magnitude[first + 1 :]])
    if _many_are_tall(others, largest):
        return largest
    awake = others[others > 0]
    usual = float(np.quantile(awake, QUANTILE)) if awake.size else largest
    return usual if largest > TOWERING * usual else largest


def _many_are_tall(others: NDArray[np.floating], largest: float) -> bool:
    # As a rule the quantile is among them; counting costs a tenth of computing it.
    n = np.count_nonzero(others > 0)
    tall = np.count_nonzero(others > largest / TOWERING)
    return bool(n and tall >= n - np.floor((n - 1) * QUANTILE))
