"""Fit it yourself: drag the kinks of a few ReLU units, against Adam and a bound.

A line with n bends on [-2, 2], constant before the first, is one hidden layer of n ReLU units: each
bend is a unit's −b/w, and the change of slope there its weight in the sum.
"""

import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.lab.fitting import FUNCTIONS, POINTS, REACH, fit_to, piecewise_linear
from ffnviz.analysis.number_format import short
from ffnviz.parts.lab.fit import CURVE, DRAWN, FUNCTION, Curve
from ffnviz.parts.sheet import Button, Sheet, row, set_to
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.exercises import Corner, handles_cell
from ffnviz.pictures.plot import axis, grouped, lines
from ffnviz.pictures.wording import Sentence, number
from ffnviz.state.run import Run
from ffnviz.state.settings import Setting, Values, count_setting

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


SIDE = 61  # of the grid, from -2 to 2 each way
SIGNS = (string.digits + string.ascii_letters)[:SIDE]
MOST = 16


def _read(text: str) -> tuple[Corner, ...]:
    """The corners from their text in a URL, two signs each, from the left edge to the right."""
    places = [SIGNS.find(sign) for sign in text]
    columns, rows = places[::2], places[1::2]
    legal = len(columns) == len(rows) and 2 <= len(columns) <= MOST + 1 and min(places) >= 0
    legal = legal and columns == sorted(set(columns)) and (columns[0], columns[-1]) == (0, SIDE - 1)
    return tuple(zip(columns, rows, strict=True)) if legal else ()


def _written(corners: tuple[Corner, ...]) -> str:
    return "".join(SIGNS[x] + SIGNS[y] for x, y in corners)


CORNERS: Setting[tuple[Corner, ...]] = Setting("corners", (), _read, _written)
BUDGET = count_setting("hand_units", 4, 1, MOST).with_control("units n", range(1, MOST + 1))
SETTINGS = (FUNCTION, CURVE, BUDGET, CORNERS)


def sheet(run: Run, values: Values) -> Sheet:
    """The line to drag, beside its errors and Adam's."""
    name, n = values[FUNCTION], values[BUDGET]
    curve: Curve = values[CURVE]
    function = piecewise_linear(curve) if name == DRAWN else FUNCTIONS[name]
    corners = corners_of(values[CORNERS], n)
    yours = units_through([(_place(x), _place(y)) for x, y in corners])
    which = values.texts.get(CURVE.name, "") if name == DRAWN else name
    adam = run.subject.per_network(f"by adam {which} {n}", lambda: by_adam(function, n))
    limit = bound(function, n) if name in SMOOTH else None
    left = the_line(run, function, corners, yours, limit)
    right = [the_errors(run, function, yours, adam), the_curves(run, function, yours, adam)]
    flat = Button("Start again", set_to(CORNERS, None))
    return Sheet([row(left, right, widths=(1.2, 1))], [FUNCTION, BUDGET, flat])


def corners_of(given: tuple[Corner, ...], n: int) -> list[Corner]:
    """The corners of n units; if another number is given, the same line is resampled."""
    if len(given) == n + 1:
        return list(given)
    columns = np.linspace(0, SIDE - 1, n + 1).round().astype(int)
    middle = SIDE // 2
    x, y = zip(*(given or ((0, middle), (SIDE - 1, middle))), strict=True)
    return [(int(c), round(float(np.interp(c, x, y)))) for c in columns]


def _place(step: int) -> float:
    return REACH * (2 * step / (SIDE - 1) - 1)


def _steps(value: np.ndarray) -> np.ndarray:
    return (value / REACH + 1) / 2 * (SIDE - 1)


def the_line(
    run: Run, function: Function, corners: list[Corner], yours: Units, limit: float | None
) -> Cell:
    """The line whose corners are dragged."""
    n, off = len(corners) - 1, errors(function, yours)
    most = "" if limit is None else (
        f" Evenly spaced on the curve they could be off by {short(limit)} at most."
    )  # fmt: skip
    sentence: Sentence = [
        f"Between the points your {n} unit{'s are' if n > 1 else ' is'} off by ",
        number(short(off.between)), f"; each corner is where one bends.{most}",
    ]  # fmt: skip
    x = np.linspace(-REACH - OUTSIDE, REACH + OUTSIDE, 481)
    points = samples()
    y, at = (function(torch.from_numpy(each)).numpy() for each in (x, points))
    return handles_cell(
        Head(sentence, "hand", run.card.colour), corners, SIDE,
        (_steps(x), _steps(y)), (_steps(points), _steps(at)),
        "A curve with nine points, and a line whose corners can be moved",
        "hand", lambda new: set_to(CORNERS, tuple(new)),
    )  # fmt: skip


def the_errors(run: Run, function: Function, yours: Units, adam: Units) -> Cell:
    """Your errors and Adam's: at the points, between them, and outside."""
    own, trained = errors(function, yours), errors(function, adam)
    sentence: Sentence = [
        "At the points Adam is off by ", number(short(trained.at)),
        f", between them by {short(trained.between)}, outside by {short(trained.outside)}; you by "
        f"{short(own.at)}, {short(own.between)} and {short(own.outside)}.",
    ]  # fmt: skip

    def three(off: Errors) -> np.ndarray:
        return np.maximum([off.at, off.between, off.outside], 1e-4)

    return chart_cell(
        Head(sentence, "hand-errors", run.card.colour),
        grouped(
            ("at the points", "between", "outside"),
            {"you": (three(own), f"@{run.card.colour}"), "Adam": (three(trained), "@muted")},
            "error", type="log", exponentformat="power", dtick=1, range=[-4, 1],
        ),
        "The errors at the points, between them and outside, by hand and by Adam.",
        height=300,
    )  # fmt: skip


def the_curves(run: Run, function: Function, yours: Units, adam: Units) -> Cell:
    """Both networks and the function, also outside the fitted range."""
    x = np.linspace(-REACH - OUTSIDE, REACH + OUTSIDE, 121)
    sentence: Sentence = [
        "With as many units Adam bends at ", number(f"{_inside(adam)} of {len(adam.out)}"),
        " places within the range.",
    ]  # fmt: skip
    values = {"function": (function(torch.from_numpy(x)).numpy(), "@text", "dot"),
              "Adam": (adam.at(x), "@muted", "solid"),
              "you": (yours.at(x), f"@{run.card.colour}", "solid")}  # fmt: skip
    figure = lines(x, values, axis("x"), axis("y", range=[-2.2, 2.2]))
    for trace in figure["data"]:
        trace["mode"] = "lines"
    return chart_cell(
        Head(sentence, "hand-curves", run.card.colour), figure,
        "The function, your line and Adam's, from -3 to 3.", height=300,
    )  # fmt: skip


def _inside(units: Units) -> int:
    bends = -units.bias / np.where(units.weight == 0, 1e-300, units.weight)
    return int((np.abs(bends) < REACH).sum())
