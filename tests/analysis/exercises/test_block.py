"""The block of lines: in the right order it is the trace; each planted bug moves its number."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ffnviz.analysis.lab.experiment import in_double
from ffnviz.models.encoder.block import Block
from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.models.encoder.model import load
from ffnviz.models.trace import Trace
from ffnviz.parts.exercises.build import (
    BUGS,
    CODE,
    COLUMNS,
    PADDING,
    RIGHT,
    Bug,
    Case,
    allowed,
    fitting,
    lines_of,
    numbers,
    of_sentence,
    off_by,
    run_lines,
)

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
        ran = {each.name: each for each in run_lines(lines_of(block, len(x)), RIGHT, x)}
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
            of_sentence(weights, len(x)), record.attention.weights.double(), atol=1e-5
        )


def test_a_causal_block_is_the_same_in_lines() -> None:
    config = EncoderConfig(vocab_size=9, d_model=16, n_heads=4, d_ff=40, causal=True)
    torch.manual_seed(3)
    block = Block(config).double().eval()
    x = torch.randn(5, 16, dtype=torch.float64)
    ran = run_lines(lines_of(block, 5), RIGHT, x)
    assert ran[-1].value is not None
    assert torch.allclose(ran[-1].value[:5], block(x).output)
    assert allowed(5, True)[4].tolist() == [True] * 5 + [False] * PADDING


def test_a_wrong_order_says_in_a_sentence_what_does_not_fit() -> None:
    model = load("relu")
    x = model.trace(TEXT).blocks[0].input.double()
    lines = lines_of(in_double(model.encoder).blocks[0], len(x))
    for order, at, said in (
        ("kabcdefghijlm", 0, "y is not there yet: no line above makes it."),
        ("acbdefghijklm", 1, "q is not there yet: no line above makes it."),
        ("abcdefhgijklm", 6, "It needs y of shape (10, 512); y is (8, 10, 64)."),
        ("abcdefghijlkm", 10, None),
        ("abcdefghiljkm", 9, "It needs y of shape (10, 2,048); y is (10, 512)."),
    ):
        ran = run_lines(lines, order, x)
        if said is None:  # it runs, and is φ after W₂
            assert all(each.value is not None for each in ran)
            assert off_by(ran[-1].value, run_lines(lines, RIGHT, x)[-1].value, len(x)) > CLEARLY  # type: ignore[arg-type]
            continue
        assert ran[at].fault == said
        assert all(each.value is None for each in ran[at:])
        assert not any(each.fault for each in ran[at + 1 :])


@given(st.permutations(RIGHT))
@settings(max_examples=60, deadline=None)
def test_any_order_runs_or_says_why_not(order: list[str]) -> None:
    torch.manual_seed(1)
    block = Block(EncoderConfig(vocab_size=9, d_model=8, n_heads=2, d_ff=24)).eval()
    ran = run_lines(lines_of(block, 3), order, torch.randn(3, 8))
    faults = [each.fault for each in ran if each.fault]
    assert len(faults) <= 1
    assert all(fault.endswith(".") and "Traceback" not in fault for fault in faults)
    assert [each.name for each in ran] == order


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_every_bug_moves_the_number_that_the_page_names(
    bug: Bug, network: tuple[list[Block], Trace]
) -> None:
    blocks, trace = network
    for at, block in enumerate(blocks):
        x = trace.blocks[at].input.double()
        case = Case(block, blocks[1 - at], len(x), 0)
        assert bug in fitting(case)
        place = COLUMNS.index(bug.column)
        wrong, right = (numbers(case, each, x)[bug.line] for each in (bug, None))
        assert wrong.shape == right.shape, "nothing is found by its shape"
        a, b = wrong.values[place], right.values[place]
        assert a is not None
        assert b is not None
        assert abs(a - b) > CLEARLY * max(1.0, abs(b))
        assert bug.tells
        assert bug.line in CODE


def test_lines_before_a_bug_are_untouched(network: tuple[list[Block], Trace]) -> None:
    blocks, trace = network
    x = trace.blocks[1].input.double()
    case = Case(blocks[1], blocks[0], len(x), 0)
    first = {"residual": "m", "phi": "k", "norm": "i", "transpose": "g", "shared": "a",
             "bias": "j", "axis": "e", "mask": "d", "second": "l", "dropout": "k"}  # fmt: skip
    for bug in BUGS:
        off = {name: each.values[-1] for name, each in numbers(case, bug, x).items()}
        moved = [name for name in RIGHT if off[name]]
        assert moved[0] == first[bug.name]
        assert off["m"], "the block's output is another"
        assert math.isfinite(off["m"] or 0.0)


def test_only_bugs_that_change_something_are_planted() -> None:
    config = EncoderConfig(vocab_size=9, d_model=16, n_heads=4, d_ff=8, bias=False)
    block = Block(config)
    names = {bug.name for bug in fitting(Case(block, block, 3, 0))}
    assert names == {bug.name for bug in BUGS} - {"shared", "bias", "second"}
