"""Interventions: hidden neurons set to zero, scaled, or fixed to a value during a pass."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True)
class Edit:
    """What is done to some neurons of one block's FFN, between φ and the compression.

    Attributes:
        block: from 0.
        neurons: which hidden neurons, each from 0 to d_ff − 1.
        scale: what their values are multiplied with; 0 puts them to sleep.
        value: what their values are fixed to instead; leave `scale` out then.
        tokens: at which tokens, from 0; None at all of them.

    Raises:
        ValueError: unless exactly one of `scale` and `value` is given.
    """

    block: int
    neurons: Sequence[int]
    scale: float | None = None
    value: float | None = None
    tokens: Sequence[int] | None = None

    def __post_init__(self) -> None:
        if (self.scale is None) == (self.value is None):
            raise ValueError("An edit needs either a scale or a value.")
        for name in ("neurons", "tokens"):  # a trace keeps its edits: a list could change under it
            if isinstance(getattr(self, name), list):
                object.__setattr__(self, name, tuple(getattr(self, name)))

    @cached_property
    def _neurons(self) -> Tensor:
        return torch.tensor(self.neurons, dtype=torch.long)

    def apply(
        self, hidden: Float[Tensor, "*batch tokens d_ff"]
    ) -> Float[Tensor, "*batch tokens d_ff"]:
        """The hidden values with this edit made, in a tensor of their own: (*batch, T, d_ff)."""
        neurons = self._neurons.to(hidden.device)
        if self.tokens is None:
            return self._change(hidden, neurons)
        tokens = torch.as_tensor(self.tokens, dtype=torch.long, device=hidden.device)
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
            ValueError: naming what is not there.
        """
        for what, numbers, count in (
            ("block", torch.tensor([self.block]), n_blocks),
            ("neuron", self._neurons, d_ff),
            ("token", torch.tensor(self.tokens or (), dtype=torch.long), n_tokens),
        ):
            wrong = numbers[(numbers < 0) | (numbers >= count)]
            if len(wrong):
                raise ValueError(
                    f"There is no {what} {int(wrong[0])}: they count from 0 to {count - 1}."
                )


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
