"""Fit a function: choose or draw one, and see how many units it takes.

A line with n bends on [-2, 2], constant before the first, is one hidden layer of n ReLU units: each
bend is a unit's −b/w, and the change of slope there its weight in the sum.
"""

import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from ffnviz.analysis.lab import fitting
from ffnviz.analysis.lab.fitting import KNOTS, POINTS, REACH, WIDTHS, Approximation, approximate
from ffnviz.analysis.measuring import Progress
from ffnviz.analysis.number_format import short
from ffnviz.models.activations import ACTIVATIONS
from ffnviz.parts.experiments import verdicts_of
from ffnviz.parts.sheet import Button, Measured, Measurement, Row, Sheet, Soon, row, set_to
from ffnviz.pictures import plot
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.exercises import Corner, drawing_cell, handles_cell
from ffnviz.pictures.plot import Array, Figure
from ffnviz.pictures.wording import counted, number
from ffnviz.state.run import Run
from ffnviz.state.settings import Setting, Values, choice_setting, count_setting, nearest

MOST_PIECES = 48


def fitted(x: Array, y: Array, fit: Array, pieces: Array, colour: str) -> Figure:
    """The function and its fit, above what each neuron adds: `pieces`, (units, n)."""
    every = max(1, -(-len(pieces) // MOST_PIECES))
    right: plot.Options = {"xaxis": "x2", "yaxis": "y2", "showlegend": False, "hoverinfo": "none"}
    traces = [
        plot.line_trace(f"neuron {place + 1}", x, pieces[place], f"{colour}/0.6", 1.5, **right)
        for place in range(0, len(pieces), every)
    ]
    traces.append(plot.line_trace("the function", x, y, "@muted", 7))
    traces.append(plot.line_trace("the network", x, fit, colour, 3))
    largest = float(np.quantile(np.abs(pieces), 0.99)) if len(pieces) else 1.0
    return plot.figure(
        traces,
        plot.axis("x", anchor="y", domain=[0, 0.45]),
        plot.axis("", range=[-1.6, 1.6]),
        xaxis2=plot.axis("x", anchor="y2", domain=[0.55, 1]),
        yaxis2=plot.axis("", range=[-1.3 * largest - 1e-6, 1.3 * largest + 1e-6], anchor="x2"),
        meta={"panels": 2},
        annotations=[
            plot.panel_title("y", 0, inside=True),
            plot.panel_title("what each neuron adds", 0.55, inside=True),
        ],
    )


def errors(result: Approximation, place: int, colour: str) -> Figure:
    """The error against the number of neurons, both logarithmic; `place` is that of a width."""
    n, least = np.array(result.widths), 1e-12  # below is rounding
    measured = np.maximum([fit.error for fit in result.fits], least)
    largest = np.maximum([fit.largest for fit in result.fits], least)
    bounds = np.maximum(result.bounds, least)  # what straight pieces reach at least
    line = np.full(len(n), max(result.line, least))
    chosen = slice(place, place + 1)
    return plot.figure(
        [
            plot.line_trace("straight pieces: no more than", n, bounds, "@muted", 2, "dash"),
            plot.line_trace("best straight line", n, line, "@text", 2, "dot"),
            plot.line_trace("network, at most", n, largest, f"{colour}/0.5", 2,
                            hovertemplate="n = %{x}: at most %{y:.2g}<extra></extra>"),
            plot.line_trace("network", n, measured, colour, 3, dots=8, customdata=n,
                            hovertemplate="%{x} neurons: %{y:.2g}<extra></extra>"),
            plot.ring(counted(result.widths[place], "neuron"), n[chosen], measured[chosen], colour,
                      showlegend=True),
        ],
        plot.log_axis("neurons n", [2**k for k in range(10)]),
        plot.axis("error (root mean square)", type="log", dtick=2, exponentformat="power"),
        margin={"l": 84, "r": 20, "t": 66, "b": 56},
    )  # fmt: skip


DRAWN, TWIN = "my drawing", "twin"
PLAIN = {name: each.label for name, each in ACTIVATIONS.items() if not each.gated}
PLAIN[fitting.SQUARE.name] = f"{fitting.SQUARE.label}, a polynomial"
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDE"  # 41 heights, from -1 to 1
MIDDLE = len(DIGITS) // 2


Curve = tuple[float, ...]  # the heights of a drawing at its knots


def _read(text: str) -> Curve:
    """A drawing from its text in a URL, one digit per knot."""
    if len(text) != KNOTS or any(sign not in DIGITS for sign in text):
        return START
    return tuple((DIGITS.index(sign) - MIDDLE) / MIDDLE for sign in text)


START = tuple(round(MIDDLE * np.sin(5 * k / KNOTS) * (k / KNOTS)) / MIDDLE for k in range(KNOTS))
NAMES = {name: name for name in (*fitting.FUNCTIONS, DRAWN)}
FUNCTION = choice_setting("function", NAMES).with_control("Function on [−2, 2]")
PHI = choice_setting("phi", {TWIN: "the network's", **PLAIN}).with_control("φ")
UNITS = count_setting("units", 8, 1, WIDTHS[-1]).with_control("neurons n", WIDTHS)
CURVE: Setting[Curve] = Setting(
    "curve", START, _read, lambda curve: "".join(DIGITS[round(y * MIDDLE) + MIDDLE] for y in curve)
)
SETTINGS = (FUNCTION, PHI, UNITS, CURVE)


def sheet(run: Run, values: Values) -> Sheet:
    """The drawing, the fit and its pieces, and the error against n, over the verdicts."""
    name, curve, phi, own = values[FUNCTION], values[CURVE], values[PHI], run.card.phi
    usual, words = own.name, f"the network's: {own.label}"
    if own.name not in ACTIVATIONS:
        usual, words = "relu", f"ReLU: the network's {own.label} cannot be fitted"
    phi = usual if phi == TWIN else phi
    setup = (name, phi, curve if name == DRAWN else None)
    place = nearest(WIDTHS, values[UNITS])
    canvas = []
    if name == DRAWN:
        how = "Draw over it, or move its points with the arrow keys"
        canvas.append(
            drawing_cell(
                how,
                curve,
                run.card.colour,
                "lab-drawing",
                lambda new: set_to(CURVE, tuple(new)),
            )
        )

    def after(measured: Measured[Approximation]) -> list[Row]:
        result = measured.result
        pictures = the_fit(run, result, place), the_errors(run, result, place)
        return [row(*canvas, *pictures), row(verdicts_of(run, "lab-fit", result.findings))]

    added = Soon("lab-pieces", "The function, and what each neuron adds to the fit")
    error = Soon("lab-errors", "The error against the number of neurons")
    before = [row(*canvas, added, error), row(Soon("lab-fit", "What textbooks say of it", 120))]
    doing = f"Fitting {len(WIDTHS)} networks of 1 to {WIDTHS[-1]} neurons …"
    fits = Measurement("fit", setup, fit, after, (name, curve, phi), before, "Fit", doing)
    return Sheet([fits], (FUNCTION, replace(PHI, options={**PHI.options, TWIN: words}), UNITS))


def fit(_: Run, progress: Progress, name: str, curve: Curve, phi: str) -> Approximation:
    """Train networks of all widths on the function of that name."""
    function = fitting.piecewise_linear(curve) if name == DRAWN else fitting.FUNCTIONS[name]
    return approximate(function, phi, progress=progress, jumps=fitting.JUMPS.get(name, ()))


def the_fit(run: Run, result: Approximation, place: int) -> Cell:
    """The function, the network, and each unit's piece."""
    fit, n, phi = result.fits[place], result.widths[place], fitting.phi_of(result.activation)
    with torch.no_grad():
        x = torch.from_numpy(result.x)
        before = torch.outer(torch.from_numpy(fit.weight), x) + torch.from_numpy(fit.bias)[:, None]
        pieces = fit.out[:, None] * phi.function(before).numpy()
    sentence = (
        f"{number(counted(n, f'{phi.label} neuron'))} "
        f"{'is' if n == 1 else 'are'} off by "
        f"{short(fit.error)} (root mean square), and by {short(fit.largest)} at most; the best "
        f"straight line by {short(result.line)}."
    )
    figure = fitted(result.x, result.y, fit.fitted, pieces, f"@{run.card.colour}")
    alt = "The function, the network fitted to it, and what each of its neurons adds."
    head = Head(sentence, "lab-pieces", run.card.colour)
    return chart_cell(head, figure, alt, key="lab-fit", height=560)


def the_errors(run: Run, result: Approximation, place: int) -> Cell:
    """The error against the number of neurons."""
    sentence = (
        f"From 1 neuron to {result.widths[-1]} the error (root mean square) goes "
        f"from {short(result.fits[0].error)} to {number(short(result.fits[-1].error))}, the "
        f"largest from {short(result.fits[0].largest)} to {short(result.fits[-1].largest)}."
    )
    figure = errors(result, place, f"@{run.card.colour}")
    alt = (
        "The root mean square error and the largest one against the number of neurons, on "
        "logarithmic axes."
    )
    return chart_cell(Head(sentence, "lab-errors", run.card.colour), figure, alt, height=560)


SAMPLES = 9  # evenly spaced points, all of Adam's training data
OUTSIDE = 1.0  # how far beyond both ends errors are measured
SMOOTH = ("wave", "bump", "chirp", "straight line")  # functions with a second derivative


Function = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Units:
    """Σ_k out_k ReLU(weight_k x + bias_k) + offset."""

    # weight, bias, out: of the units, (n,)
    weight: Array
    bias: Array
    out: Array
    offset: float  # added at the end

    def at(self, x: Array) -> Array:
        """Its values, (m,) -> (m,)."""
        hidden = np.maximum(np.outer(x, self.weight) + self.bias, 0)
        return np.asarray(hidden @ self.out + self.offset)


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
    fit = fitting.fit_to(at, y, "relu", n, at, y)
    return Units(fit.weight, fit.bias, fit.out, fit.offset)


def samples() -> Array:
    """Where the function is known, (SAMPLES,)."""
    return np.linspace(-REACH, REACH, SAMPLES)


def hand_errors(function: Function, units: Units) -> Errors:
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


def _read_corners(text: str) -> tuple[Corner, ...]:
    """The corners from their text in a URL, two signs each, from the left edge to the right."""
    places = [SIGNS.find(sign) for sign in text]
    columns, rows = places[::2], places[1::2]
    legal = len(columns) == len(rows) and 2 <= len(columns) <= MOST + 1 and min(places) >= 0
    legal = legal and columns == sorted(set(columns)) and (columns[0], columns[-1]) == (0, SIDE - 1)
    return tuple(zip(columns, rows, strict=True)) if legal else ()


CORNERS: Setting[tuple[Corner, ...]] = Setting(
    "corners", (), _read_corners, lambda given: "".join(SIGNS[x] + SIGNS[y] for x, y in given)
)
BUDGET = count_setting("hand_units", 4, 1, MOST).with_control("neurons n", range(1, MOST + 1))
HAND_SETTINGS = (FUNCTION, CURVE, BUDGET, CORNERS)


def hand_sheet(run: Run, values: Values) -> Sheet:
    """The line to drag, beside its errors and Adam's."""
    name, n = values[FUNCTION], values[BUDGET]
    curve: Curve = values[CURVE]
    function = fitting.piecewise_linear(curve) if name == DRAWN else fitting.FUNCTIONS[name]
    corners = corners_of(values[CORNERS], n)
    yours = units_through([(_place(x), _place(y)) for x, y in corners])
    which = values.texts.get(CURVE.name, "") if name == DRAWN else name
    adam = run.subject.per_network(f"by adam {which} {n}", lambda: by_adam(function, n))
    limit = bound(function, n) if name in SMOOTH else None
    left = the_line(run, function, corners, yours, limit)
    right = [the_hand_errors(run, function, yours, adam), the_curves(run, function, yours, adam)]
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
    n, off = len(corners) - 1, hand_errors(function, yours)
    corner = "each corner is where one bends."
    if limit is not None:
        through = "A line through evenly spaced corners on the curve"
        corner += f" {through} is off by at most {short(limit)}."
    sentence = (
        f"Between the points your {n} neuron{'s are' if n > 1 else ' is'} off by "
        f"{number(short(off.between))}; {corner}"
    )
    x = np.linspace(-REACH - OUTSIDE, REACH + OUTSIDE, 481)
    points = samples()
    y, at = (function(torch.from_numpy(each)).numpy() for each in (x, points))
    return handles_cell(
        Head(sentence, "hand", run.card.colour),
        corners,
        SIDE,
        (_steps(x), _steps(y)),
        (_steps(points), _steps(at)),
        "A curve with nine points, and a line whose corners can be moved",
        "hand",
        lambda new: set_to(CORNERS, tuple(new)),
    )


def the_hand_errors(run: Run, function: Function, yours: Units, adam: Units) -> Cell:
    """Your errors and Adam's: at the points, between them, and outside."""
    own, trained = hand_errors(function, yours), hand_errors(function, adam)
    sentence = (
        f"At the points Adam is off by {number(short(trained.at))}, between them by "
        f"{short(trained.between)}, outside by {short(trained.outside)}; you by {short(own.at)}, "
        f"{short(own.between)} and {short(own.outside)}."
    )

    def three(off: Errors) -> np.ndarray:
        return np.maximum([off.at, off.between, off.outside], 1e-4)

    places = ("at the points", "between", "outside")
    series = {"you": (three(own), f"@{run.card.colour}"), "Adam": (three(trained), "@muted")}
    figure = plot.grouped(
        places, series, "error", type="log", exponentformat="power", dtick=1, range=[-4, 1]
    )
    alt = "The errors at the points, between them and outside, by hand and by Adam."
    return chart_cell(Head(sentence, "hand-errors", run.card.colour), figure, alt, height=300)


def the_curves(run: Run, function: Function, yours: Units, adam: Units) -> Cell:
    """Both networks and the function, also outside the fitted range."""
    x = np.linspace(-REACH - OUTSIDE, REACH + OUTSIDE, 121)
    bends = -adam.bias / np.where(adam.weight == 0, 1e-300, adam.weight)
    inside = int((np.abs(bends) < REACH).sum())
    sentence = (
        f"{number(f'{inside}')} of Adam's {counted(len(adam.out), 'bend')} "
        f"{'lies' if inside == 1 else 'lie'} within the range."
    )
    values = {
        "function": (function(torch.from_numpy(x)).numpy(), "@text", "dot"),
        "Adam": (adam.at(x), "@muted", "solid"),
        "you": (yours.at(x), f"@{run.card.colour}", "solid"),
    }
    figure = plot.lines(x, values, plot.axis("x"), plot.axis("y", range=[-2.2, 2.2]), dots=0)
    alt = "The function, your line and Adam's, from −3 to 3."
    return chart_cell(Head(sentence, "hand-curves", run.card.colour), figure, alt, height=300)
