"""A result's very bits, to compare two results in which a number may also be no number."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass

import numpy as np
from torch import Tensor


def bits(value: object) -> object:
    """The same nest of tuples for two values, only if they agree in every bit."""
    if isinstance(value, Tensor):
        return bits(value.detach().numpy())
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, float):
        return np.float64(value).tobytes()
    if is_dataclass(value):
        compared = [field.name for field in fields(value) if field.compare]
        return tuple((name, bits(getattr(value, name))) for name in compared)
    if isinstance(value, Mapping):
        return tuple((name, bits(each)) for name, each in value.items())
    if isinstance(value, tuple | list):
        return tuple(map(bits, value))
    return value
