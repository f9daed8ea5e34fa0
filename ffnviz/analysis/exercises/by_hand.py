"""A small FFN of whole numbers to compute by hand: y = ReLU(x W₁ + b₁) W₂ + b₂, from a seed."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.exercises.blank import Blank, Slip, bracketed, distinct, sum_slips, written

D_MODEL, D_FF = 2, 3
SHAPES = ((D_MODEL,), (D_MODEL, D_FF), (D_FF,), (D_FF, D_MODEL), (D_MODEL,))
LARGEST = 3  # magnitude of a given number
CLEARLY = ("sign", "bias", "φ")  # rules that give numbers of their own when broken
SIGNS = "₁₂₃"
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SmallFfn:
    """The numbers of one exercise, and its solution.

    Attributes:
        seed: of its random numbers.
        x: (d_model,).
        w1, b1: (d_model, d_ff) and (d_ff,).
        w2, b2: (d_ff, d_model) and (d_model,).
    """

    seed: int
    x: Ints
    w1: Ints
    b1: Ints
    w2: Ints
    b2: Ints

    @property
    def z(self) -> Ints:
        """Before φ: x W₁ + b₁, (d_ff,)."""
        return self.x @ self.w1 + self.b1

    @property
    def h(self) -> Ints:
        """The hidden activations: ReLU(z), (d_ff,)."""
        return np.maximum(self.z, 0)

    @property
    def y(self) -> Ints:
        """The output: h W₂ + b₂, (d_model,)."""
        return self.h @ self.w2 + self.b2


def small_ffn(seed: int) -> SmallFfn:
    """The exercise of a seed: the first of its random draws that tells all broken rules apart.

    Every given number is between −3 and 3 and none is 0; one z is below zero and two are above.
    """
    rng = np.random.default_rng(seed)
    while True:
        ffn = SmallFfn(seed, *(_draw(rng, shape) for shape in SHAPES))
        if _teaches(ffn):
            return ffn


def _draw(rng: np.random.Generator, shape: tuple[int, ...]) -> Ints:
    uniform = rng.random((*shape, 2))
    magnitude = 1 + (uniform[..., 0] * LARGEST).astype(np.int64)
    return np.where(uniform[..., 1] < 0.5, magnitude, -magnitude)


def _teaches(ffn: SmallFfn) -> bool:
    if not (ffn.z.all() and ffn.y.all() and (ffn.z > 0).sum() == 2):
        return False
    for blank in _with_all_slips(ffn):
        by_rule = [{slip.value for slip in blank.slips if slip.rule == rule} for rule in CLEARLY]
        wrong = set().union(*by_rule)
        if len(wrong) != sum(map(len, by_rule)) or blank.right in wrong:
            return False
    return True


def blanks(ffn: SmallFfn) -> list[Blank]:
    """The numbers to fill in: z, h and y in this order."""
    return list(map(distinct, _with_all_slips(ffn)))


def _with_all_slips(ffn: SmallFfn) -> list[Blank]:
    z = [
        Blank(f"z{SIGNS[j]}", int(ffn.z[j]), _before_phi(ffn, j),
              uses=((0, None, None), (1, None, j), (2, None, j)))
        for j in range(D_FF)
    ]  # fmt: skip
    h = [
        Blank(f"h{SIGNS[j]}", int(ffn.h[j]), _after_phi(int(ffn.z[j]), j), reads=((j, 1.0),),
              relu=True)
        for j in range(D_FF)
    ]  # fmt: skip
    y = [
        Blank(f"y{SIGNS[k]}", int(ffn.y[k]), _output(ffn, k),
              reads=tuple((D_FF + j, float(ffn.w2[j, k])) for j in range(D_FF)),
              plus=float(ffn.b2[k]), uses=((3, None, k), (4, None, k)))
        for k in range(D_MODEL)
    ]  # fmt: skip
    return z + h + y


def _before_phi(ffn: SmallFfn, j: int) -> tuple[Slip, ...]:
    z, bias, other = int(ffn.z[j]), int(ffn.b1[j]), (j + 1) % D_FF
    slips = sum_slips(pairs(ffn.x, ffn.w1[:, j]), bias, "b₁")
    if z < 0:
        slips.append(Slip("φ", 0, f"φ: that comes in the next line; z{SIGNS[j]} may be below 0."))
    wrong = int(ffn.x @ ffn.w1[:, other]) + bias
    message = f"Column: z{SIGNS[j]} takes column {j + 1} of W₁, not column {other + 1}."
    return (*slips, Slip("column", wrong, message))


def _after_phi(z: int, j: int) -> tuple[Slip, ...]:
    name = f"ReLU({written(z)})"
    if z > 0:
        return (
            Slip("φ", 0, f"φ: {name} is {z}; what is above 0 stays as it is."),
            Slip("sign", -z, f"Sign: {name} is {z}; ReLU is never below 0."),
        )
    return (
        Slip("φ", z, f"φ: {name} is 0; what is below 0 becomes 0."),
        Slip("sign", -z, f"Sign: ReLU is not |z{SIGNS[j]}|; what is below 0 becomes 0."),
    )


def _output(ffn: SmallFfn, k: int) -> tuple[Slip, ...]:
    y, bias, other = int(ffn.y[k]), int(ffn.b2[k]), 1 - k
    slips = sum_slips(pairs(ffn.h, ffn.w2[:, k]), bias, "b₂")
    from_z = int(ffn.z @ ffn.w2[:, k]) + bias
    slips.append(Slip("φ", from_z, f"φ: y{SIGNS[k]} is made of h, not of z."))
    if y < 0:
        slips.append(Slip("φ", 0, f"φ: there is none behind W₂; y{SIGNS[k]} may be below 0."))
    wrong = int(ffn.h @ ffn.w2[:, other]) + bias
    message = f"Column: y{SIGNS[k]} takes column {k + 1} of W₂, not column {other + 1}."
    return (*slips, Slip("column", wrong, message))


def pairs(left: Ints, right: Ints) -> list[tuple[float, float]]:
    """The factors of each product of two vectors."""
    return [(int(a), int(b)) for a, b in zip(left, right, strict=True)]


def worked(ffn: SmallFfn) -> list[tuple[str, str]]:
    """The solution line by line: a name, and the sum written out with its numbers."""

    def line(left: Ints, right: Ints, bias: int) -> str:
        products = [f"{bracketed(a)} · {bracketed(b)}" for a, b in pairs(left, right)]
        return f"{' + '.join(products)} + {bracketed(bias)}"

    sums = [line(ffn.x, ffn.w1[:, j], int(ffn.b1[j])) for j in range(D_FF)]
    sums += [f"ReLU({written(int(z))})" for z in ffn.z]
    sums += [line(ffn.h, ffn.w2[:, k], int(ffn.b2[k])) for k in range(D_MODEL)]
    return [
        (blank.name, f"{expression} = {written(blank.right)}")
        for blank, expression in zip(blanks(ffn), sums, strict=True)
    ]
