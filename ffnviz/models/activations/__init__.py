"""The activation functions a configuration can name. A new one is a new file and a line here."""

from ffnviz.models.activations.activation import Activation
from ffnviz.models.activations.gelu import GEGLU, GELU, GELU_TANH
from ffnviz.models.activations.glu import GLU
from ffnviz.models.activations.identity import IDENTITY
from ffnviz.models.activations.relu import REGLU, RELU
from ffnviz.models.activations.sigmoid import SIGMOID
from ffnviz.models.activations.silu import SILU, SWIGLU
from ffnviz.models.activations.tanh import TANH

ACTIVATIONS: dict[str, Activation] = {
    activation.name: activation
    for activation in (
        RELU,
        GELU,
        GELU_TANH,
        SILU,
        SIGMOID,
        TANH,
        IDENTITY,
        REGLU,
        GEGLU,
        SWIGLU,
        GLU,
    )
}

__all__ = ["ACTIVATIONS", "Activation"]
