"""How steeply each output of a map depends on each input, found a few outputs at a time."""

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.spread import Progress

DIRECTIONS = 3
SEED = 11
ROWS = 256  # tokens, of all copies together, that a layer holds the activations of at a time

Map = Callable[[Tensor], Tensor]


def slopes_heard(f: Map, x: Tensor, progress: Progress) -> NDArray[np.float64]:
    """‖∂ f(x)_i / ∂ x_j‖, (n, n); an output i is a row.

    A Frobenius norm is estimated from DIRECTIONS random directions (Hutchinson 1989): a derivative
    that is exactly zero stays so.

    Args:
        f: maps (B, n, d) to (B, n, d), each of the B by itself.
        x: where it is differentiated, (n, d).
        progress: told the share that is done; whoever raises an exception in there stops it.
    """
    n, d = x.shape
    generator = torch.Generator().manual_seed(SEED)
    directions = [torch.randn(n, d, generator=generator) for _ in range(DIRECTIONS)]
    squares = torch.zeros(n, n)
    at_once = max(1, ROWS // n)
    for first in range(0, n, at_once):
        outputs = torch.arange(first, min(n, first + at_once))
        # One copy of the sentence an output: what copy i gets back, it gets for output i alone.
        copies = x.expand(len(outputs), n, d).clone().requires_grad_()
        with torch.enable_grad():
            output = f(copies)[torch.arange(len(outputs)), outputs]  # (outputs, d)
        for k, direction in enumerate(directions):
            (slope,) = torch.autograd.grad(
                output, copies, direction[outputs], retain_graph=k < DIRECTIONS - 1,
                materialize_grads=True,  # what the output does not hear at all has a slope of 0
            )  # fmt: skip
            squares[outputs] += slope.square().sum(dim=-1)
            progress((first + len(outputs) * (k + 1) / DIRECTIONS) / n)
    return (squares.double() / DIRECTIONS).sqrt().numpy()


def shares(slopes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each slope as a share of its row's sum, (n, n): of all that an output hears."""
    whole: NDArray[np.float64] = np.maximum(slopes.sum(axis=1, keepdims=True), 1e-300)
    return slopes / whole
