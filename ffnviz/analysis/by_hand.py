"""Exercises to compute by hand: a small FFN of whole numbers, and one neuron of a network.

Each number to fill in knows what every broken rule would give in its place.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ffnviz.models.network import Network
from ffnviz.models.trace import ForwardPass

MINUS = "\N{MINUS SIGN}"
Factors = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Slip:
    """The number that one broken rule gives."""

    rule: str  # "sign", "bias", "φ", "column" or "terms"
    value: float  # the wrong number
    message: str  # the explanation for whoever typed it


@dataclass(frozen=True)
class Blank:
    """A number to fill in: φ(plus + Σ weight · an earlier number)."""

    name: str  # the label before the gap
    right: float  # the right number
    slips: tuple[Slip, ...]  # the wrong numbers that broken rules give
    tolerance: float = 0.0  # how far off still counts as right; 0 where all numbers are whole
    reads: tuple[tuple[int, float], ...] = ()  # earlier blanks, each with its weight in this one
    plus: float = 0.0  # what is added to them
    relu: bool = False  # whether ReLU is applied at the end
    # the table entries it is computed from, to be marked: (table, row, column), None for all
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
    factors: Factors, bias: float, bias_name: str, digits: int = 0, rest: float = 0.0
) -> list[Slip]:
    """The slips of a wrong sign or bias in Σ a · b + bias + rest."""
    right = sum(a * b for a, b in factors) + bias + rest
    the_bias = f"Bias: the {written(bias, digits)} of {bias_name}"
    return [
        *sign_slips(factors, right, digits),
        Slip("bias", right - bias, f"{the_bias} is missing."),
        Slip("bias", right - 2 * bias, f"{the_bias} is added, not taken away."),
    ]


def sign_slips(factors: Factors, right: float, digits: int = 0) -> list[Slip]:
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


D_MODEL, D_FF = 2, 3
SHAPES = ((D_MODEL,), (D_MODEL, D_FF), (D_FF,), (D_FF, D_MODEL), (D_MODEL,))
LARGEST = 3  # magnitude of a given number
CLEARLY = ("sign", "bias", "φ")  # rules that give numbers of their own when broken
SIGNS = "₁₂₃"
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SmallFfn:
    """The numbers of one exercise, and its solution."""

    seed: int  # of its random numbers
    x: Ints  # (d_model,)
    w1: Ints  # (d_model, d_ff)
    b1: Ints  # (d_ff,)
    w2: Ints  # (d_ff, d_model)
    b2: Ints  # (d_model,)

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
    """A seed's first draw, of ±1 to ±3, that tells all broken rules apart; one z is below zero."""
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
    made = []
    for j, z in enumerate(ffn.z.tolist()):
        name = f"z{SIGNS[j]}"
        early = Slip("φ", 0, f"φ: that comes in the next line; {name} may be below 0.")
        slips = _of_column(name, "₁", ffn.x, ffn.w1, ffn.b1, j, [early] if z < 0 else [])
        made.append(Blank(name, z, slips, uses=((0, None, None), (1, None, j), (2, None, j))))
    for j, z in enumerate(ffn.z.tolist()):
        relu = f"ReLU({written(z)})"
        if z > 0:
            phi = Slip("φ", 0, f"φ: {relu} is {z}; what is above 0 stays as it is.")
            sign = Slip("sign", -z, f"Sign: {relu} is {z}; ReLU is never below 0.")
        else:
            phi = Slip("φ", z, f"φ: {relu} is 0; what is below 0 becomes 0.")
            sign = Slip("sign", -z, f"Sign: ReLU is not |z{SIGNS[j]}|; what is below 0 becomes 0.")
        made.append(Blank(f"h{SIGNS[j]}", max(0, z), (phi, sign), reads=((j, 1.0),), relu=True))
    for k, y in enumerate(ffn.y.tolist()):
        name, from_z = f"y{SIGNS[k]}", int(ffn.z @ ffn.w2[:, k] + ffn.b2[k])
        of_phi = [Slip("φ", from_z, f"φ: {name} is made of h, not of z.")]
        if y < 0:
            of_phi.append(Slip("φ", 0, f"φ: there is none after W₂; {name} may be below 0."))
        slips = _of_column(name, "₂", ffn.h, ffn.w2, ffn.b2, k, of_phi)
        reads = tuple((D_FF + j, float(weight)) for j, weight in enumerate(ffn.w2[:, k]))
        uses = ((3, None, k), (4, None, k))
        made.append(Blank(name, y, slips, reads=reads, plus=float(ffn.b2[k]), uses=uses))
    return made


def _of_column(
    name: str, layer: str, left: Ints, weights: Ints, biases: Ints, column: int, phi: list[Slip]
) -> tuple[Slip, ...]:
    """The slips of one entry of left W + b; `phi` are those of a φ in the wrong place."""
    bias, other = int(biases[column]), (column + 1) % weights.shape[1]
    wrong = int(left @ weights[:, other]) + bias
    message = f"Column: {name} takes column {column + 1} of W{layer}, not column {other + 1}."
    slips = sum_slips(pairs(left, weights[:, column]), bias, f"b{layer}")
    return (*slips, *phi, Slip("column", wrong, message))


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
    solved = zip(blanks(ffn), sums, strict=True)
    return [(blank.name, f"{term} = {written(blank.right)}") for blank, term in solved]


TERMS = 8
GUESSED = 0.02  # error of φ that is let pass unless it is ReLU: x · sigmoid(1.702 x) for GELU
LOOSE = 6  # half units of the last digit, of nine rounded terms and a bias


@dataclass(frozen=True, eq=False)
class RealNeuron:
    """z = Σ xᵢ kᵢ + rest + b, h = φ(z), and h · v, what it writes into one entry of the stream."""

    phi: str  # the label of its activation function
    entries: NDArray[np.int64]  # the entries of x with the largest products, largest first, (8,)
    x: NDArray[np.float64]  # at these entries, (8,)
    key: NDArray[np.float64]  # likewise
    rest: float  # the sum of all other products
    bias: float  # b; 0 if there is none
    z: float  # as the network computed it
    h: float  # likewise
    gate: float  # what φ(z) is multiplied by; 1 if the FFN is not gated
    entry: int  # the entry of the output with the largest |v|
    value: float  # v there
    others: float  # what all other neurons and b₂ write there

    @property
    def products(self) -> NDArray[np.float64]:
        """The eight products xᵢ kᵢ, (8,)."""
        return self.x * self.key

    @property
    def digits(self) -> int:
        """The decimal places that show three digits of the largest term."""
        largest = max(float(np.abs(self.products).max()), 1e-9)
        return min(6, max(2, 2 - math.floor(math.log10(largest))))


def real_neuron(
    network: Network, trace: ForwardPass, block: int, token: int, number: int
) -> RealNeuron:
    """One neuron of a block on one token of a trace."""
    view, ffn = network.ffn(block), trace.blocks[block].ffn
    x, key, value = (
        vector.detach().cpu().double().numpy()
        for vector in (ffn.input[token], view.keys[number], view.values[number])
    )
    products = x * key
    order = np.argsort(-np.abs(products), kind="stable")
    largest, rest = order[:TERMS], float(products[order[TERMS:]].sum())
    z, h = float(ffn.pre_activation[token, number]), float(ffn.hidden[token, number])
    gate = 1.0
    if view.gated_value is not None:
        bias = 0.0 if view.gated_value_bias is None else float(view.gated_value_bias[number])
        gate = float(ffn.input[token] @ view.gated_value[number]) + bias
    entry = int(np.abs(value).argmax())
    output = float(view.write(ffn.hidden[token])[entry])
    return RealNeuron(
        view.phi.label,
        largest,
        x[largest],
        key[largest],
        rest,
        0.0 if view.key_bias is None else float(view.key_bias[number]),
        z,
        h,
        gate,
        entry,
        float(value[entry]),
        output - h * float(value[entry]),
    )


def blanks_of(neuron: RealNeuron) -> list[Blank]:
    """The numbers to fill in: the largest product, z, h and the entry of the output."""
    digits, unit = neuron.digits, 0.5 * 10.0**-neuron.digits
    a, b = float(neuron.x[0]), float(neuron.key[0])
    product, term = a * b, neuron.value * neuron.h
    is_relu = neuron.phi == "ReLU"
    computed = is_relu and neuron.gate == 1  # h follows from z by what a blank can compute
    product_tolerance = 2 * unit * (1 + abs(a) + abs(b))  # of two rounded factors
    z_tolerance = LOOSE * unit + product_tolerance
    phi_tolerance = z_tolerance if is_relu else max(z_tolerance, GUESSED)
    factors = list(zip(neuron.x.tolist(), neuron.key.tolist(), strict=True))
    return list(map(distinct, (
        Blank(
            f"x · w at {neuron.entries[0]}", product,
            (Slip("sign", -product, "Sign: minus times minus is plus, minus times plus is minus."),
             Slip("terms", a + b, "Terms: the two are multiplied, not added.")),
            product_tolerance, uses=((0, 0, None),),
        ),
        Blank(
            "z", neuron.z,
            (*sum_slips(factors, neuron.bias, "b₁", digits, neuron.rest),
             Slip("terms", neuron.z - neuron.rest,
                  f"Terms: the rest, {written(neuron.rest, digits)}, is missing.")),
            z_tolerance, ((0, 1.0),), neuron.z - product, uses=((0, None, 3),),
        ),
        Blank(
            "h", neuron.h,
            (Slip("φ", neuron.z * neuron.gate, f"φ: {neuron.phi}(z) is not z."),
             Slip("φ", max(0.0, neuron.z) * neuron.gate, f"φ: this network has {neuron.phi}."),
             Slip("φ", 0.0, f"φ: what is well above 0 goes through {neuron.phi} almost as it is."),
             Slip("φ", neuron.h / neuron.gate if neuron.gate else 0.0,
                  "φ: the FFN is gated; φ(z) is multiplied by the factor.")),
            phi_tolerance * max(1.0, abs(neuron.gate)), ((1, 1.0),) if computed else (),
            relu=computed,
        ),
        Blank(
            f"y at {neuron.entry}", neuron.others + term,
            (Slip("bias", term, "Bias: the other neurons and b₂ write there too."),
             Slip("sign", neuron.others - term, "Sign: h · v has the other sign."),
             Slip("φ", neuron.value * neuron.z + neuron.others, "φ: it is h that writes, not z.")),
            2 * unit * (1 + abs(neuron.h)) + abs(neuron.value) * phi_tolerance,
            ((2, neuron.value),), neuron.others, uses=((1, None, None),),
        ),
    )))  # fmt: skip
