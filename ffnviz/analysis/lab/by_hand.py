"""Fit it yourself: ReLU units set by hand, against Adam.

A line with n bends on [-2, 2], constant before the first, is one hidden layer of n ReLU units: each
bend is a unit's −b/w, and the change of slope there its weight in the sum.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.lab.approximation import POINTS
from ffnviz.analysis.lab.fitting import REACH, fit_to

SAMPLES = 9  # evenly spaced points, all of Adam's training data
OUTSIDE = 1.0  # how far beyond both ends errors are measured
SMOOTH = ("wave", "bump", "chirp", "straight line")  # functions with a second derivative

Array = NDArray[np.float64]
Function = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Units:
    """Σ_k out_k ReLU(weight_k x + bias_k) + offset.

    Attributes:
        weight, bias, out: of the units, (n,).
        offset: added at the end.
    """

    weight: Array
    bias: Array
    out: Array
    offset: float

    def at(self, x: Array) -> Array:
        """Its values, (m,) -> (m,)."""
        hidden = np.maximum(np.outer(x, self.weight) + self.bias, 0)
        value: Array = hidden @ self.out + self.offset
        return value


@dataclass(frozen=True)
class Errors:
    """Root mean squared differences: at the samples, between them, and outside."""

    at: float
    between: float
    outside: float


def units_through(corners: Sequence[tuple[float, float]]) -> Units:
    """The n units of a line through n + 1 corners, from left to right."""
    x, y = np.array(corners, dtype=np.float64).T
    slope_changes = np.diff(np.diff(y) / np.diff(x), prepend=0.0)
    return Units(np.ones(len(slope_changes)), -x[:-1], slope_changes, float(y[0]))


def by_adam(function: Function, n: int) -> Units:
    """n units fitted to the samples by Adam, as `approximate` fits them."""
    at = torch.from_numpy(samples())
    y = function(at)
    fit = fit_to(at, y, "relu", n, at, y)
    return Units(fit.weight, fit.bias, fit.out, fit.offset)


def samples() -> Array:
    """Where the function is known, (SAMPLES,)."""
    return np.linspace(-REACH, REACH, SAMPLES)


def errors(function: Function, units: Units) -> Errors:
    """The errors of units against a function."""
    beyond = np.linspace(REACH, REACH + OUTSIDE, POINTS)
    places = (samples(), np.linspace(-REACH, REACH, POINTS), np.concatenate([-beyond, beyond]))
    differences = (units.at(x) - function(torch.from_numpy(x)).numpy() for x in places)
    return Errors(*(float(np.sqrt((each**2).mean())) for each in differences))


def bound(function: Function, n: int) -> float:
    """max |f″| h² / 8 with h = 4 / n, a bound of the error of the line through n + 1 points of f.

    de Boor 1978, chapter III, eq. 2; f″ is taken from second differences of a smooth f.
    """
    x = torch.linspace(-REACH, REACH, 20_001, dtype=torch.float64)
    step = float(x[1] - x[0])
    second = torch.diff(function(x), n=2) / step**2
    return float(second.abs().max()) * (2 * REACH / n) ** 2 / 8
