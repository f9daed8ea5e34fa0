"""The equations once more in float64 NumPy, written from the papers and not from our code."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ffnviz.models.activations import ACTIVATIONS

Array = NDArray[np.float64]


def relu(x: Array) -> Array:
    """Nair & Hinton 2010."""
    return np.asarray(np.where(x > 0, x, 0.0))


def gelu(x: Array) -> Array:
    """Hendrycks & Gimpel 2016: x Φ(x), Φ the normal distribution function."""
    return np.asarray(x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2))))


def gelu_tanh(x: Array) -> Array:
    """Hendrycks & Gimpel 2016, the approximation: 0.5x(1 + tanh[√(2/π)(x + 0.044715x³)])."""
    return np.asarray(0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))))


def sigmoid(x: Array) -> Array:
    """1 / (1 + e⁻ˣ), written as 1 − 1 / (1 + eˣ) where e⁻ˣ would be large."""
    small = np.exp(-np.abs(x))
    return np.asarray(np.where(x < 0, small / (1 + small), 1 / (1 + small)))


def silu(x: Array) -> Array:
    """x σ(x)."""
    return np.asarray(x / (1 + np.exp(-x)))


def tanh(x: Array) -> Array:
    """(1 − e⁻²ˣ) / (1 + e⁻²ˣ), by expm1, which is exact near zero too."""
    return np.asarray(-np.expm1(-2 * np.abs(x)) / (2 + np.expm1(-2 * np.abs(x))) * np.sign(x))


# name: φ, and whether the FFN is gated (Shazeer 2020, eq. 5 and 6)
PLAIN: dict[str, Callable[[Array], Array]] = {
    "relu": relu, "gelu": gelu, "gelu_tanh": gelu_tanh, "silu": silu, "sigmoid": sigmoid,
    "tanh": tanh, "identity": lambda x: x,
}  # fmt: skip
GATED = {"reglu": relu, "geglu": gelu, "swiglu": silu, "glu": sigmoid}
PHI = {name: (phi, False) for name, phi in PLAIN.items()}
PHI |= {name: (phi, True) for name, phi in GATED.items()}
# Of one that came later, its own NumPy is held against its own PyTorch.
PHI |= {
    name: (lambda x, phi=phi: phi.in_numpy(x), phi.gated)  # type: ignore[misc]
    for name, phi in ACTIVATIONS.items()
    if name not in PHI
}


def softmax(scores: Array) -> Array:
    """Over the last axis; scores may be -inf."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def layer_norm(x: Array, norm: nn.Module) -> Array:
    """Ba et al. 2016, over the last axis, with the module's gain, bias and ε."""
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred**2).mean(axis=-1, keepdims=True)
    assert isinstance(norm, nn.LayerNorm)
    scaled = centred / np.sqrt(variance + norm.eps)
    return np.asarray(scaled * as_array(norm.weight) + as_array(norm.bias))


def linear(x: Array, module: nn.Module) -> Array:
    """X W + b; torch keeps W transposed."""
    assert isinstance(module, nn.Linear)
    return x @ as_array(module.weight).T + as_array(module.bias)


def as_array(tensor: Tensor) -> Array:
    """A tensor as float64."""
    return tensor.detach().double().numpy()


def randomise(module: nn.Module, seed: int = 0) -> Any:
    """Move every parameter away from its initial value, LayerNorms and biases included.

    With gains of 1 and biases of 0, as they are at first, exchanging or forgetting one would show
    nowhere.
    """
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            noise = torch.randn(parameter.shape, generator=generator, dtype=parameter.dtype)
            if parameter.ndim > 1:
                parameter.copy_(noise / math.sqrt(parameter.shape[-1]))
            else:
                parameter.add_(0.2 * noise)
    return module
