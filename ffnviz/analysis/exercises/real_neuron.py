"""One neuron of a network on one token, cut to its eight largest terms and the rest."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.exercises.blank import Blank, Slip, distinct, sum_slips, written
from ffnviz.models.network import Network
from ffnviz.models.trace import ForwardPass

TERMS = 8
GUESSED = 0.02  # how far off φ may be where it is not ReLU: x · sigmoid(1.702 x) is for GELU
LOOSE = 6  # half units of the last digit, of nine rounded terms and a bias


@dataclass(frozen=True, eq=False)
class RealNeuron:
    """z = Σ xᵢ kᵢ + rest + b, h = φ(z), and h · v, what it writes into one entry of the stream.

    Attributes:
        number: the neuron's, within its block.
        phi: its activation function's label.
        entries: the entries of x with the largest products, the largest first, (8,).
        x, key: of these, (8,) each.
        rest: the sum of all other products.
        bias: b; 0 if there is none.
        z, h: as the network has them.
        gate: what φ(z) is multiplied with; 1 if the FFN is not gated.
        entry: the one that the neuron writes to most.
        value: v there.
        others: what all other neurons and b₂ write there.
    """

    number: int
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
        """xᵢ kᵢ of the eight, (8,)."""
        return self.x * self.key

    @property
    def digits(self) -> int:
        """Digits behind the point, so that the largest term is seen in three."""
        largest = max(float(np.abs(self.products).max()), 1e-9)
        return min(6, max(2, 2 - math.floor(math.log10(largest))))


def real_neuron(network: Network, trace: ForwardPass, block: int, token: int,
                number: int) -> RealNeuron:  # fmt: skip
    """One neuron of a block on one token of a trace."""
    view, ffn = network.ffn(block), trace.blocks[block].ffn
    x = ffn.input[token].detach().cpu().double().numpy()
    key = view.keys[number].detach().cpu().double().numpy()
    products = x * key
    order = np.argsort(-np.abs(products), kind="stable")
    largest, rest = order[:TERMS], float(products[order[TERMS:]].sum())
    z, h = float(ffn.pre_activation[token, number]), float(ffn.hidden[token, number])
    gate = 1.0
    if view.gated_value is not None:
        along = ffn.input[token] @ view.gated_value[number]
        bias = 0.0 if view.gated_value_bias is None else float(view.gated_value_bias[number])
        gate = float(along) + bias
    value = view.values[number].detach().cpu().double().numpy()
    entry = int(np.abs(value).argmax())
    written_there = float(view.write(ffn.hidden[token])[entry])
    return RealNeuron(
        number, view.phi.label, largest, x[largest], key[largest], rest,
        0.0 if view.key_bias is None else float(view.key_bias[number]),
        z, h, gate, entry, float(value[entry]), written_there - h * float(value[entry]),
    )  # fmt: skip


def blanks_of(neuron: RealNeuron) -> list[Blank]:
    """The largest product, z, h and the entry of the output: what to fill in."""
    digits, unit = neuron.digits, 0.5 * 10.0**-neuron.digits
    a, b = float(neuron.x[0]), float(neuron.key[0])
    of_product = 2 * unit * (1 + abs(a) + abs(b))  # of two rounded factors
    close = LOOSE * unit + of_product
    is_relu = neuron.phi == "ReLU"
    loose = close if is_relu else max(close, GUESSED)
    product, after = a * b, neuron.value * neuron.h
    by_rule = {
        "product": [Slip("sign", -product, "Sign: of two factors, minus times minus is plus."),
                    Slip("terms", a + b, "Terms: the two are multiplied, not added.")],
        "z": [*sum_slips(list(zip(neuron.x.tolist(), neuron.key.tolist(), strict=True)),
                         neuron.bias, "b₁", digits, neuron.rest),
              Slip("terms", neuron.z - neuron.rest,
                   f"Terms: the rest, {written(neuron.rest, digits)}, is missing.")],
        "h": [Slip("φ", neuron.z * neuron.gate, f"φ: {neuron.phi}(z) is not z."),
              Slip("φ", max(0.0, neuron.z) * neuron.gate, f"φ: this network has {neuron.phi}."),
              Slip("φ", 0.0, f"φ: what is above 0 goes through {neuron.phi} almost as it is."),
              Slip("φ", neuron.h / neuron.gate if neuron.gate else 0.0,
                   "φ: the FFN is gated; φ(z) is multiplied with the value.")],
        "y": [Slip("bias", after, "Bias: the other neurons and b₂ write there too."),
              Slip("sign", neuron.others - after, "Sign: h · v has the other sign."),
              Slip("φ", neuron.value * neuron.z + neuron.others, "φ: it is h that writes, not z.")],
    }  # fmt: skip
    last = 2 * unit * (1 + abs(neuron.h)) + abs(neuron.value) * loose
    tolerances = (of_product, close, loose * max(1.0, abs(neuron.gate)), last)
    rights = (product, neuron.z, neuron.h, neuron.others + after)
    reads: tuple[tuple[tuple[tuple[int, float], ...], float, bool], ...] = (
        ((), 0.0, False),
        (((0, 1.0),), neuron.z - product, False),
        (((1, 1.0),), 0.0, True) if is_relu and neuron.gate == 1 else ((), 0.0, False),
        (((2, neuron.value),), neuron.others, False),
    )
    uses: tuple[tuple[tuple[int, int | None, int | None], ...], ...] = (
        ((0, 0, None),), ((0, None, 3),), (), ((1, None, None),),
    )  # fmt: skip
    names = (f"x · w at {neuron.entries[0]}", "z", "h", f"y at {neuron.entry}")
    return [
        Blank(name, right, distinct(right, slips, tolerance), tolerance, before, plus, relu, used)
        for name, right, slips, tolerance, (before, plus, relu), used in zip(
            names, rights, by_rule.values(), tolerances, reads, uses, strict=True
        )
    ]
