"""Interventions: what a network computes, scaled, fixed or added to during a pass."""

import math
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields, replace
from functools import cached_property
from numbers import Real
from typing import Any, SupportsIndex

import torch
from jaxtyping import Float
from torch import Tensor

# Where an edit is made: what it changes, by the name that a trace has for it.
PLACES = {
    "hidden": "the hidden neurons, between φ and the compression, d_ff wide",
    "ffn": "what the FFN writes, d_model wide",
    "attention": "what the attention adds to the stream, d_model wide",
    "input": "the stream before the block, d_model wide",
    "output": "the stream after it, d_model wide",
}


@dataclass(frozen=True, eq=False)
class Edit:
    """What is done to some neurons of one block's FFN, or elsewhere in the block, during a pass.

    Attributes:
        block: from 0.
        neurons: which hidden neurons: their numbers, each from 0 to d_ff − 1, or a mask, (d_ff,),
            that is True for each of them; elsewhere, which components. Kept as a tuple, whatever
            was given. None: all.
        scale: what their values are multiplied with; 0 puts them to sleep.
        value: what their values are fixed to instead: one number, or a tensor that is spread over
            (*batch, tokens, neurons), such as (n,), the same at every token, or (t, n).
        tokens: at which tokens: from 0, or a mask, (T,); None at all of them.
        add: what is added to them instead, like `value`.
        at: where in the block: "hidden", "ffn", "attention", "input" or "output" (PLACES).

    Raises:
        ValueError: unless exactly one of `scale`, `value` and `add` is given, and it is finite; if
            the block, a neuron or a token is no whole number; for another place.

    Examples:
        >>> model = ffnviz.load("relu")
        >>> off = ffnviz.Edit(block=1, neurons=[1709], scale=0.0)
        >>> bent = ffnviz.Edit(0, add=torch.ones(512), tokens=[1], at="output")
        >>> trace = model.trace("It was late.", edits=[off, bent])
        >>> float(trace.blocks[1].ffn.hidden[:, 1709].abs().max())
        0.0
    """

    block: int
    neurons: Iterable[SupportsIndex] | None = None
    scale: float | None = None
    value: float | Tensor | None = None
    tokens: Iterable[SupportsIndex] | None = None
    add: float | Tensor | None = None
    at: str = "hidden"

    def __post_init__(self) -> None:
        if sum(each is not None for each in (self.scale, self.value, self.add)) != 1:
            raise ValueError("An edit needs either a scale or a value, or something to add.")
        if self.at not in PLACES:
            raise ValueError(f"at = {self.at!r} is not allowed: one of {', '.join(PLACES)}.")
        block = _plain(self.block)
        if type(block) is not int:
            raise ValueError(f"block = {block!r}: give one whole number, from 0.")
        # Copies, as a trace keeps its edits: what was given could change under it.
        copies: dict[str, Any] = {"block": block}
        for name in ("neurons", "tokens"):
            if getattr(self, name) is not None:
                copies[name] = _numbers(name, getattr(self, name))
        if self.scale is not None:
            copies["scale"] = _finite("scale", self.scale)
        for name in ("value", "add"):
            if getattr(self, name) is not None:
                copies[name] = _number_or_tensor(name, getattr(self, name))
        for name, copy in copies.items():
            object.__setattr__(self, name, copy)

    @property
    def _key(self) -> tuple[Any, ...]:
        values = (getattr(self, each.name) for each in fields(self))
        return tuple(
            (tuple(value.shape), tuple(value.flatten().tolist()))
            if isinstance(value, Tensor)
            else value
            for value in values
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Edit) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @cached_property
    def _neurons(self) -> Tensor:
        return _indices(self.neurons or ())

    @cached_property
    def _tokens(self) -> Tensor:
        return _indices(self.tokens or ())

    @property
    def neuron_places(self) -> list[int]:
        """Which neurons, as numbers, also of a mask; empty where all are meant."""
        places: list[int] = self._neurons.tolist()
        return places

    @property
    def token_places(self) -> list[int]:
        """The same of tokens."""
        places: list[int] = self._tokens.tolist()
        return places

    def apply(
        self, values: Float[Tensor, "*batch tokens width"]
    ) -> Float[Tensor, "*batch tokens width"]:
        """The values with this edit made, in a tensor of their own: (*batch, T, width).

        Raises:
            ValueError: if a tensor cannot be spread over what it is to fix or to be added to.
        """
        kept = [
            (axis, indices.to(values.device))
            for axis, given, indices in (
                (-2, self.tokens, self._tokens),
                (-1, self.neurons, self._neurons),
            )
            if given is not None
        ]
        parts = [values]
        for axis, indices in kept:
            parts.append(parts[-1].index_select(axis, indices))
        changed = self._change(parts.pop())
        for axis, indices in reversed(kept):
            changed = parts.pop().index_copy(axis, indices, changed)
        return changed

    def _change(self, part: Tensor) -> Tensor:
        if self.scale is not None:
            return part * self.scale
        given = self.value if self.add is None else self.add
        value = torch.as_tensor(given, dtype=part.dtype, device=part.device)
        try:
            spread = value.expand(part.shape)
        except RuntimeError as error:
            raise ValueError(
                f"A tensor of the shape {tuple(value.shape)} cannot be spread over tokens and "
                f"neurons of the shape {tuple(part.shape)}."
            ) from error
        return spread.clone() if self.add is None else part + spread

    def in_units_of(self, multiplier: float) -> "Edit":
        """The same edit for values that are only multiplied afterwards."""
        if multiplier == 1 or self.scale is not None:
            return self
        given = self.value if self.add is None else self.add
        divided = None if given is None else given / multiplier
        if self.add is None:
            return replace(self, value=divided)
        return replace(self, add=divided)

    def check(self, n_blocks: int, d_ff: int, n_tokens: int, d_model: int) -> None:
        """See that there is what it is to change.

        Raises:
            ValueError: naming what is not there, or a mask of another length.
        """
        unit, width = ("neuron", d_ff) if self.at == "hidden" else ("component", d_model)
        for what, given, indices, count in (
            ("block", (self.block,), torch.tensor([self.block]), n_blocks),
            (unit, self.neurons or (), self._neurons, width),
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


def _number_or_tensor(name: str, given: Any) -> float | Tensor:
    """One finite number, or a copy of a tensor of such.

    Raises:
        ValueError: if it is neither.
    """
    if not getattr(given, "ndim", 0):
        return _finite(name, given)
    tensor = torch.as_tensor(given)
    if not tensor.is_floating_point() or not bool(tensor.isfinite().all()):
        raise ValueError(f"{name} has entries that are no finite floating-point numbers.")
    return tensor.clone()


def _mask_length(values: Any) -> int | None:
    """Of a mask; None of numbers."""
    return len(values) if values and type(values[0]) is bool else None


def _indices(values: Any) -> Tensor:
    """The numbers themselves; of a mask, where it is True."""
    if _mask_length(values) is None:
        return torch.tensor(values, dtype=torch.long)
    return torch.tensor(values).nonzero().flatten()


def edited(
    values: Float[Tensor, "*batch tokens width"], edits: Sequence[Edit], at: str = "hidden"
) -> Float[Tensor, "*batch tokens width"]:
    """The values with all edits of that place made in their order; without any, the same tensor."""
    for edit in edits:
        if edit.at == at:
            values = edit.apply(values)
    return values


def edits_of(edits: Sequence[Edit], block: int, at: str | None = None) -> tuple[Edit, ...]:
    """Those that are made in one block, in their order; at one place alone, if it is told."""
    return tuple(edit for edit in edits if edit.block == block and at in (None, edit.at))
