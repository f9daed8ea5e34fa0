"""A number to fill in, with what each broken rule would give in its place."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True)
class Slip:
    """The number that one broken rule gives.

    Attributes:
        rule: "sign", "bias", "φ", "column" or "terms".
        value: the wrong number.
        message: the explanation for whoever typed it.
    """

    rule: str
    value: float
    message: str


@dataclass(frozen=True)
class Blank:
    """A number to fill in: φ(plus + Σ weight · an earlier number).

    Attributes:
        name: the label before the gap.
        right: the right number.
        slips: the wrong numbers that broken rules give.
        tolerance: how far off still counts as right; 0 where all numbers are whole.
        reads: indices of earlier blanks, each with its weight in this one.
        plus: what is added to them.
        relu: whether ReLU is applied at the end.
        uses: the table entries it is computed from, to be marked: (table, row, column), None for
            all.
    """

    name: str
    right: float
    slips: tuple[Slip, ...]
    tolerance: float = 0.0
    reads: tuple[tuple[int, float], ...] = ()
    plus: float = 0.0
    relu: bool = False
    uses: tuple[tuple[int, int | None, int | None], ...] = ()


def distinct(blank: Blank) -> Blank:
    """A blank without the slips that give the right number, or that of an earlier slip."""
    kept: list[Slip] = []
    for slip in blank.slips:
        others = [blank.right, *(each.value for each in kept)]
        if all(abs(slip.value - other) > 2 * blank.tolerance for other in others):
            kept.append(slip)
    return replace(blank, slips=tuple(kept))


def sum_slips(
    factors: Sequence[tuple[float, float]],
    bias: float,
    bias_name: str,
    digits: int = 0,
    rest: float = 0.0,
) -> list[Slip]:
    """The slips of a wrong sign or bias in Σ a · b + bias + rest."""
    right, value = sum(a * b for a, b in factors) + bias + rest, written(bias, digits)
    return [
        *sign_slips(factors, right, digits),
        Slip("bias", right - bias, f"Bias: the {value} of {bias_name} is missing."),
        Slip(
            "bias", right - 2 * bias, f"Bias: the {value} of {bias_name} is added, not taken away."
        ),
    ]


def sign_slips(factors: Sequence[tuple[float, float]], right: float, digits: int = 0) -> list[Slip]:
    """The slips of one product with a wrong sign in a sum that is `right`."""

    def signed(a: float, b: float) -> Slip:
        product = a * b
        message = (
            f"Sign: {written(a, digits)} · {bracketed(b, digits)} is {written(product, digits)}, "
            f"not {written(-product, digits)}."
        )
        return Slip("sign", right - 2 * product, message)

    return [signed(a, b) for a, b in factors if a * b]


def written(value: float, digits: int = 0) -> str:
    """A number as a page writes it, with a true minus sign; never −0."""
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", MINUS)


def bracketed(value: float, digits: int = 0) -> str:
    """A number as written behind an operator, in brackets if it is negative."""
    text = written(value, digits)
    return f"({text})" if text.startswith(MINUS) else text
