"""The activation functions a configuration can name. A new one is a new file in this folder."""

from importlib import import_module
from pkgutil import iter_modules

from ffnviz.models.activations.activation import Activation

ACTIVATIONS: dict[str, Activation] = {
    value.name: value
    for file in iter_modules(__path__)  # in the order of their names
    for value in vars(import_module(f"{__name__}.{file.name}")).values()
    if isinstance(value, Activation)
}

__all__ = ["ACTIVATIONS", "Activation"]
