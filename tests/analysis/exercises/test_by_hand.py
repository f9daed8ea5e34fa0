"""The exercises by hand, against PyTorch and against sums in plain Python."""

import re

import numpy as np
import pytest
import torch
from torch import nn

from ffnviz.analysis.by_hand import (
    LARGEST,
    TERMS,
    Blank,
    SmallFfn,
    blanks,
    blanks_of,
    real_neuron,
    small_ffn,
    worked,
)
from ffnviz.models.encoder.model import load

SEEDS = range(1_000)


@pytest.fixture(scope="module")
def exercises() -> list[SmallFfn]:
    return [small_ffn(seed) for seed in SEEDS]


def in_torch(ffn: SmallFfn) -> list[float]:
    """z, h and y by torch.nn."""
    first, second = nn.Linear(2, 3), nn.Linear(3, 2)
    with torch.no_grad():
        for linear, weight, bias in ((first, ffn.w1, ffn.b1), (second, ffn.w2, ffn.b2)):
            linear.weight.copy_(torch.tensor(weight.T))
            linear.bias.copy_(torch.tensor(bias))
        z = first(torch.tensor(ffn.x, dtype=torch.float32))
        h = torch.relu(z)
        return [*z.tolist(), *h.tolist(), *second(h).tolist()]


def test_torch_has_the_same_solutions(exercises: list[SmallFfn]) -> None:
    for ffn in exercises:
        assert [blank.right for blank in blanks(ffn)] == in_torch(ffn)


def test_every_seed_teaches(exercises: list[SmallFfn]) -> None:
    for ffn in exercises:
        given = np.concatenate([each.ravel() for each in (ffn.x, ffn.w1, ffn.b1, ffn.w2, ffn.b2)])
        assert given.all()
        assert np.abs(given).max() <= LARGEST
        assert (ffn.z < 0).sum() == 1
    assert len({str(vars(ffn) | {"seed": 0}) for ffn in exercises}) > 990


def slips_in_plain_python(ffn: SmallFfn) -> list[dict[str, set[int]]]:
    """For each gap what a broken sign, bias or φ gives, with loops and no NumPy."""
    x, w1, b1, w2, b2 = (each.tolist() for each in (ffn.x, ffn.w1, ffn.b1, ffn.w2, ffn.b2))

    def linear(left: list[int], matrix: list[list[int]], k: int, bias: int, flip: int) -> int:
        total = bias
        for i, value in enumerate(left):
            total += -value * matrix[i][k] if i == flip else value * matrix[i][k]
        return total

    z = [linear(x, w1, j, b1[j], -1) for j in range(3)]
    h = [each if each > 0 else 0 for each in z]
    found = []
    for j in range(3):
        signs = {linear(x, w1, j, b1[j], i) for i in range(2)}
        bias = {linear(x, w1, j, 0, -1), linear(x, w1, j, -b1[j], -1)}
        found.append({"sign": signs, "bias": bias, "φ": {0} if z[j] < 0 else set()})
    found += [{"sign": {-each}, "bias": set(), "φ": {0} if each > 0 else {each}} for each in z]
    for k in range(2):
        y = linear(h, w2, k, b2[k], -1)
        signs = {linear(h, w2, k, b2[k], j) for j in range(3) if h[j] > 0}
        bias = {linear(h, w2, k, 0, -1), linear(h, w2, k, -b2[k], -1)}
        phi = {linear(z, w2, k, b2[k], -1)} | ({0} if y < 0 else set())
        found.append({"sign": signs, "bias": bias, "φ": phi})
    return found


def test_which_rule_was_broken_is_always_told(exercises: list[SmallFfn]) -> None:
    for ffn in exercises:
        for blank, wrong in zip(blanks(ffn), slips_in_plain_python(ffn), strict=True):
            for rule, values in wrong.items():
                for value in values:
                    assert value != blank.right
                    slip = next(slip for slip in blank.slips if slip.value == value)
                    assert slip.rule == rule
                    assert slip.message.lower().startswith(rule)


def test_the_written_solutions_are_sums_that_come_out(exercises: list[SmallFfn]) -> None:
    for ffn in exercises[:100]:
        for _, line in worked(ffn):
            plain = line.replace("−", "-").replace("·", "*").replace("ReLU", "max")
            left, right = re.sub(r"max\((-?\d+)\)", r"max(\1, 0)", plain).split(" = ")
            assert eval(left, {"max": max}) == int(right)  # digits and signs of ours


@pytest.mark.parametrize("name", ["relu", "gelu"])
def test_a_real_neuron_is_the_networks(name: str) -> None:
    network = load(name)
    trace = network.trace("She opened the [MASK] and looked out.")
    for block, token, number in ((0, 1, 7), (1, 3, 42), (1, 4, 2_047)):
        neuron = real_neuron(network, trace, block, token, number)
        ffn = network.encoder.blocks[block].ffn
        x = trace.blocks[block].ffn.input[token]
        weights = ffn.expand.weight[number]
        assert len(neuron.products) == TERMS
        assert np.abs(neuron.products).min() >= float((x * weights).abs().sort().values[-TERMS - 1])
        whole = neuron.products.sum() + neuron.rest + neuron.bias
        assert whole == pytest.approx(float(ffn.expand(x)[number]), abs=1e-4)
        rights = [blank.right for blank in blanks_of(neuron)]
        assert rights[1] == pytest.approx(whole, abs=1e-4)
        assert rights[2] == pytest.approx(float(ffn.activation.function(ffn.expand(x))[number]))
        assert rights[3] == pytest.approx(float(ffn(x[None]).output[0, neuron.entry]), abs=1e-4)


@pytest.mark.parametrize("name", ["relu", "gelu"])
def test_whoever_computes_with_the_rounded_numbers_is_right(name: str) -> None:
    network = load(name)
    trace = network.trace("She opened the [MASK] and looked out.")
    for number in range(0, 2_048, 97):
        neuron = real_neuron(network, trace, 1, 3, number)
        digits = neuron.digits
        products = [round(float(p), digits) for p in neuron.products]
        first = round(
            round(float(neuron.x[0]), digits) * round(float(neuron.key[0]), digits), digits
        )
        z = first + sum(products[1:]) + round(neuron.rest, digits) + round(neuron.bias, digits)
        # GELU as Hendrycks & Gimpel 2016 approximate it.
        h = max(0.0, z) if name == "relu" else z / (1 + np.exp(-1.702 * z))
        y = h * round(neuron.value, digits) + round(neuron.others, digits)
        for blank, typed in zip(blanks_of(neuron), (first, z, h, y), strict=True):
            assert abs(typed - blank.right) <= blank.tolerance, (number, blank.name)


def test_slips_of_a_real_neuron_are_told_from_what_is_right() -> None:
    network = load("relu")
    trace = network.trace("She opened the [MASK] and looked out.")

    def told(blank: Blank, value: float) -> str:
        return next(s.rule for s in blank.slips if abs(s.value - value) <= blank.tolerance)

    _, z, h, _ = blanks_of(real_neuron(network, trace, 1, 3, 5))
    assert z.right < 0
    assert told(h, z.right) == "φ"
