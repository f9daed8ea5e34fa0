"""The activation functions a configuration can name. A new one is a new file in this folder."""

from ffnviz.models.activations.activation import Activation
from ffnviz.models.discovery import modules

ACTIVATIONS: dict[str, Activation] = {
    value.name: value
    for module in modules(__name__, __path__)
    for value in vars(module).values()
    if isinstance(value, Activation)
}

__all__ = ["ACTIVATIONS", "Activation"]
