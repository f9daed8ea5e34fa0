"""One neuron of a network on one token, as its eight largest terms and the rest."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.exercises.blank import Blank, Slip, distinct, sum_slips, written
from ffnviz.models.network import Network
from ffnviz.models.trace import ForwardPass

TERMS = 8
GUESSED = 0.02  # error of φ that is let pass unless it is ReLU: x · sigmoid(1.702 x) for GELU
LOOSE = 6  # half units of the last digit, of nine rounded terms and a bias


@dataclass(frozen=True, eq=False)
class RealNeuron:
    """z = Σ xᵢ kᵢ + rest + b, h = φ(z), and h · v, what it writes into one entry of the stream.

    Attributes:
        phi: the label of its activation function.
        entries: the entries of x with the largest products, the largest first, (8,).
        x, key: x and the key at these entries, (8,) each.
        rest: the sum of all other products.
        bias: b; 0 if there is none.
        z, h: as the network computed them.
        gate: what φ(z) is multiplied with; 1 if the FFN is not gated.
        entry: the entry of the output with the largest |v|.
        value: v there.
        others: what all other neurons and b₂ write there.
    """

    phi: str
    entries: NDArray[np.int64]
    x: NDArray[np.float64]
    key: NDArray[np.float64]
    rest: float
    bias: float
    z: float
    h: float
    gate: float
    entry: int
    value: float
    others: float

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
        view.phi.label, largest, x[largest], key[largest], rest,
        0.0 if view.key_bias is None else float(view.key_bias[number]),
        z, h, gate, entry, float(value[entry]), output - h * float(value[entry]),
    )  # fmt: skip


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
            (Slip("sign", -product, "Sign: of two factors, minus times minus is plus."),
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
             Slip("φ", 0.0, f"φ: what is above 0 goes through {neuron.phi} almost as it is."),
             Slip("φ", neuron.h / neuron.gate if neuron.gate else 0.0,
                  "φ: the FFN is gated; φ(z) is multiplied with the value.")),
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
