"""Ten bugs to plant in a block, and the numbers by which each can be found."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from ffnviz.analysis.exercises.block_lines import (
    CODE,
    RIGHT,
    Line,
    Variables,
    allowed,
    lines_of,
    of_sentence,
    off_by,
    run,
)
from ffnviz.models.encoder.block import Block

DROPPED = 0.1  # the share that dropout takes, if the network was trained without any
SEEDS = (1, 2)  # of two runs; only dropout tells them apart
COLUMNS = ("smallest", "largest", "mean", "length", "row sum", "two runs", "off by")


@dataclass(frozen=True)
class Case:
    """What a bug is planted in.

    Attributes:
        block: whose weights are used.
        other: another block of the network; itself if there is only one.
        n_tokens: of the sentence.
        seed: of what is random.
    """

    block: Block
    other: Block
    n_tokens: int
    seed: int


Steps = Mapping[str, Callable[[Variables], Variables]]  # of the lines that a bug replaces
Plant = Callable[[Case, dict[str, Line]], Steps]


@dataclass(frozen=True)
class Bug:
    """One bug.

    Attributes:
        name: in links.
        title: what it is called.
        line, column: the number that tells it.
        tells: that number, in a sentence.
        plant: the lines that run in place of the right ones.
    """

    name: str
    title: str
    line: str
    column: str
    tells: str
    plant: Plant


BUGS: list[Bug] = []


def _bug(name: str, title: str, line: str, column: str, tells: str) -> Callable[[Plant], Plant]:
    def add(plant: Plant) -> Plant:
        BUGS.append(Bug(name, title, line, column, tells, plant))
        return plant

    return add


def y_of(given: Variables) -> Tensor:
    """What the line before has made."""
    assert given.y is not None  # noqa: S101
    return given.y


@_bug("residual", "No residual around the FFN", "m", "length",
      "the last x is only as long as what the FFN wrote")  # fmt: skip
def _no_residual(_: Case, __: dict[str, Line]) -> Steps:
    return {"m": lambda given: replace(given, x=y_of(given))}


@_bug("phi", "φ after W₂ instead of before", "k", "smallest",
      "phi(y) reaches as far below zero as y before it")  # fmt: skip
def _phi_late(case: Case, _: dict[str, Line]) -> Steps:
    ffn = case.block.ffn
    return {
        "k": lambda given: given,
        "l": lambda given: replace(given, y=ffn.activation.function(ffn.compress(y_of(given)))),
    }


@_bug("norm", "LayerNorm behind the FFN's sum instead of before the FFN", "i", "length",
      "norm_2(x) is as long as x itself")  # fmt: skip
def _norm_moved(case: Case, _: dict[str, Line]) -> Steps:
    norm = case.block.ffn_norm
    return {
        "i": lambda given: replace(given, y=given.x),
        "m": lambda given: replace(given, x=norm(given.x + y_of(given))),
    }


@_bug("transpose", "Heads joined without transposing them back", "g", "off by",
      "all is right up to y @ v, and join(y) is off")  # fmt: skip
def _untransposed(case: Case, _: dict[str, Line]) -> Steps:
    out = case.block.attention.project_out
    return {"g": lambda given: replace(given, y=out(y_of(given).reshape(given.x.shape)))}


@_bug("shared", "The other block's weights", "a", "off by",
      "the very first line is off already")  # fmt: skip
def _shared(case: Case, _: dict[str, Line]) -> Steps:
    return {name: line.step for name, line in lines_of(case.other, case.n_tokens).items()}


@_bug("bias", "b₁ added twice", "j", "mean",
      "the mean before φ has moved by the mean of b₁")  # fmt: skip
def _bias_twice(case: Case, _: dict[str, Line]) -> Steps:
    expand = case.block.ffn.expand
    return {"j": lambda given: replace(given, y=expand(y_of(given)) + expand.bias)}


@_bug("axis", "Softmax over the wrong axis", "e", "row sum",
      "the rows of softmax do not sum to 1")  # fmt: skip
def _wrong_axis(_: Case, __: dict[str, Line]) -> Steps:
    # Where a column is −∞ throughout, its softmax is no number; libraries make it 0.
    return {"e": lambda given: replace(given, y=y_of(given).softmax(dim=-2).nan_to_num(0.0))}


@_bug("mask", "Mask inverted", "e", "row sum",
      "the rows of softmax sum to 0 over the sentence: all attend to padding")  # fmt: skip
def _inverted(case: Case, _: dict[str, Line]) -> Steps:
    may = allowed(case.n_tokens, case.block.attention.causal)
    return {"d": lambda given: replace(given, y=y_of(given).masked_fill(may, -math.inf))}


@_bug("second", "W₂ not applied", "l", "smallest",
      "what the FFN writes reaches no further below zero than phi(y)")  # fmt: skip
def _no_second(case: Case, _: dict[str, Line]) -> Steps:
    d_model = case.block.ffn.expand.in_features
    return {"l": lambda given: replace(given, y=y_of(given)[..., :d_model])}


@_bug("dropout", "Dropout left on", "k", "two runs",
      "two runs on one sentence differ")  # fmt: skip
def _dropout(case: Case, lines: dict[str, Line]) -> Steps:
    share = case.block.ffn.dropout.p or DROPPED
    generator = torch.Generator().manual_seed(case.seed)

    def dropped(given: Variables) -> Variables:
        hidden = y_of(lines["k"].step(given))
        kept = torch.rand(hidden.shape, generator=generator) >= share
        return replace(given, y=hidden * kept / (1 - share))

    return {"k": dropped}


@dataclass(frozen=True)
class Numbers:
    """A line's result: its shape, and one of each of COLUMNS; None where there is none."""

    shape: tuple[int, ...]
    values: tuple[float | None, ...]


def numbers(case: Case, bug: Bug | None, x: Tensor) -> dict[str, Numbers]:
    """What each line makes of a sentence, (T, d_model), with a bug planted or without."""
    right = dict(zip(RIGHT, run(lines_of(case.block, case.n_tokens), RIGHT, x), strict=True))
    first, second = (run(_planted(replace(case, seed=seed), bug), RIGHT, x) for seed in SEEDS)
    by_line = {}
    for one, two in zip(first, second, strict=True):
        real = right[one.name].value
        assert one.value is not None  # noqa: S101
        assert two.value is not None  # noqa: S101
        assert real is not None  # noqa: S101
        shown = of_sentence(one.value, case.n_tokens)
        finite = shown[shown.isfinite()]
        some = finite if len(finite) else shown.new_zeros(1)
        sums = shown.sum(dim=-1) if one.name == "e" else None
        by_line[one.name] = Numbers(tuple(one.value.shape), (
            float(some.min()), float(some.max()), float(some.mean()),
            float(shown.nan_to_num(0, 0, 0).norm(dim=-1).mean()),
            None if sums is None else float(sums.max()),
            off_by(two.value, one.value, case.n_tokens), off_by(one.value, real, case.n_tokens),
        ))  # fmt: skip
    return by_line


def _planted(case: Case, bug: Bug | None) -> dict[str, Line]:
    lines = lines_of(case.block, case.n_tokens)
    if bug is None:
        return lines
    return lines | {name: Line(CODE[name], step) for name, step in bug.plant(case, lines).items()}


def fitting(case: Case) -> tuple[Bug, ...]:
    """The bugs that change anything in this network."""
    ffn = case.block.ffn
    lacking = {
        "shared": case.other is case.block,
        "bias": ffn.expand.bias is None,
        "second": ffn.expand.out_features < ffn.expand.in_features,
    }
    return tuple(bug for bug in BUGS if not lacking.get(bug.name))
