"""Interventions: what a network computes is scaled, fixed or added to during a pass."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, SupportsIndex

import torch
from jaxtyping import Float
from torch import Tensor

from ffnviz.models.arguments import (
    at_most,
    check_within,
    finite_number,
    number_or_tensor,
    place_of,
    places_of,
    plain,
    whole_numbers,
)
from ffnviz.models.card import Sizes

# Where an edit is made: what it changes, by the name that a trace has for it.
PLACES = {
    "hidden": "the hidden neurons, between φ and W₂, d_ff wide",
    "ffn": "what the FFN writes, d_model wide",
    "attention": "what the attention adds to the stream, d_model wide",
    "heads": "what its heads gather, side by side as W_O reads them, n_heads · d_head wide",
    "input": "the stream before the block, d_model wide",
    "middle": "the stream between attention and FFN, d_model wide",
    "output": "the stream after it, d_model wide",
}
Rows = Float[Tensor, "*batch tokens width"]
HeadShape = Callable[[int], tuple[int, int]]  # of a block's attention: n_heads, d_head


@at_most(5)
@dataclass(frozen=True, eq=False)
class Edit:
    """A change to some neurons of one block's FFN, or elsewhere in the block, during a pass.

    Attributes:
        block: from 0; −1 is the last.
        neurons: which hidden neurons: their numbers, each from 0 to d_ff − 1, or a mask, (d_ff,),
            that is True for each of them; elsewhere, which components. Kept as a tuple, whatever
            was given. None: all.
        scale: what their values are multiplied by; 0 switches them off.
        value: what their values are fixed to instead: one number, or a tensor that is spread over
            (*batch, tokens, neurons), such as (n,), the same at every token, or (t, n).
        tokens: at which tokens: from 0, −1 the last, or a mask, (T,); None at all of them.
        add: what is added to them instead, like `value`.
        at: where in the block: "hidden", "ffn", "attention", "heads", "input", "middle" or
            "output" (PLACES).
        heads: which heads of the attention, from 0, or a mask; all d_head components of each are
            meant. It needs at="heads".

    Raises:
        ValueError: unless exactly one of `scale`, `value` and `add` is given, and it is finite; if
            the block, a neuron, a head or a token is not a whole number; for another place.

    Examples:
        >>> off = ffnviz.Edit(block=1, neurons=[1709], scale=0.0)
        >>> bent = ffnviz.Edit(0, add=torch.ones(512), tokens=[1], at="output")
        >>> trace = ffnviz.load("relu").trace("It was late.", edits=[off, bent])
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
    heads: Iterable[SupportsIndex] | None = None

    def __post_init__(self) -> None:
        if sum(each is not None for each in (self.scale, self.value, self.add)) != 1:
            raise ValueError("An edit needs a scale, a value, or something to add.")
        if self.at not in PLACES:
            raise ValueError(f"at = {self.at!r} must be one of {', '.join(PLACES)}.")
        if self.heads is not None and (self.at != "heads" or self.neurons is not None):
            raise ValueError('heads = … needs at="heads", and cannot be combined with neurons.')
        block = plain(self.block)
        if type(block) is not int:
            raise ValueError(f"block = {block!r}: give one whole number, from 0.")
        # Copies, as a trace keeps its edits and the originals may change later.
        copies: dict[str, Any] = {"block": block}
        for name in ("neurons", "tokens", "heads"):
            if getattr(self, name) is not None:
                copies[name] = given = whole_numbers(name, getattr(self, name))
                if len(set(given)) < len(given) and not _is_mask(given):
                    raise ValueError(f"{name} names one of them twice: give each once.")
        if self.scale is not None:
            copies["scale"] = finite_number("scale", self.scale)
        for name in ("value", "add"):
            if getattr(self, name) is not None:
                copies[name] = number_or_tensor(name, getattr(self, name))
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
    def _indices(self) -> list[tuple[int, Tensor]]:
        """The axes along which it does not change all, each with the places that it changes."""
        named = {-2: self.tokens, -1: self.neurons}
        return [
            (axis, torch.tensor(_places(given), dtype=torch.long))
            for axis, given in named.items()
            if given is not None
        ]

    @property
    def neuron_places(self) -> list[int]:
        """Which neurons, as numbers, also of a mask; empty where all are meant."""
        return _places(self.neurons)

    @property
    def token_places(self) -> list[int]:
        """Which tokens, as numbers, also of a mask; empty where all are meant."""
        return _places(self.tokens)

    def apply(self, values: Rows) -> Rows:
        """The values with this edit made, in a tensor of their own: (*batch, T, width).

        Raises:
            ValueError: if a tensor cannot be spread over what it is to fix or to be added to, or a
                number is beyond the precision.
        """
        kept = [(axis, indices.to(values.device)) for axis, indices in self._indices]
        parts = [values]
        for axis, indices in kept:
            parts.append(parts[-1].index_select(axis, indices))
        changed = self._change(parts.pop())
        for axis, indices in reversed(kept):
            changed = parts.pop().index_copy(axis, indices, changed)
        return changed

    def _change(self, part: Tensor) -> Tensor:
        if self.scale is not None:
            check_within("scale", self.scale, part.dtype)
            return part * self.scale
        name, given = ("add", self.add) if self.add is not None else ("value", self.value)
        assert given is not None  # noqa: S101, as one of three is given
        check_within(name, given, part.dtype)
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
        """The same edit of values that are multiplied by `multiplier` afterwards."""
        if multiplier == 1 or self.scale is not None:
            return self
        name = "value" if self.add is None else "add"
        divided: Any = getattr(self, name) / multiplier
        return replace(self, **{name: divided})

    def settled(self, sizes: Sizes, n_tokens: int, head_shape: HeadShape) -> "Edit":
        """The same edit with all that it names counted from 0, and heads as their components.

        Raises:
            ValueError: naming what does not exist, or a mask of another length.
        """
        block = place_of("block", self.block, sizes.n_blocks)
        named: dict[str, Any] = {} if block == self.block else {"block": block}
        if self.tokens is not None:
            tokens = places_of("token", self.tokens, n_tokens)
            if min(self.token_places, default=0) < 0:
                named["tokens"] = tuple(tokens)
        unit, width = (
            ("neuron", sizes.d_ff) if self.at == "hidden" else ("component", sizes.d_model)
        )
        if self.at == "heads":
            n_heads, d_head = head_shape(block)
            width = n_heads * d_head
            if self.heads is not None:
                heads = places_of("head", self.heads, n_heads, from_end=False)
                components = [h * d_head + i for h in heads for i in range(d_head)]
                named |= {"heads": None, "neurons": tuple(components)}
        if self.neurons is not None:
            places_of(unit, self.neurons, width, from_end=False)
        return replace(self, **named) if named else self


Edits = Edit | Iterable[Edit] | None


def all_of(edits: Edits) -> tuple[Edit, ...]:
    """The edits of a call in a tuple, however they were given: in a list, from a generator, one."""
    given: Any = () if edits is None else (edits,) if isinstance(edits, Edit) else edits
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise TypeError(f"edits = {edits!r}: give ffnviz.Edit, or several in a list.")
    made: tuple[Edit, ...] = tuple(given)
    for each in made:
        if not isinstance(each, Edit):
            raise TypeError(f"edits has {each!r} in it: give ffnviz.Edit, or several in a list.")
    return made


def _is_mask(values: Any) -> bool:
    """Whether these are True and False rather than numbers."""
    return bool(values) and type(values[0]) is bool


def _places(values: Any) -> list[int]:
    """The numbers themselves; of a mask, where it is True."""
    if not _is_mask(values):
        return list(values or ())
    return [place for place, value in enumerate(values) if value]


def edited(values: Rows, edits: Sequence[Edit], at: str = "hidden") -> Rows:
    """The values with all edits of that place made in their order; without any, the same tensor."""
    for edit in edits:
        if edit.at == at:
            values = edit.apply(values)
    return values


def edits_of(edits: Sequence[Edit], block: int, at: str | None = None) -> tuple[Edit, ...]:
    """The edits of one block, in their order; if a place is given, of that place alone."""
    return tuple(edit for edit in edits if edit.block == block and at in (None, edit.at))
