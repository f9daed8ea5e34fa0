"""A network's φ: which function stands between the two matrices, and what a page calls it."""

import copy
from collections.abc import Callable, Iterator
from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ffnviz.models.activations import ACTIVATIONS, Activation
from ffnviz.models.external.compare import error
from ffnviz.models.external.watch import BlockPass, is_leaf

Phi = Callable[[Tensor], Tensor]
AS_NEAR = 1e-6  # as a share of REACH
REACH = 12.0
GRID = torch.linspace(-REACH, REACH, 4_801)


def _relu_squared(x: Tensor) -> Tensor:
    return F.relu(x).square()


def _quick_gelu(x: Tensor) -> Tensor:
    return x * torch.sigmoid(1.702 * x)


RELU_SQUARED = Activation(
    "relu_squared",
    "ReLU²",
    r"\max(0, x)^2",
    _relu_squared,
    "So et al. 2021, section 4",
    exact_zeros=True,
    below_zero=False,
)
QUICK_GELU = Activation(
    "quick_gelu",
    "quick GELU",
    r"x\,\sigma(1.702\,x)",
    _quick_gelu,
    "Hendrycks & Gimpel 2016, section 2",
)
_PLAIN = sorted(  # identity last: on positive values ReLU is the same
    (*(a for a in ACTIVATIONS.values() if not a.gated), RELU_SQUARED, QUICK_GELU),
    key=lambda activation: activation.name == "identity",
)


def candidates(seen: BlockPass, width: int) -> Iterator[Phi]:
    """The functions that may be φ: modules that ran on d_ff values, then the usual functions.

    A network that calls φ as a plain function has no module for it.
    """
    yield from dict.fromkeys(
        call.module
        for call in seen.calls
        if is_leaf(call.module)
        and call.input.shape == call.output.shape
        and call.input.shape[-1] == width
    )
    for activation in _PLAIN:
        yield activation.function


@torch.no_grad()
def is_elementwise(phi: Phi, values: Tensor, tolerance: float) -> bool:
    """Whether φ treats each value alone and alike, which a norm does not."""
    few = values[:2]
    stretched = few.clone()
    stretched[..., 0] += 7
    alone = error(phi(stretched)[..., 1:], phi(few)[..., 1:])
    alike = error(phi(few.flip(-1)), phi(few).flip(-1))
    return alone <= tolerance and alike <= tolerance


@torch.no_grad()
def same(one: Phi, other: Phi) -> bool:
    """Whether two functions have the same values."""
    if one is other:
        return True
    return float((_on_cpu(one)(GRID) - _on_cpu(other)(GRID)).abs().max()) < AS_NEAR * REACH


def _on_cpu(phi: Phi) -> Phi:
    return copy.deepcopy(phi).float().cpu() if isinstance(phi, nn.Module) else phi


@torch.no_grad()
def named(phi: Phi, gated: bool) -> Activation:
    """φ as an Activation: one of ours if the values agree, else one named after its class."""
    for known in _PLAIN:
        if same(known.function, phi):
            return _gated(known) if gated else known
    name = type(phi).__name__ if isinstance(phi, nn.Module) else getattr(phi, "__name__", "φ")
    label = name.removesuffix("Activation") or name
    function = _on_cpu(phi)
    values = function(GRID)
    activation = Activation(
        label.lower(),
        label,
        r"\varphi(x)",
        function,
        "the network's own",
        exact_zeros=bool((values[GRID < 0] == 0).all()),
        below_zero=bool((values < 0).any()),
    )
    return _gated(activation) if gated else activation


def _gated(plain: Activation) -> Activation:
    for known in ACTIVATIONS.values():
        if known.gated and known.function is plain.function:
            return known
    return replace(
        plain,
        name=f"{plain.name}_glu",
        label=f"gated {plain.label}",
        formula=rf"\left({plain.formula}\right) \cdot v",
        gated=True,
        numpy="",
    )
