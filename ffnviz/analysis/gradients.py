"""A vector times a map's Jacobian, and how steeply each output of a map depends on each input."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.measuring import Progress


def vector_jacobian(
    vector: Tensor,
    output: Tensor,
    inputs: Sequence[Tensor],
    retain_graph: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor, ...]:
    """vᵀ ∂output/∂input for each input, in the input's shape; v has the output's shape.

    The gradient of vᵀ output is the same to the bit. torch.autograd.grad takes v too, but then
    imports a library for symbolic shapes: 0.6 s and 34 MB, at the first time.
    """
    with torch.enable_grad():
        along = (output * vector).sum()
    return torch.autograd.grad(
        along, inputs, retain_graph=retain_graph, materialize_grads=materialize_grads
    )


DIRECTIONS = 3
SEED = 11
ROWS = 256  # tokens, of all copies together, whose activations a layer holds at a time

Map = Callable[[Tensor], Tensor]


def input_slopes(f: Map, x: Tensor, progress: Progress) -> NDArray[np.float64]:
    """‖∂ f(x)_i / ∂ x_j‖, (n, n), a row for each output i, of f from (B, n, d) to (B, n, d).

    The Frobenius norm is estimated from DIRECTIONS random directions (Hutchinson 1989): a
    derivative that is exactly zero stays so.
    """
    n, d = x.shape
    generator = torch.Generator().manual_seed(SEED)
    directions = [torch.randn(n, d, generator=generator) for _ in range(DIRECTIONS)]
    squares = torch.zeros(n, n)
    at_once = max(1, ROWS // n)
    for first in range(0, n, at_once):
        outputs = torch.arange(first, min(n, first + at_once))
        # One copy of the sentence for each output, so that its gradient is that output's alone.
        copies = x.expand(len(outputs), n, d).clone().requires_grad_()
        with torch.enable_grad():
            output = f(copies)[torch.arange(len(outputs)), outputs]  # (outputs, d)
        for k, direction in enumerate(directions):
            (slope,) = vector_jacobian(
                direction[outputs],
                output,
                [copies],
                retain_graph=k < DIRECTIONS - 1,
                materialize_grads=True,  # zeros where the output does not depend on the input
            )
            squares[outputs] += slope.square().sum(dim=-1)
            progress((first + len(outputs) * (k + 1) / DIRECTIONS) / n)
    return (squares.double() / DIRECTIONS).sqrt().numpy()


def shares(slopes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each slope as a share of its row's sum, (n, n)."""
    sums: NDArray[np.float64] = np.maximum(slopes.sum(axis=1, keepdims=True), 1e-300)
    return slopes / sums
