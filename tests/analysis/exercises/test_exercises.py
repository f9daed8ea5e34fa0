"""Exercises by hand, a block of lines with its bugs, and questions: against PyTorch and by hand."""

import math
import re

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from ffnviz.analysis import by_hand
from ffnviz.analysis.cost import multiply_adds, shape_of
from ffnviz.analysis.lab.experiment import Subject, in_double
from ffnviz.analysis.lab.linearity import try_linearity
from ffnviz.analysis.lab.positions import try_positions
from ffnviz.models.encoder.block import Block
from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.models.encoder.model import load
from ffnviz.models.trace import Trace
from ffnviz.parts.exercises import build
from ffnviz.parts.exercises.by_hand import Backward, backward, blanks_back
from ffnviz.parts.exercises.predict import QUESTIONS, Evidence


@pytest.fixture(scope="module")
def exercises() -> list[by_hand.SmallFfn]:
    return [by_hand.small_ffn(seed) for seed in range(100)]


@pytest.fixture(scope="module")
def steps(exercises: list[by_hand.SmallFfn]) -> list[Backward]:
    return [backward(ffn) for ffn in exercises]


def in_torch(ffn: by_hand.SmallFfn) -> list[float]:
    """z, h and y by torch.nn."""
    first, second = nn.Linear(2, 3), nn.Linear(3, 2)
    with torch.no_grad():
        for linear, weight, bias in ((first, ffn.w1, ffn.b1), (second, ffn.w2, ffn.b2)):
            linear.weight.copy_(torch.tensor(weight.T))
            linear.bias.copy_(torch.tensor(bias))
        z = first(torch.tensor(ffn.x, dtype=torch.float32))
        h = torch.relu(z)
        return [*z.tolist(), *h.tolist(), *second(h).tolist()]


def test_torch_has_the_same_solutions_and_every_seed_teaches(
    exercises: list[by_hand.SmallFfn],
) -> None:
    for ffn in exercises:
        assert [blank.right for blank in by_hand.blanks(ffn)] == in_torch(ffn)
        given = np.concatenate([each.ravel() for each in (ffn.x, ffn.w1, ffn.b1, ffn.w2, ffn.b2)])
        assert given.all()
        assert np.abs(given).max() <= by_hand.LARGEST
        assert (ffn.z < 0).sum() == 1
        for _, line in by_hand.worked(ffn):  # the written solutions are sums that come out
            plain = line.replace("−", "-").replace("·", "*").replace("ReLU", "max")
            left, right = re.sub(r"max\((-?\d+)\)", r"max(\1, 0)", plain).split(" = ")
            assert eval(left, {"max": max}) == int(right)  # digits and signs of ours
    assert len({str(vars(ffn) | {"seed": 0}) for ffn in exercises}) > 0.98 * len(exercises)


def slips_in_plain_python(ffn: by_hand.SmallFfn) -> list[dict[str, set[int]]]:
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


def test_which_rule_was_broken_is_always_told(exercises: list[by_hand.SmallFfn]) -> None:
    for ffn in exercises:
        for blank, wrong in zip(by_hand.blanks(ffn), slips_in_plain_python(ffn), strict=True):
            for rule, values in wrong.items():
                for value in values:
                    assert value != blank.right
                    slip = next(slip for slip in blank.slips if slip.value == value)
                    assert slip.rule == rule
                    assert slip.message.lower().startswith(rule)


@pytest.mark.parametrize("name", ["relu", "gelu"])
def test_a_real_neuron_is_the_networks(name: str) -> None:
    network = load(name)
    trace = network.trace("She opened the [MASK] and looked out.")
    for block, token, number in ((0, 1, 7), (1, 3, 42), (1, 4, 2_047)):
        neuron = by_hand.real_neuron(network, trace, block, token, number)
        ffn = network.encoder.blocks[block].ffn
        x = trace.blocks[block].ffn.input[token]
        weights = ffn.expand.weight[number]
        assert len(neuron.products) == by_hand.TERMS
        assert np.abs(neuron.products).min() >= float(
            (x * weights).abs().sort().values[-by_hand.TERMS - 1]
        )
        whole = neuron.products.sum() + neuron.rest + neuron.bias
        assert whole == pytest.approx(float(ffn.expand(x)[number]), abs=1e-4)
        rights = [blank.right for blank in by_hand.blanks_of(neuron)]
        assert rights[1] == pytest.approx(whole, abs=1e-4)
        assert rights[2] == pytest.approx(float(ffn.activation.function(ffn.expand(x))[number]))
        assert rights[3] == pytest.approx(float(ffn(x[None]).output[0, neuron.entry]), abs=1e-4)


@pytest.mark.parametrize("name", ["relu", "gelu"])
def test_whoever_computes_with_the_rounded_numbers_is_right(name: str) -> None:
    network = load(name)
    trace = network.trace("She opened the [MASK] and looked out.")
    for number in range(0, 2_048, 97):
        neuron = by_hand.real_neuron(network, trace, 1, 3, number)
        digits = neuron.digits
        products = [round(float(p), digits) for p in neuron.products]
        x, key = (round(float(each[0]), digits) for each in (neuron.x, neuron.key))
        first = round(x * key, digits)
        z = first + sum(products[1:]) + round(neuron.rest, digits) + round(neuron.bias, digits)
        # GELU as Hendrycks & Gimpel 2016 approximate it.
        h = max(0.0, z) if name == "relu" else z / (1 + np.exp(-1.702 * z))
        y = h * round(neuron.value, digits) + round(neuron.others, digits)
        for blank, typed in zip(by_hand.blanks_of(neuron), (first, z, h, y), strict=True):
            assert abs(typed - blank.right) <= blank.tolerance, (number, blank.name)
    if name == "relu":  # slips are told from what is right
        _, at_z, at_h, _ = by_hand.blanks_of(by_hand.real_neuron(network, trace, 1, 3, 5))
        assert at_z.right < 0
        rules = [s.rule for s in at_h.slips if abs(s.value - at_z.right) <= at_h.tolerance]
        assert rules[0] == "φ"


def by_autograd(exercise: Backward) -> list[float]:
    """The gradients of ½ ‖y − t‖² for y, h and z, and for the first row of W₁."""
    ffn = exercise.ffn
    given = (ffn.x, ffn.w1, ffn.b1, ffn.w2, ffn.b2, exercise.target)
    x, w1, b1, w2, b2, target = (torch.tensor(each, dtype=torch.float64) for each in given)
    w1.requires_grad_()
    z = x @ w1 + b1
    h = torch.relu(z)
    y = h @ w2 + b2
    loss = (y - target).square().sum() / 2
    at_y, at_h, at_z, at_w1 = torch.autograd.grad(loss, [y, h, z, w1])
    return [*at_y.tolist(), *at_h.tolist(), *at_z.tolist(), *at_w1[0].tolist()]


def test_gradients_are_autograds_and_slips_are_wrong(steps: list[Backward]) -> None:
    for step in steps:
        gaps = blanks_back(step)
        assert [blank.right for blank in gaps] == by_autograd(step)
        dead = int(step.ffn.z.argmin())
        assert not step.at_w1[:, dead].any()
        assert gaps[5 + dead].right == gaps[8 + dead].right == 0
        (slip,) = gaps[5 + dead].slips
        assert slip.value == step.at_h[dead] != 0
        assert "flat" in slip.message
        for blank in gaps:
            assert blank.right not in {slip.value for slip in blank.slips}
            if blank.reads:  # it follows from the gaps that it reads
                made = blank.plus + sum(gaps[at].right * weight for at, weight in blank.reads)
                assert made == blank.right


TEXT = "She opened the [MASK] and looked out."
CLEARLY = 1e-3  # of the real number: far beyond float64's rounding


@pytest.fixture(scope="module", params=["relu", "gelu"])
def network(request: pytest.FixtureRequest) -> tuple[list[Block], Trace]:
    model = load(request.param)
    return list(in_double(model.encoder).blocks), model.trace(TEXT)


def test_the_right_order_is_the_trace_within_rounding(network: tuple[list[Block], Trace]) -> None:
    blocks, trace = network
    for block, record in zip(blocks, trace.blocks, strict=True):
        x = record.input.double()
        lines = build.lines_of(block, len(x))
        ran = {each.name: each for each in build.run_lines(lines, build.RIGHT, x)}
        wanted = {
            "a": record.attention.input, "g": record.attention.output, "h": record.middle,
            "i": record.ffn.input, "j": record.ffn.pre_activation, "k": record.ffn.hidden,
            "l": record.ffn.output, "m": record.output,
        }  # fmt: skip
        for name, real in wanted.items():
            made = ran[name].value
            assert made is not None
            assert float((made[: len(x)] - real).norm() / real.norm()) < 1e-5, name
        weights = ran["e"].value
        assert weights is not None
        assert torch.allclose(
            build.of_sentence(weights, len(x)), record.attention.weights.double(), atol=1e-5
        )


def test_a_causal_block_is_the_same_in_lines() -> None:
    config = EncoderConfig(vocab_size=9, d_model=16, n_heads=4, d_ff=40, causal=True)
    torch.manual_seed(3)
    block = Block(config).double().eval()
    x = torch.randn(5, 16, dtype=torch.float64)
    ran = build.run_lines(build.lines_of(block, 5), build.RIGHT, x)
    assert ran[-1].value is not None
    assert torch.allclose(ran[-1].value[:5], block(x).output)
    assert build.allowed(5, True)[4].tolist() == [True] * 5 + [False] * build.PADDING


def test_a_wrong_order_says_in_a_sentence_what_does_not_fit() -> None:
    model = load("relu")
    x = model.trace(TEXT).blocks[0].input.double()
    lines = build.lines_of(in_double(model.encoder).blocks[0], len(x))
    for order, at, said in (
        ("kabcdefghijlm", 0, "y is not there yet: no line above makes it."),
        ("acbdefghijklm", 1, "q is not there yet: no line above makes it."),
        ("abcdefhgijklm", 6, "It needs y of shape (10, 512); y is (8, 10, 64)."),
        ("abcdefghiljkm", 9, "It needs y of shape (10, 2,048); y is (10, 512)."),
    ):
        ran = build.run_lines(lines, order, x)
        assert ran[at].fault == said
        assert all(each.value is None for each in ran[at:])
        assert not any(each.fault for each in ran[at + 1 :])
    # φ after W₂ fits, and gives another output.
    wrong, right = (
        build.run_lines(lines, order, x)[-1].value for order in ("abcdefghijlkm", build.RIGHT)
    )
    assert wrong is not None
    assert right is not None
    assert build.off_by(wrong, right, len(x)) > CLEARLY


@given(st.permutations(build.RIGHT))
@settings(max_examples=60, deadline=None)
def test_any_order_runs_or_says_why_not(order: list[str]) -> None:
    torch.manual_seed(1)
    block = Block(EncoderConfig(vocab_size=9, d_model=8, n_heads=2, d_ff=24)).eval()
    ran = build.run_lines(build.lines_of(block, 3), order, torch.randn(3, 8))
    faults = [each.fault for each in ran if each.fault]
    assert len(faults) <= 1
    assert all(fault.endswith(".") and "Traceback" not in fault for fault in faults)
    assert [each.name for each in ran] == order


def test_every_bug_moves_the_named_number_and_no_line_before(
    network: tuple[list[Block], Trace],
) -> None:
    blocks, trace = network
    first = {"residual": "m", "phi": "k", "norm": "i", "transpose": "g", "shared": "a",
             "bias": "j", "axis": "e", "mask": "d", "second": "l", "dropout": "k"}  # fmt: skip
    x = trace.blocks[0].input.double()
    case = build.Case(blocks[0], blocks[1], len(x), 0)
    right = build.numbers(case, None, x)
    assert not build.impossible(case)
    for bug in build.BUGS.values():
        wrong, place = build.numbers(case, bug, x), build.COLUMNS.index(bug.column)
        assert wrong[bug.line].shape == right[bug.line].shape, "nothing is found by its shape"
        a, b = (each[bug.line].values[place] for each in (wrong, right))
        assert a is not None
        assert b is not None
        assert abs(a - b) > CLEARLY * max(1.0, abs(b))
        off = {name: each.values[-1] for name, each in wrong.items()}
        assert next(name for name in build.RIGHT if off[name]) == first[bug.name]
        assert off["m"], "the block's output is another"
        assert math.isfinite(off["m"])
    bare = Block(EncoderConfig(vocab_size=9, d_model=16, n_heads=4, d_ff=8, bias=False))
    lacking = build.impossible(build.Case(bare, bare, 3, 0))
    assert set(lacking) == {"shared", "bias", "second"}, "only what changes something"


RIGHT = (0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 0, 1)  # as the textbooks cited have it


@pytest.fixture(scope="module", params=["relu", "gelu"])
def subject(request: pytest.FixtureRequest) -> Subject:
    model = load(request.param)
    return Subject(model, model.trace(TEXT), 1, 3)


@pytest.fixture(scope="module")
def found(subject: Subject) -> dict[str, Evidence]:
    return {each.name: each.see(subject) for each in QUESTIONS}


def test_the_numbers_choose_what_the_textbooks_say(found: dict[str, Evidence]) -> None:
    assert tuple(found[each.name].answer for each in QUESTIONS) == RIGHT
    assert len(QUESTIONS) == len({each.name for each in QUESTIONS}) == 12


def test_the_lab_agrees(subject: Subject, found: dict[str, Evidence]) -> None:
    tried = {each.name: each for each in try_linearity(subject).tried}
    off = torch.tensor([share or 0 for _, _, share in found["attention"].rows])
    assert off[1] / off[0] < 1e-9
    assert not tried["attention"].check.passed
    assert tried["attention, its shares held"].check.passed
    assert float(found["attention"].rows[0][1]) == pytest.approx(
        tried["attention"].scaling, rel=0.05
    )
    positions = try_positions(subject)
    apart = ~torch.eye(len(positions.ffn), dtype=torch.bool).numpy()
    assert positions.ffn[apart].max() == 0
    assert found["tokens"].rows[1][1] == "0"
    assert positions.attention is not None
    assert found["tokens"].rows[2][1] != "0"


def test_counts_by_hand(subject: Subject, found: dict[str, Evidence]) -> None:
    hidden = subject.trace.blocks[1].ffn.hidden
    limit = 0.0 if subject.model.card.id == "relu" else 0.1
    here = [n for n in range(2_048) if abs(float(hidden[3, n])) > limit]
    assert found["words"].rows[0][1] == f"{len(here):,} of 2,048"
    elsewhere = {
        n for t in range(len(hidden)) if t != 3 for n in here if abs(float(hidden[t, n])) > limit
    }
    assert found["words"].rows[1][1] == f"{len(elsewhere):,}"
    silent = set(range(2_048)) - set(here)
    waked = {int(n) for t in range(len(hidden)) for n in (hidden[t].abs() > limit).nonzero()}
    assert found["dead"].rows[1][1] == f"{len(silent - waked):,}"
    work = multiply_adds(shape_of(subject.ours.encoder.config, len(hidden)))
    share = work["FFN"] / (work["FFN"] + work["attention"])
    assert found["work"].rows[1][1] == f"{share:.0%}"
