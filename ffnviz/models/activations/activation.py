"""An activation function, with all that any page or analysis says of it."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

Array = NDArray[np.floating]


@dataclass(frozen=True)
class Activation:
    """An elementwise function φ, and whether the FFN multiplies it by a second projection.

    Attributes:
        name: how a configuration asks for it, for example ``"gelu"``.
        label: how a page writes it, for example ``"GELU"``.
        formula: φ(x) in LaTeX; for a gated variant, of the two projections x and v.
        function: φ itself, any shape to the same shape, never in place.
        source: the paper that introduced it.
        gated: True for the GLU variants of Shazeer (2020): hidden = φ(xW) ⊗ (xV).
        exact_zeros: whether φ is exactly zero on a whole side, as ReLU is.
        below_zero: whether φ is below zero anywhere.
        numpy: φ(z) in NumPy, which the page shows and runs; "" if that is not known.
        torch: the same in PyTorch, for the page.
        line: its curve's colour in the palette, and its dash.
        steepest: no slope of φ is larger; GELU's largest is 1.129, at √2.

    Examples:
        >>> phi = ffnviz.load("relu").card.phi
        >>> phi.name, phi.exact_zeros, phi.function(torch.tensor([-1.0, 2.0]))
        ('relu', True, tensor([0., 2.]))
    """

    name: str
    label: str
    formula: str
    function: Callable[[Tensor], Tensor]
    source: str
    gated: bool = False
    exact_zeros: bool = False
    below_zero: bool = True
    numpy: str = ""
    torch: str = "φ(z)"
    line: tuple[str, str] = ("@line", "solid")
    steepest: float = 1.13

    def with_gate(self, name: str, label: str, source: str) -> "Activation":
        """Its gated variant: hidden = φ(xW) ⊗ (xV)."""
        return replace(
            self,
            name=name,
            label=label,
            source=source,
            formula=rf"{self.formula} \cdot v",
            gated=True,
            numpy="",
            torch="φ(z)",
            line=("@line", "solid"),
        )

    def in_numpy(self, z: Array) -> Array:
        """φ(z) by `numpy`, any shape to the same shape."""
        value: Array = eval(self.numpy, {"np": np, "math": math, "z": z})  # noqa: S307 (ours)
        return value
