"""One hidden layer fitted to a function on [-2, 2]: Adam, and least squares for its output."""

import math
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.models.activations import ACTIVATIONS, Activation
from ffnviz.models.optimizers import Adam

REACH = 2.0
STEPS = 200
RATE = 0.01

SQUARE = Activation("square", "x²", "x^2", torch.square, source="a polynomial")


@dataclass(frozen=True)
class Fit:
    """One network: Σ_k out_k φ(weight_k x + bias_k) + offset."""

    # weight, bias, out: of its units, (n,)
    weight: NDArray[np.float64]
    bias: NDArray[np.float64]
    out: NDArray[np.float64]
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
