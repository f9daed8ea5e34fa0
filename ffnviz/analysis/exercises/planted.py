"""Ten bugs to plant in a block, and the numbers that reveal each."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from ffnviz.analysis.exercises.block_lines import (
    RIGHT,
    Line,
    Variables,
    allowed,
    lines_of,
    of_sentence,
    off_by,
    run,
    y_of,
)
from ffnviz.models.encoder.block import Block

DROPPED = 0.1  # the dropout rate for a network trained without dropout
SEEDS = (1, 2)  # of two runs, which only dropout makes different
COLUMNS = ("smallest", "largest", "mean", "length", "row sum", "two runs", "off by")


@dataclass(frozen=True)
class Case:
    """The block in which a bug is planted, and the sentence's length.

    Attributes:
        block: whose weights are used.
        other: another block of the network; the same one if there is only one.
        n_tokens: of the sentence.
        seed: for dropout.
    """

    block: Block
    other: Block
    n_tokens: int
    seed: int


Lines = dict[str, Line]
Plant = Callable[[Case, Lines], Lines]  # from all right lines to those that a bug replaces


@dataclass(frozen=True)
class Bug:
    """One bug.

    Attributes:
        name: its id in links.
        title: its name on the page.
        line, column: the number that reveals it.
        tells: what that number shows.
        plant: makes the lines that run in place of the right ones.
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


@_bug("residual", "No residual around the FFN", "m", "length",
      "the last x is only as long as what the FFN wrote")  # fmt: skip
def _no_residual(_: Case, __: Lines) -> Lines:
    return {"m": lambda given: replace(given, x=y_of(given))}


@_bug("phi", "φ after W₂ instead of before", "k", "smallest",
      "phi(y) reaches as far below zero as y before it")  # fmt: skip
def _phi_late(case: Case, _: Lines) -> Lines:
    ffn = case.block.ffn
    return {
        "k": lambda given: given,
        "l": lambda given: replace(given, y=ffn.activation.function(ffn.compress(y_of(given)))),
    }


@_bug("norm", "LayerNorm behind the FFN's sum instead of before the FFN", "i", "length",
      "norm_2(x) is as long as x itself")  # fmt: skip
def _norm_moved(case: Case, _: Lines) -> Lines:
    norm = case.block.ffn_norm
    return {
        "i": lambda given: replace(given, y=given.x),
        "m": lambda given: replace(given, x=norm(given.x + y_of(given))),
    }


@_bug("transpose", "Heads joined without transposing them back", "g", "off by",
      "all is right up to y @ v, and join(y) is off")  # fmt: skip
def _untransposed(case: Case, _: Lines) -> Lines:
    out = case.block.attention.project_out
    return {"g": lambda given: replace(given, y=out(y_of(given).reshape(given.x.shape)))}


@_bug("shared", "The other block's weights", "a", "off by",
      "the very first line is off already")  # fmt: skip
def _shared(case: Case, _: Lines) -> Lines:
    return lines_of(case.other, case.n_tokens)


@_bug("bias", "b₁ added twice", "j", "mean",
      "the mean before φ has moved by the mean of b₁")  # fmt: skip
def _bias_twice(case: Case, _: Lines) -> Lines:
    expand = case.block.ffn.expand
    return {"j": lambda given: replace(given, y=expand(y_of(given)) + expand.bias)}


@_bug("axis", "Softmax over the wrong axis", "e", "row sum",
      "the rows of softmax do not sum to 1")  # fmt: skip
def _wrong_axis(_: Case, __: Lines) -> Lines:
    # The softmax of a column of −∞ alone is NaN; libraries make it 0.
    return {"e": lambda given: replace(given, y=y_of(given).softmax(dim=-2).nan_to_num(0.0))}


@_bug("mask", "Mask inverted", "e", "row sum",
      "the rows of softmax sum to 0 over the sentence: all attend to padding")  # fmt: skip
def _inverted(case: Case, _: Lines) -> Lines:
    mask = allowed(case.n_tokens, case.block.attention.causal)
    return {"d": lambda given: replace(given, y=y_of(given).masked_fill(mask, -math.inf))}


@_bug("second", "W₂ not applied", "l", "smallest",
      "what the FFN writes reaches no further below zero than phi(y)")  # fmt: skip
def _no_second(case: Case, _: Lines) -> Lines:
    d_model = case.block.ffn.expand.in_features
    return {"l": lambda given: replace(given, y=y_of(given)[..., :d_model])}


@_bug("dropout", "Dropout left on", "k", "two runs",
      "two runs on one sentence differ")  # fmt: skip
def _dropout(case: Case, lines: Lines) -> Lines:
    rate = case.block.ffn.dropout.p or DROPPED
    generator = torch.Generator().manual_seed(case.seed)

    def dropped(given: Variables) -> Variables:
        hidden = y_of(lines["k"](given))
        kept = torch.rand(hidden.shape, generator=generator) >= rate
        return replace(given, y=hidden * kept / (1 - rate))

    return {"k": dropped}


@dataclass(frozen=True)
class Numbers:
    """Statistics of a line's result."""

    shape: tuple[int, ...]
    values: tuple[float | None, ...]  # one for each of COLUMNS; None where it does not apply


def numbers(case: Case, bug: Bug | None, x: Tensor) -> dict[str, Numbers]:
    """Statistics of each line's result on a sentence, (T, d_model), with a bug or without."""
    right = _values(case, None, x)
    first, second = (_values(replace(case, seed=seed), bug, x) for seed in SEEDS)
    by_line = {}
    for name, value in first.items():
        of_tokens = of_sentence(value, case.n_tokens)
        finite = of_tokens[of_tokens.isfinite()]
        finite = finite if len(finite) else of_tokens.new_zeros(1)
        by_line[name] = Numbers(tuple(value.shape), (
            float(finite.min()), float(finite.max()), float(finite.mean()),
            float(of_tokens.nan_to_num(0, 0, 0).norm(dim=-1).mean()),
            float(of_tokens.sum(dim=-1).max()) if name == "e" else None,
            off_by(second[name], value, case.n_tokens), off_by(value, right[name], case.n_tokens),
        ))  # fmt: skip
    return by_line


def _values(case: Case, bug: Bug | None, x: Tensor) -> dict[str, Tensor]:
    lines = lines_of(case.block, case.n_tokens)
    if bug is not None:
        lines = lines | bug.plant(case, lines)
    return {each.name: each.value for each in run(lines, RIGHT, x) if each.value is not None}


def fitting(case: Case) -> tuple[Bug, ...]:
    """The bugs that make a difference in this network."""
    ffn = case.block.ffn
    lacking = {
        "shared": case.other is case.block,
        "bias": ffn.expand.bias is None,
        "second": ffn.expand.out_features < ffn.expand.in_features,
    }
    return tuple(bug for bug in BUGS if not lacking.get(bug.name))
