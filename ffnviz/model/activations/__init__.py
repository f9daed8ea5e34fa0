"""The activation functions a configuration can name. A new one is a new file and a line here."""

from ffnviz.model.activations.activation import Activation
from ffnviz.model.activations.gelu import GEGLU, GELU, GELU_TANH
from ffnviz.model.activations.glu import GLU
from ffnviz.model.activations.identity import IDENTITY
from ffnviz.model.activations.relu import REGLU, RELU
from ffnviz.model.activations.sigmoid import SIGMOID
from ffnviz.model.activations.silu import SILU, SWIGLU
from ffnviz.model.activations.tanh import TANH

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
