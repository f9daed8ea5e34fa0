"""What a person hands to a pass or an edit, checked before anything is computed."""

import math
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from numbers import Real
from typing import Any

import torch
from torch import Tensor


def check_text(text: object) -> None:
    """Check that a text is a str.

    Raises:
        TypeError: if it is not.
    """
    if not isinstance(text, str):
        raise TypeError(
            f"A text is a str, and this is of type {type(text).__name__}. "
            "Of several texts, `traces` makes the traces."
        )


def check_ids(ids: object, vocab_size: int) -> None:
    """Check that ids are entries of a vocabulary.

    Raises:
        TypeError: if they are no tensor of whole numbers.
        ValueError: naming one that is not in the vocabulary.
    """
    if not isinstance(ids, Tensor) or not ids.ndim or ids.is_floating_point() or ids.is_complex():
        raise TypeError("ids must be a tensor of whole numbers, (*batch, T): torch.tensor([…]).")
    if ids.numel() and not 0 <= ids.min() <= ids.max() < vocab_size:
        wrong = ids[(ids < 0) | (ids >= vocab_size)][0]
        raise ValueError(
            f"There is no entry {int(wrong)} in the vocabulary: they count from 0 to "
            f"{vocab_size - 1:,}."
        )


def plain(value: Any) -> Any:
    """One number of PyTorch or NumPy as Python's own; anything else as it is."""
    return value.item() if getattr(value, "ndim", None) == 0 else value


def whole_numbers(name: str, given: Any) -> tuple[Any, ...]:
    """A copy of whole numbers, or of a mask.

    Raises:
        ValueError: naming the argument and what is wrong with it.
    """
    if hasattr(given, "ndim"):
        if given.ndim != 1:
            raise ValueError(
                f"{name} has the shape {tuple(given.shape)}: give numbers or a mask in one row, "
                "such as (hidden > 1).any(0)."
            )
        given = given.tolist()
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise ValueError(f"{name} = {given!r}: give whole numbers in a list, or a mask.")
    values = tuple(map(plain, given))
    kinds = {type(value) for value in values}
    if kinds == {bool, int}:
        raise ValueError(f"{name} mixes True and False with numbers: give a mask, or numbers.")
    wrong = [value for value in values if type(value) not in (int, bool)]
    if wrong:
        raise ValueError(f"{name} has {wrong[0]!r} in it: give whole numbers, or a mask.")
    return tuple(sorted(values)) if isinstance(given, AbstractSet) else values


def finite_number(name: str, given: Any) -> float:
    """One finite number.

    Raises:
        ValueError: if it is anything else.
    """
    value = plain(given)
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise ValueError(f"{name} = {given!r}: give one finite number.")
    return float(value)


def number_or_tensor(name: str, given: Any) -> float | Tensor:
    """One finite number, or a copy of a tensor of such.

    Raises:
        ValueError: if it is neither.
    """
    if not getattr(given, "ndim", 0):
        return finite_number(name, given)
    tensor = torch.as_tensor(given)
    if not tensor.is_floating_point() or not bool(tensor.isfinite().all()):
        raise ValueError(f"{name} has entries that are no finite floating-point numbers.")
    return tensor.clone()
