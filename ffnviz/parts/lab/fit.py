"""Fit a function: choose or draw one, and see how many units it takes."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from ffnviz.analysis.lab.fitting import (
    FUNCTIONS,
    JUMPS,
    KNOTS,
    SQUARE,
    WIDTHS,
    Approximation,
    Fit,
    approximate,
    phi_of,
    piecewise_linear,
)
from ffnviz.analysis.measuring import Progress
from ffnviz.analysis.number_format import short
from ffnviz.models.activations import ACTIVATIONS
from ffnviz.parts.experiments import verdicts_of
from ffnviz.parts.sheet import Measured, Measurement, Row, Sheet, Soon, row, set_to
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.exercises import drawing_cell
from ffnviz.pictures.plot import Array, Figure, axis, figure, line_trace, log_axis, ring
from ffnviz.pictures.wording import Sentence, number
from ffnviz.state.run import Run
from ffnviz.state.settings import Setting, Values, choice_setting, count_setting, nearest

MOST_PIECES = 48


def fitted(x: Array, y: Array, fit: Array, pieces: Array, colour: str) -> Figure:
    """The function and its fit, above what each unit adds.

    Args:
        x: where, (n,).
        y: the function there, (n,).
        fit: the network's values, (n,).
        pieces: what each unit adds, (units, n); of many, some are drawn.
        colour: of the fit, as a figure names it.
    """
    every = max(1, -(-len(pieces) // MOST_PIECES))
    traces = [
        line_trace(f"unit {place + 1}", x, pieces[place], f"{colour}/0.6", 1.5, yaxis="y2",
                   showlegend=False, hoverinfo="none")
        for place in range(0, len(pieces), every)
    ]  # fmt: skip
    traces += [
        line_trace("the function", x, y, "@muted", 7),
        line_trace("the network", x, fit, colour, 3),
    ]
    largest = float(np.quantile(np.abs(pieces), 0.99)) if len(pieces) else 1.0
    return figure(
        traces,
        axis("x", anchor="y2"),
        axis("y", domain=[0.45, 1], range=[-1.6, 1.6]),
        yaxis2=axis("what each unit adds", domain=[0, 0.37],
                    range=[-1.15 * largest - 1e-6, 1.15 * largest + 1e-6]),
    )  # fmt: skip


def errors(
    widths: Sequence[int],
    measured: Array,
    largest: Array,
    bounds: Array,
    line: float,
    width: int,
    colour: str,
) -> Figure:
    """The error against the number of units, both logarithmic.

    Args:
        widths: numbers of units, (n,).
        measured: the errors, (n,).
        largest: the largest error of each, (n,).
        bounds: what straight pieces reach at least, (n,).
        line: the best straight line's.
        width: the one to mark.
        colour: of the fits, as a figure names it.
    """
    n, at = np.array(widths), list(widths).index(width)
    least = 1e-12  # below is rounding
    measured, largest, bounds = (
        np.maximum(values, least) for values in (measured, largest, bounds)
    )
    return figure(
        [
            line_trace("straight pieces: no more than", n, bounds, "@muted", 2, "dash"),
            line_trace("best straight line", n, np.full(len(n), max(line, least)), "@text", 2,
                       "dot"),
            line_trace("network, at most", n, largest, f"{colour}/0.5", 2,
                       hovertemplate="%{x} units: at most %{y:.2g}<extra></extra>"),
            line_trace("network", n, measured, colour, 3, dots=8, customdata=n,
                       hovertemplate="%{x} units: %{y:.2g}<extra></extra>"),
            ring(f"{width} units", n[at : at + 1], measured[at : at + 1], colour, showlegend=True),
        ],
        log_axis("units n", [2**k for k in range(10)]),
        axis("error (root mean square)", type="log", dtick=2, exponentformat="power"),
        margin={"l": 84, "r": 20, "t": 66, "b": 56},
    )  # fmt: skip


DRAWN, TWIN = "my drawing", "twin"
PLAIN = {name: each.label for name, each in ACTIVATIONS.items() if not each.gated}
PLAIN[SQUARE.name] = f"{SQUARE.label}, a polynomial"
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDE"  # 41 heights, from -1 to 1
MIDDLE = len(DIGITS) // 2


Curve = tuple[float, ...]  # the heights of a drawing at its knots


def _read(text: str) -> Curve:
    """A drawing from its text in a URL, one digit per knot."""
    if len(text) != KNOTS or any(sign not in DIGITS for sign in text):
        return START
    return tuple((DIGITS.index(sign) - MIDDLE) / MIDDLE for sign in text)


def _written(curve: Curve) -> str:
    return "".join(DIGITS[round(value * MIDDLE) + MIDDLE] for value in curve)


START = tuple(round(MIDDLE * np.sin(5 * k / KNOTS) * (k / KNOTS)) / MIDDLE for k in range(KNOTS))
FUNCTION = choice_setting("function", {name: name for name in (*FUNCTIONS, DRAWN)}).with_control(
    "Function on [−2, 2]"
)
PHI = choice_setting("phi", {TWIN: "the network's", **PLAIN}).with_control("φ")
UNITS = count_setting("units", 8, 1, WIDTHS[-1]).with_control("units n", WIDTHS)
CURVE: Setting[Curve] = Setting("curve", START, _read, _written)
SETTINGS = (FUNCTION, PHI, UNITS, CURVE)


def sheet(run: Run, values: Values) -> Sheet:
    """The drawing, the fit and its pieces, and the error against n, over the verdicts."""
    name, curve, phi, own = values[FUNCTION], values[CURVE], values[PHI], run.card.phi
    usual = own.name if own.name in ACTIVATIONS else "relu"
    words = f"the network's: {own.label}"
    if usual != own.name:
        words = f"ReLU: the network's {own.label} cannot be fitted"
    phi = usual if phi == TWIN else phi
    setup = (name, phi, curve if name == DRAWN else None)
    place = nearest(WIDTHS, values[UNITS])
    drawing = drawing_cell(
        "Draw over it, or move its points with the arrow keys", curve, run.card.colour,
        "lab-drawing", lambda new: set_to(CURVE, tuple(new)),
    )  # fmt: skip
    canvas = [drawing] if name == DRAWN else []

    def after(measured: Measured[Approximation]) -> list[Row]:
        result = measured.result
        pictures = the_fit(run, result, place), the_errors(run, result, place)
        verdicts = row(verdicts_of(run, "lab-fit", result.findings))
        return [row(*canvas, *pictures), verdicts]

    networks = f"{len(WIDTHS)} networks of 1 to {WIDTHS[-1]} units"
    soon = (Soon("lab-pieces", "The function, and what each unit adds to the fit"),
            Soon("lab-errors", "The error against the number of units"))  # fmt: skip
    before = [row(*canvas, *soon), row(Soon("lab-fit", "What textbooks say of it", 120))]
    doing = f"Fitting {networks} …"
    fits = Measurement("fit", setup, fit, after, (name, curve, phi), before, "Fit", doing)
    return Sheet([fits], (FUNCTION, replace(PHI, options={**PHI.options, TWIN: words}), UNITS))


def fit(_: Run, progress: Progress, name: str, curve: Curve, phi: str) -> Approximation:
    """Train networks of all widths on the function of that name."""
    function = piecewise_linear(curve) if name == DRAWN else FUNCTIONS[name]
    return approximate(function, phi, progress=progress, jumps=JUMPS.get(name, ()))


def the_fit(run: Run, result: Approximation, place: int) -> Cell:
    """The function, the network, and each unit's piece."""
    fit, n = result.fits[place], result.widths[place]
    sentence: Sentence = [
        number(f"{n} unit{'s' * (n > 1)}"), f" of {phi_of(result.activation).label} are off by ",
        f"{short(fit.error)} on average, and by {short(fit.largest)} at most; the best "
        f"straight line by {short(result.line)} on average.",
    ]  # fmt: skip
    return chart_cell(
        Head(sentence, "lab-pieces", run.card.colour),
        fitted(result.x, result.y, fit.fitted, _pieces(result, fit), f"@{run.card.colour}"),
        "The function, the network fitted to it, and what each of its units adds.",
        key="lab-fit",
        height=560,
    )


def the_errors(run: Run, result: Approximation, place: int) -> Cell:
    """The error against the number of units."""
    sentence: Sentence = [
        f"From 1 unit to {result.widths[-1]} the mean error goes from "
        f"{short(result.fits[0].error)} to ", number(short(result.fits[-1].error)),
        ", the largest from ", short(result.fits[0].largest), " to ",
        short(result.fits[-1].largest), ".",
    ]  # fmt: skip
    return chart_cell(
        Head(sentence, "lab-errors", run.card.colour),
        errors(
            result.widths, np.array([fit.error for fit in result.fits]),
            np.array([fit.largest for fit in result.fits]), np.array(result.bounds),
            result.line, result.widths[place], f"@{run.card.colour}",
        ),
        "The mean and the largest error against the number of units, both logarithmic.",
        height=560,
    )  # fmt: skip


def _pieces(result: Approximation, fit: Fit) -> NDArray[np.float64]:
    with torch.no_grad():
        x = torch.from_numpy(result.x)
        before = torch.outer(torch.from_numpy(fit.weight), x) + torch.from_numpy(fit.bias)[:, None]
        units = phi_of(result.activation).function(before).numpy()
    pieces: NDArray[np.float64] = fit.out[:, None] * units
    return pieces
