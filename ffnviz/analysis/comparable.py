"""Results that can be compared: arrays entry by entry."""

from dataclasses import fields
from typing import Any

import numpy as np
from torch import Tensor


class Comparable:
    """A result that equals another of its kind if all fields do; arrays by all their entries."""

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        names = [each.name for each in fields(self) if each.compare]  # type: ignore[arg-type]
        return all(_same(getattr(self, name), getattr(other, name)) for name in names)

    def __hash__(self) -> int:
        return hash(type(self))  # equal ones have the same; their arrays have none


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, Tensor):
        one, other = one.numpy(force=True), other.numpy(force=True)
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    return bool(one == other)
