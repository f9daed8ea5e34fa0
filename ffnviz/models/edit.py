"""Interventions: hidden neurons set to zero, scaled, or fixed to a value during a pass."""

import math
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any, SupportsIndex

import torch
from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True)
class Edit:
    """What is done to some neurons of one block's FFN, between φ and the compression.

    Attributes:
        block: from 0.
        neurons: which hidden neurons: their numbers, each from 0 to d_ff − 1, or a mask, (d_ff,),
            that is True for each of them. Kept as a tuple, whatever was given.
        scale: what their values are multiplied with; 0 puts them to sleep.
        value: what their values are fixed to instead; leave `scale` out then.
        tokens: at which tokens: from 0, or a mask, (T,); None at all of them.

    Raises:
        ValueError: unless exactly one of `scale` and `value` is given, and it is finite; if the
            block, a neuron or a token is no whole number.
    """

    block: int
    neurons: Iterable[SupportsIndex]
    scale: float | None = None
    value: float | None = None
    tokens: Iterable[SupportsIndex] | None = None

    def __post_init__(self) -> None:
        if (self.scale is None) == (self.value is None):
            raise ValueError("An edit needs either a scale or a value.")
        block = _plain(self.block)
        if type(block) is not int:
            raise ValueError(f"block = {block!r}: give one whole number, from 0.")
        # Copies, as a trace keeps its edits: what was given could change under it.
        copies: dict[str, Any] = {"block": block, "neurons": _numbers("neurons", self.neurons)}
        if self.tokens is not None:
            copies["tokens"] = _numbers("tokens", self.tokens)
        for name in ("scale", "value"):
            if getattr(self, name) is not None:
                copies[name] = _finite(name, getattr(self, name))
        for name, copy in copies.items():
            object.__setattr__(self, name, copy)

    @cached_property
    def _neurons(self) -> Tensor:
        return _indices(self.neurons)

    @cached_property
    def _tokens(self) -> Tensor:
        return _indices(self.tokens or ())

    def apply(
        self, hidden: Float[Tensor, "*batch tokens d_ff"]
    ) -> Float[Tensor, "*batch tokens d_ff"]:
        """The hidden values with this edit made, in a tensor of their own: (*batch, T, d_ff)."""
        neurons = self._neurons.to(hidden.device)
        if self.tokens is None:
            return self._change(hidden, neurons)
        tokens = self._tokens.to(hidden.device)
        changed = self._change(hidden.index_select(-2, tokens), neurons)
        return hidden.index_copy(-2, tokens, changed)

    def _change(self, hidden: Tensor, neurons: Tensor) -> Tensor:
        """The neurons changed at every token there is."""
        if self.scale is None:
            return hidden.index_fill(-1, neurons, float(self.value or 0))
        factors = hidden.new_ones(hidden.shape[-1])
        return hidden * factors.index_fill_(0, neurons, self.scale)

    def check(self, n_blocks: int, d_ff: int, n_tokens: int) -> None:
        """See that there is what it is to change.

        Raises:
            ValueError: naming what is not there, or a mask of another length.
        """
        for what, given, indices, count in (
            ("block", (self.block,), torch.tensor([self.block]), n_blocks),
            ("neuron", self.neurons, self._neurons, d_ff),
            ("token", self.tokens or (), self._tokens, n_tokens),
        ):
            length = _mask_length(given)
            if length not in (None, count):
                raise ValueError(
                    f"The mask of {what}s has {length:,} entries, but there are {count:,} {what}s."
                )
            for wrong in indices[(indices < 0) | (indices >= count)][:1]:
                raise ValueError(
                    f"There is no {what} {int(wrong)}: they count from 0 to {count - 1}."
                )


def _plain(value: Any) -> Any:
    """As Python's own, if it is one number of PyTorch or NumPy."""
    return value.item() if getattr(value, "ndim", None) == 0 else value


def _numbers(name: str, given: Any) -> tuple[Any, ...]:
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
    values = tuple(map(_plain, given))
    kinds = {type(value) for value in values}
    if kinds == {bool, int}:
        raise ValueError(f"{name} mixes True and False with numbers: give a mask, or numbers.")
    wrong = [value for value in values if type(value) not in (int, bool)]
    if wrong:
        raise ValueError(f"{name} has {wrong[0]!r} in it: give whole numbers, or a mask.")
    return tuple(sorted(values)) if isinstance(given, AbstractSet) else values


def _finite(name: str, given: Any) -> float:
    """One number.

    Raises:
        ValueError: if it is none, or not finite.
    """
    value = _plain(given)
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise ValueError(f"{name} = {given!r}: give one finite number.")
    return float(value)


def _mask_length(values: Any) -> int | None:
    """Of a mask; None of numbers."""
    return len(values) if values and type(values[0]) is bool else None


def _indices(values: Any) -> Tensor:
    """The numbers themselves; of a mask, where it is True."""
    if _mask_length(values) is None:
        return torch.tensor(values, dtype=torch.long)
    return torch.tensor(values).nonzero().flatten()


def edited(
    hidden: Float[Tensor, "*batch tokens d_ff"], edits: Sequence[Edit]
) -> Float[Tensor, "*batch tokens d_ff"]:
    """The hidden values with all edits made in their order; without any, the same tensor."""
    for edit in edits:
        hidden = edit.apply(hidden)
    return hidden


def edits_of(edits: Sequence[Edit], block: int) -> tuple[Edit, ...]:
    """Those that are made in one block, in their order."""
    return tuple(edit for edit in edits if edit.block == block)
