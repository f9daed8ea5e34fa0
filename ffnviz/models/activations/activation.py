"""What an activation function is to this package: a name, a curve and where it comes from."""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Activation:
    """An elementwise function φ, and whether the FFN multiplies it with a second projection.

    Attributes:
        name: how a configuration asks for it, for example ``"gelu"``.
        label: how a page writes it, for example ``"GELU"``.
        formula: φ(x) in LaTeX; for a gated variant, of the two projections x and v.
        function: φ itself, any shape to the same shape, never in place.
        gated: True for the GLU variants of Shazeer (2020): hidden = φ(xW) ⊗ (xV).
        source: the paper that introduced it.
        exact_zeros: whether φ is exactly zero on a whole side, as ReLU is.
        below_zero: whether φ is below zero anywhere.
    """

    name: str
    label: str
    formula: str
    function: Callable[[Tensor], Tensor]
    gated: bool
    source: str
    exact_zeros: bool = False
    below_zero: bool = True
