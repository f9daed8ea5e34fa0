"""A number to fill in: the right one, and what each broken rule would give in its place."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True)
class Slip:
    """What one broken rule gives.

    Attributes:
        rule: "sign", "bias", "φ", "column", "terms" or "network".
        value: that comes of it.
        said: to whoever typed it.
    """

    rule: str
    value: float
    said: str


@dataclass(frozen=True)
class Blank:
    """A number to fill in: φ(plus + Σ weight · an earlier number).

    Attributes:
        name: as it stands before the gap.
        right: what belongs there.
        slips: what broken rules give, each another number.
        tolerance: how far off is still right; 0 where all numbers are whole.
        reads: earlier blanks, by their places, each with the weight that it has in this one.
        plus: what is added to them.
        relu: whether ReLU is applied at the end.
    """

    name: str
    right: float
    slips: tuple[Slip, ...]
    tolerance: float = 0.0
    reads: tuple[tuple[int, float], ...] = ()
    plus: float = 0.0
    relu: bool = False
    # what it is made of, to be marked: (table, row, column), None for all
    uses: tuple[tuple[int, int | None, int | None], ...] = field(default=())


def distinct(right: float, slips: Iterable[Slip], tolerance: float = 0.0) -> tuple[Slip, ...]:
    """The slips that give another number than what is right, and than those before them."""
    kept: list[Slip] = []
    for slip in slips:
        others = [right, *(each.value for each in kept)]
        if all(abs(slip.value - other) > 2 * tolerance for other in others):
            kept.append(slip)
    return tuple(kept)


def sum_slips(
    factors: Sequence[tuple[float, float]],
    bias: float,
    bias_name: str,
    digits: int = 0,
    rest: float = 0.0,
) -> list[Slip]:
    """The signs and the bias of Σ a · b + bias + rest, each broken once."""
    right = sum(a * b for a, b in factors) + bias + rest

    def signed(a: float, b: float) -> Slip:
        product = a * b
        said = (
            f"Sign: {written(a, digits)} · {bracketed(b, digits)} is {written(product, digits)}, "
            f"not {written(-product, digits)}."
        )
        return Slip("sign", right - 2 * product, said)

    value = written(bias, digits)
    return [
        *(signed(a, b) for a, b in factors if a * b),
        Slip("bias", right - bias, f"Bias: the {value} of {bias_name} is missing."),
        Slip(
            "bias", right - 2 * bias, f"Bias: the {value} of {bias_name} is added, not taken away."
        ),
    ]


def written(value: float, digits: int = 0) -> str:
    """A number as a page writes it, with a true minus; never −0."""
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", MINUS)


def bracketed(value: float, digits: int = 0) -> str:
    """A number as it stands behind a sign, in brackets if it is below zero."""
    text = written(value, digits)
    return f"({text})" if text.startswith(MINUS) else text
