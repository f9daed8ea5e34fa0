"""One hidden layer fitted to a function on [-2, 2]: Adam, and least squares for its output."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.lab.experiment import Check, Finding, Result, Said, Subject
from ffnviz.analysis.lab.tolerances import trend_by_chance
from ffnviz.analysis.measuring import Progress
from ffnviz.analysis.number_format import short
from ffnviz.models.activations import ACTIVATIONS, Activation
from ffnviz.models.network import NotForThisNetwork
from ffnviz.models.torch_shortcuts import Adam

REACH = 2.0
STEPS = 200
RATE = 0.01

SQUARE = Activation("square", "x²", "x^2", torch.square, source="a polynomial")


@dataclass(frozen=True)
class Fit:
    """One network: Σ_k out_k φ(weight_k x + bias_k) + offset."""

    weight: NDArray[np.float64]  # of its units, (n,)
    bias: NDArray[np.float64]  # likewise
    out: NDArray[np.float64]  # likewise
    offset: float
    fitted: NDArray[np.float64]  # its values between the points of the fit
    error: float  # the root mean squared difference there
    largest: float  # the largest difference, there and on both sides of a jump


def phi_of(name: str) -> Activation:
    """A φ by its name: an encoder's, or "square"."""
    return SQUARE if name == SQUARE.name else ACTIVATIONS[name]


def fit_to(
    x: Tensor, y: Tensor, activation: str, n: int, measured: Tensor, expected: Tensor
) -> Fit:
    """A network of n units fitted to y at x.

    Its errors are those from `expected` at `measured`, of which the first len(x) − 1 places are
    those between the points of x.
    """
    function = phi_of(activation).function
    # The units bend at evenly spaced places, and every second one faces the other way.
    places = torch.linspace(-REACH, REACH, n + 2, dtype=x.dtype)[1:-1]
    sign = 1.0 - 2.0 * (torch.arange(n) % 2)
    steepness = torch.full((n,), max(1.0, n / 8), dtype=x.dtype) * sign
    weight, bias = steepness.clone().requires_grad_(), (-steepness * places).requires_grad_()
    optimiser = Adam([weight, bias], lr=RATE * max(1.0, n / 16))
    best = (math.inf, weight.detach().clone(), bias.detach().clone())
    for _ in range(STEPS if n <= 64 else STEPS // 8):
        columns = _columns(function(torch.outer(x, weight) + bias))
        with torch.no_grad():
            solution, error = least_squares(columns, y)
        if error < best[0]:
            best = (error, weight.detach().clone(), bias.detach().clone())
        # The output's weights are optimal, so only the hidden ones have a gradient here.
        loss = ((columns @ solution - y) ** 2).mean()
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    _, weight, bias = best
    with torch.no_grad():
        solution, _ = least_squares(_columns(function(torch.outer(x, weight) + bias)), y)
        fitted = _columns(function(torch.outer(measured, weight) + bias)) @ solution
    difference, between = (fitted - expected).abs(), slice(len(x) - 1)
    return Fit(
        weight.numpy(),
        bias.numpy(),
        solution[:-1].numpy(),
        float(solution[-1]),
        fitted[between].numpy(),
        float(difference[between].square().mean().sqrt()),
        float(difference.max()),
    )


def _columns(hidden: Tensor) -> Tensor:
    return torch.cat([hidden, torch.ones_like(hidden[:, :1])], dim=1)


def least_squares(columns: Tensor, y: Tensor) -> tuple[Tensor, float]:
    """The best weights of the columns, (n, k) -> (k,), and their root mean squared error."""
    # A small ridge keeps the weights of collinear columns finite.
    gram = columns.mT @ columns
    ridge = 1e-12 * float(gram.diagonal().mean()) + 1e-300
    gram = gram + ridge * torch.eye(len(gram), dtype=gram.dtype)
    solution = torch.linalg.solve(gram, columns.mT @ y)
    return solution, float(((columns @ solution - y) ** 2).mean().sqrt())


POINTS = 513  # to which a network is fitted; it is measured half way between them
NEXT_TO = 1e-9  # the distance from a jump of the places on both sides that are measured
KNOTS = 33  # of a drawn function, straight in between
WIDTHS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
FEW = (1, 2, 4, 8, 16, 32, 64, 512)  # enough widths for a trend that is not chance
LEAST = 1e-12  # below this, an error in float64 is rounding
STRAIGHT = 1e-9  # below this, there is no error: far above rounding, far below any curve

FUNCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "wave": lambda x: torch.sin(3 * x),
    "|x|": torch.abs,
    "step": lambda x: (x > 0).to(x.dtype) * 2 - 1,
    "bump": lambda x: 2 * torch.exp(-8 * x**2) - 1,
    "sawtooth": lambda x: 2 * (x - torch.floor(x)) - 1,
    "chirp": lambda x: torch.sin(2 * math.pi * (x + REACH) ** 2 / 4),
    "straight line": lambda x: x / 2,
}
JUMPS = {"step": (0.0,), "sawtooth": (-1.0, 0.0, 1.0)}  # where a function is not continuous
POLYNOMIALS = ("identity", SQUARE.name)
THEOREM = (
    "φ is not a polynomial, and the function continuous, on a compact set (proved, not tested: "
    "Leshno 1993, for every φ that is continuous but for jumps)"
)
ONE_FIT = "one fitted function proves nothing about all the others"
NOT_FOUND = "training found no network that is as close, which does not prove that there is none"


@dataclass(frozen=True)
class Approximation(Result):
    """A function and its fits."""

    activation: str  # φ, by its name
    x: NDArray[np.float64]  # half way between the points of the fit, (POINTS − 1,)
    y: NDArray[np.float64]  # the function there, likewise
    widths: tuple[int, ...]  # the numbers of units
    fits: tuple[Fit, ...]  # one a width
    bounds: tuple[float, ...]  # the error that n ReLU units need not exceed, one a width
    everywhere: tuple[float, ...]  # likewise the largest error, where the function does not jump
    line: float  # the error of the best straight line


def piecewise_linear(knots: Sequence[float]) -> Callable[[Tensor], Tensor]:
    """The function through evenly spaced values on [-2, 2], straight in between."""

    def function(x: Tensor) -> Tensor:
        return torch.from_numpy(np.interp(x.numpy(), np.linspace(-REACH, REACH, len(knots)), knots))

    return function


def approximate(
    function: Callable[[Tensor], Tensor],
    activation: str,
    widths: Sequence[int] = WIDTHS,
    progress: Progress = lambda _: None,
    jumps: Sequence[float] = (),
) -> Approximation:
    """Fit networks of every width, each from its own evenly spread start.

    Hidden weights by Adam, the output's by least squares, in float64; measured between the points
    of the fit, which exposes a network that only memorised these. n ReLU units can form straight
    pieces between n evenly spaced points, which in each piece are no further off than the function
    moves there; so can n of GELU or SiLU, as φ(kx)/k approaches ReLU for a large k, and a staircase
    of steep sigmoids. Every continuous function on a compact set can be approximated with every φ
    that is not a polynomial, if φ is bounded on bounded sets and continuous but for jumps (Leshno
    et al. 1993; Pinkus 1999); this bound follows from the pieces alone. The start already meets it.

    `jumps` are the places where the function is not continuous.
    """
    at = torch.linspace(-REACH, REACH, POINTS, dtype=torch.float64)
    x = (at[1:] + at[:-1]) / 2
    sides = [place + side for place in jumps for side in (-NEXT_TO, NEXT_TO)]
    measured_at = torch.cat([x, torch.tensor(sides, dtype=x.dtype)])
    y = function(measured_at)
    fits = []
    for n in widths:
        fits.append(fit_to(at, function(at), activation, n, measured_at, y))
        progress(len(fits) / len(widths))
    y = y[: len(x)]
    bounds, everywhere = zip(*(_piecewise_bounds(x, y, n, jumps) for n in widths), strict=True)
    line = least_squares(torch.stack([x, torch.ones_like(x)], dim=1), y)[1]
    findings = (
        _universal(activation, widths[-1], fits[-1], (bounds[-1], everywhere[-1]), line, jumps),
        _wider([fit.error for fit in fits], widths, line),
    )
    return Approximation(
        activation,
        x.numpy(),
        y.numpy(),
        tuple(widths),
        tuple(fits),
        bounds,
        everywhere,
        line,
        findings=findings,
    )


def _universal(
    phi: str, n: int, fit: Fit, allowed: tuple[float, float], line: float, jumps: Sequence[float]
) -> Finding:
    """The widest network against straight pieces: everywhere, or on average where it jumps."""
    on_average = Check(fit.error, "≤", max(allowed[0], LEAST))
    words = ("nowhere far off", "far off where it jumps") if jumps else None
    everywhere = Check(fit.largest, "≤", max(allowed[1], LEAST), words=words)
    good = everywhere.passed or (bool(jumps) and on_average.passed)
    return Finding(
        f"One hidden layer of {phi_of(phi).label} fits this function if it is wide enough.",
        f"nowhere further off than {n} straight pieces between points of the curve",
        f"{n} neurons, between the points of the fit: off by {short(fit.error)} (root mean "
        f"square) and by {short(fit.largest)} at most; the best straight line by {short(line)}",
        everywhere,
        "a small error on average is enough: the function jumps, and there a sum of continuous "
        "neurons is off by half the jump or more",
        on_average if jumps else None,
        untestable="" if good or phi in POLYNOMIALS else NOT_FOUND,
    ).cited("Goodfellow, Bengio & Courville 2016, section 6.4.1")


def _wider(errors: Sequence[float], widths: Sequence[int], line: float) -> Finding:
    """Of two widths the wider should have the smaller error: Kendall's S over all pairs.

    No difference smaller than STRAIGHT counts. Errors that have nothing to do with the width
    exceed the tolerance in one of 1,000 cases.
    """
    pairs = [(narrow, wide) for k, narrow in enumerate(errors) for wide in errors[k + 1 :]]
    fell = sum(wide < narrow - STRAIGHT for narrow, wide in pairs)
    rose = sum(wide > narrow + STRAIGHT for narrow, wide in pairs)
    limit = trend_by_chance(len(errors))
    few = f"{len(errors)} widths are too few for a trend" if limit >= len(pairs) else ""
    return Finding(
        "A wider layer fits better.",
        "an error that falls as n grows, if not at every step",
        f"of {len(pairs)} pairs of widths the wider one is better in {fell} and worse in {rose}: "
        f"error {short(errors[0])} with {widths[0]} neuron, {short(errors[-1])} with {widths[-1]}",
        Check(fell - rose, ">", limit, "pairs"),
        untestable="a straight line is all there is to fit" if line < STRAIGHT else few,
    ).cited("Barron 1993")


def three_phis(subject: Subject, progress: Progress = lambda _: None) -> Result:
    """The wave fitted with this network's φ at some widths, with x² and identity at the widest."""
    phi = subject.model.card.phi
    if phi.name not in ACTIVATIONS:
        raise NotForThisNetwork(
            f"Not for {subject.model.card.label}: its φ, {phi.label}, cannot be fitted here."
        )
    wave, widest = FUNCTIONS["wave"], FEW[-1]
    own = approximate(wave, phi.name, FEW, lambda share: progress(0.8 * share))
    square = approximate(wave, "square", (widest,), lambda share: progress(0.8 + 0.1 * share))
    straight = approximate(wave, "identity", (widest,), lambda share: progress(0.9 + 0.1 * share))
    allowed = own.everywhere[-1]
    error, of_square, of_line = (each.fits[-1].largest for each in (own, square, straight))
    sentence = (
        f"sin 3x with {widest} neurons, between the points of the fit: off by at most "
        f"{short(error)} with {ACTIVATIONS[phi.name].label}, by {{}}"
    )

    def judged(claim: str, expected: str, other: str, largest: float) -> Finding:
        of_all, of_own = Check(largest, "≤", allowed), Check(error, "≤", allowed)
        expected = f"{expected}, an error no larger than straight pieces have"
        measured, people = sentence.format(other), Said.PEOPLE
        return Finding(
            claim, expected, measured, of_all, THEOREM, of_own, unproved=ONE_FIT, said=people
        )

    not_linear = judged(
        "With any φ that is not linear, one wide hidden layer fits any function.",
        "with x², which is not linear",
        f"{short(of_square)} with x²",
        max(error, of_square),
    )
    any_phi = judged(
        "A wide enough hidden layer fits any function, whatever φ is.",
        "with identity, too",
        f"{short(of_line)} with identity",
        max(error, of_square, of_line),
    )
    return Result(findings=(not_linear, *own.findings, any_phi))


def _piecewise_bounds(x: Tensor, y: Tensor, n: int, jumps: Sequence[float]) -> tuple[float, float]:
    """Bounds of the error of straight pieces between n + 1 points: the function's move in each.

    The root mean square of all pieces', and the largest of those in which it does not jump.
    """
    edges = sorted({round(place * (len(y) - 1) / n) for place in range(n + 1)})
    squares, largest = y.new_zeros(len(y)), 0.0
    for start, end in pairwise(edges):
        piece = y[start : end + 1]
        move = float(piece.max() - piece.min())
        squares[start : end + 1] = squares[start : end + 1].clamp_min(move**2)
        if not any(x[start] < jump < x[end] for jump in jumps):
            largest = max(largest, move)
    return float(squares.mean().sqrt()), largest
