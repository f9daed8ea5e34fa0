"""No nonlinearity: the FFN becomes one linear map of rank at most d_model."""

from torch import Tensor

from ffnviz.models.activations.activation import Activation


def identity(x: Tensor) -> Tensor:
    """φ(x) = x, any shape."""
    return x


IDENTITY = Activation(
    "identity",
    "identity",
    "x",
    identity,
    source="none: no plain FFN that we know of has it; it stands for the FFN without φ",
    numpy="z",
    torch="z",
    line=("@muted", "dashdot"),
)
