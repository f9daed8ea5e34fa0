"""Fit a function: choose or draw one, and see how many units it takes."""

import numpy as np
import streamlit as st
import torch
from numpy.typing import NDArray

from ffnviz.analysis.lab.approximation import (
    FUNCTIONS,
    JUMPS,
    KNOTS,
    SQUARE,
    WIDTHS,
    Approximation,
    Fit,
    approximate,
    drawn,
    phi_of,
)
from ffnviz.analysis.number_format import short
from ffnviz.analysis.spread import Progress
from ffnviz.figures.lab.fit import errors, fitted
from ffnviz.figures.wording import Sentence, number
from ffnviz.models.activations import ACTIVATIONS
from ffnviz.parts.lab.subject import show_verdicts, tally
from ffnviz.parts.measurement import measure_button
from ffnviz.parts.part import Navigator, live
from ffnviz.pictures.chart import chart
from ffnviz.pictures.drawing import drawing
from ffnviz.pictures.head import Head
from ffnviz.pictures.slider import nearest, slider
from ffnviz.state.run import Run
from ffnviz.state.settings import Setting, choice_setting, count_setting

DRAWN = "my drawing"
PLAIN = {name: each.label for name, each in ACTIVATIONS.items() if not each.gated}
PLAIN[SQUARE.name] = f"{SQUARE.label}, a polynomial"
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDE"  # 41 heights, from -1 to 1
MIDDLE = len(DIGITS) // 2


def _read(text: str) -> tuple[float, ...]:
    """A drawing as a URL has it: a digit a knot."""
    if len(text) != KNOTS or any(sign not in DIGITS for sign in text):
        return START
    return tuple((DIGITS.index(sign) - MIDDLE) / MIDDLE for sign in text)


def _written(values: tuple[float, ...]) -> str:
    return "".join(DIGITS[round(value * MIDDLE) + MIDDLE] for value in values)


START = tuple(round(MIDDLE * np.sin(5 * k / KNOTS) * (k / KNOTS)) / MIDDLE for k in range(KNOTS))
FUNCTION = choice_setting("function", {name: name for name in (*FUNCTIONS, DRAWN)})
PHI = choice_setting("phi", {"twin": "the network's", **PLAIN})
UNITS = count_setting("units", 8, 1, WIDTHS[-1])
CURVE: Setting[tuple[float, ...]] = Setting("curve", START, _read, _written)
SETTINGS = (FUNCTION, PHI, UNITS, CURVE)


@live
def render(run: Run, navigator: Navigator) -> None:
    """The function and φ, the fit and its pieces, the error against n."""
    left, middle, right = st.columns([0.8, 1.2, 1], gap="medium")
    with left:
        name, phi = what_to_fit(run, navigator)
        values = navigator.value(CURVE)
        setup = (name, phi, values if name == DRAWN else None)
        measured = measure_button(
            "fit",
            setup,
            run,
            fit,
            name,
            values,
            phi,
            label="Fit",
            doing=f"Fitting {len(WIDTHS)} networks of 1 to {WIDTHS[-1]} units …",
        )
    if measured is None:
        return
    found: Approximation = measured.result
    with left:
        if measured.setup != setup:
            st.warning("This was fitted to another function or with another φ. Press “Fit” again.")
        show_verdicts(
            run,
            Head(tally(found.findings), "lab-fit", run.card.colour),
            found.findings,
            measured.when,
        )
    place = nearest(WIDTHS, navigator.value(UNITS))
    with middle:
        the_fit(run, found, place, measured.when)
        slider(
            "units n",
            [str(n) for n in found.widths],
            place,
            key="lab-units",
            on_choose=lambda stop, done: navigator.choose(UNITS, WIDTHS[stop], done),
        )
    with right:
        the_errors(run, found, place, measured.when)


def what_to_fit(run: Run, navigator: Navigator) -> tuple[str, str]:
    """The controls: the function, to be chosen or drawn, and φ."""
    name = st.selectbox("Function on [−2, 2]", **navigator.options(FUNCTION))
    if name == DRAWN:
        values = navigator.value(CURVE)
        drawing(
            "Draw over it, or move its points with the arrow keys",
            values,
            run.card.colour,
            key="lab-drawing",
            on_draw=lambda new: navigator.choose(CURVE, tuple(new)),
        )
    own = run.card.phi
    known = own.name in ACTIVATIONS
    labels = dict(PHI.options) | {"twin": f"the network's: {own.label}"}
    if not known:
        labels["twin"] = f"ReLU: the network's {own.label} cannot be fitted"
    phi = st.selectbox("φ", list(labels), format_func=labels.__getitem__, **navigator.widget(PHI))
    usual = own.name if known else "relu"
    return str(name), usual if phi == "twin" else str(phi)


def fit(
    run: Run,  # noqa: ARG001
    progress: Progress,
    name: str,
    values: tuple[float, ...],
    phi: str,
) -> Approximation:
    """Networks of all widths, trained on the function of that name."""
    function = drawn(values) if name == DRAWN else FUNCTIONS[name]
    return approximate(function, phi, progress=progress, jumps=JUMPS.get(name, ()))


def the_fit(run: Run, found: Approximation, place: int, version: str) -> None:
    """The function, the network, and each unit's piece."""
    fit, n = found.fits[place], found.widths[place]
    sentence: Sentence = [
        number(f"{n} unit{'s' * (n > 1)}"), f" of {phi_of(found.activation).label} are off by ",
        number(short(fit.error)), f" on average, and by {short(fit.largest)} at most; the best "
        f"straight line by {short(found.line)} on average.",
    ]  # fmt: skip
    chart(
        Head(sentence, "lab-pieces", run.card.colour),
        fitted(found.x, found.y, fit.fitted, _pieces(found, fit), f"@{run.card.colour}"),
        "The function, the network fitted to it, and what each of its units adds.",
        f"{run.stamp} {version} {n}",
        key="lab-fit",
        height=560,
    )


def the_errors(run: Run, found: Approximation, place: int, version: str) -> None:
    """The error against the number of units."""
    sentence: Sentence = [
        "From 1 unit to ", number(f"{found.widths[-1]}"), " the error goes from ",
        number(short(found.fits[0].error)), " to ", number(short(found.fits[-1].error)),
        ", the largest from ", short(found.fits[0].largest), " to ",
        short(found.fits[-1].largest), ".",
    ]  # fmt: skip
    chart(
        Head(sentence, "lab-errors", run.card.colour),
        errors(
            found.widths, np.array([fit.error for fit in found.fits]),
            np.array([fit.largest for fit in found.fits]), np.array(found.bounds),
            found.line, found.widths[place], f"@{run.card.colour}",
        ),
        "The mean and the largest error against the number of units, both logarithmic.",
        f"{run.stamp} {version} {place}",
        key="lab-errors",
        height=560,
    )  # fmt: skip


def _pieces(found: Approximation, fit: Fit) -> NDArray[np.float64]:
    with torch.inference_mode():
        x = torch.from_numpy(found.x)
        before = torch.outer(torch.from_numpy(fit.weight), x) + torch.from_numpy(fit.bias)[:, None]
        units = phi_of(found.activation).function(before).numpy()
    pieces: NDArray[np.float64] = fit.out[:, None] * units
    return pieces
