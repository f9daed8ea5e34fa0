"""Interventions: hidden neurons set to zero, scaled, or fixed to a value during a pass."""

from collections.abc import Sequence
from dataclasses import dataclass

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

    def apply(
        self, hidden: Float[Tensor, "*batch tokens d_ff"]
    ) -> Float[Tensor, "*batch tokens d_ff"]:
        """The hidden values with this edit made, in a tensor of their own: (*batch, T, d_ff)."""
        edited = hidden.clone()
        neurons = torch.as_tensor(self.neurons, dtype=torch.long, device=hidden.device)
        n_tokens = hidden.shape[-2]
        tokens = torch.as_tensor(
            range(n_tokens) if self.tokens is None else self.tokens, device=hidden.device
        ).long()
        at = (..., tokens[:, None], neurons)
        edited[at] = hidden[at] * self.scale if self.scale is not None else float(self.value or 0)
        return edited

    def check(self, n_blocks: int, d_ff: int, n_tokens: int) -> None:
        """See that there is what it is to change.

        Raises:
            ValueError: naming what is not there.
        """
        for what, numbers, count in (
            ("block", [self.block], n_blocks),
            ("neuron", self.neurons, d_ff),
            ("token", self.tokens or (), n_tokens),
        ):
            for number in numbers:
                if not 0 <= number < count:
                    raise ValueError(
                        f"There is no {what} {number}: they count from 0 to {count - 1}."
                    )


def edited(
    hidden: Float[Tensor, "*batch tokens d_ff"], edits: Sequence[Edit]
) -> Float[Tensor, "*batch tokens d_ff"]:
    """The hidden values with all edits made in their order; without any, the same tensor."""
    for edit in edits:
        hidden = edit.apply(hidden)
    return hidden
