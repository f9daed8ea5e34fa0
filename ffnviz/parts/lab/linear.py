"""Is it linear? Additivity and scaling on every part of the block.

Attention's softmax weighs the tokens, LayerNorm divides by a standard deviation, and φ lets
through a share φ(z) / z of each pre-activation: for GELU that is Φ(z) (Hendrycks & Gimpel 2016,
section 2), for ReLU 0 or 1. With all three held as a sentence has them, a network is one matrix
and a bias for this sentence, and its results stay the same.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from ffnviz.analysis.lab.experiment import Subject
from ffnviz.analysis.lab.linearity import (
    FACTOR,
    Linearity,
    Map,
    Tried,
    frozen_parts,
    try_additivity,
    try_linearity,
    try_map,
)
from ffnviz.analysis.lab.linearity import FACTOR as USUAL
from ffnviz.analysis.measuring import Progress
from ffnviz.analysis.number_format import short
from ffnviz.models.encoder.block import Block
from ffnviz.models.token_slice import index_in_full
from ffnviz.parts.experiments import cached_for_block, experiment_subject, verdicts_of
from ffnviz.parts.sheet import Measured, Sheet, Soon, measured_row, row
from ffnviz.pictures.bars import Bars, bars_cell
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.plot import Array, Figure, axis, bar_trace, figure, vertical_line
from ffnviz.pictures.wording import number, percent, quoted
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, choice_setting, number_slider

LEAST = 1e-17


def off_linear(
    tried: Mapping[str, tuple[float, ...]], allowed: float, labels: tuple[str, ...], twin: str
) -> Figure:
    """A bar a part and test, logarithmic; a line where the largest rounding of any part ends."""
    short_names = [name.removeprefix("all ") for name in tried]
    names = [f"{name.split(',')[0]}, held" if "," in name else name for name in short_names]
    tests = zip(zip(*tried.values(), strict=True), labels, (f"@{twin}", "@muted"), strict=False)
    axis_end = np.log10(LEAST)
    return figure(
        [
            # From the axis' end on: a bar on a logarithmic scale has no zero to start from.
            bar_trace(label, np.log10(np.maximum(values, LEAST)) - axis_end, names, colour,
                      orientation="h", base=axis_end, customdata=np.array(values), cliponaxis=False,
                      meta={"numbers": "customdata", "values": list(values), "named": "map"},
                      hovertemplate="%{y}: %{customdata:.2g}<extra>%{fullData.name}</extra>",
                      text=[short(value, 1) for value in values], textposition="outside",
                      textfont={"size": 16})
            for values, label, colour in tests
        ],
        axis("off by (share), logarithmic", range=[axis_end, 2],
             tickvals=list(range(-16, 1, 4)),
             ticktext=[f"10<sup>{k}</sup>" if k else "1" for k in range(-16, 1, 4)]),
        axis("", autorange="reversed", showgrid=False, tickfont={"size": 16}),
        barmode="group",
        legend={"orientation": "h", "x": 0, "y": 1.05, "yanchor": "bottom"},
        showlegend=len(labels) > 1,
        bargap=0.3,
        margin={"l": 170, "r": 20, "t": 58 if len(labels) > 1 else 26, "b": 56},
        shapes=[vertical_line(np.log10(allowed))],
        annotations=[{"text": "rounding ends here", "x": np.log10(allowed), "y": 1,
                      "yref": "paper", "yanchor": "bottom", "xanchor": "left",
                      "showarrow": False}],
    )  # fmt: skip


AS_IT_IS, HELD = "as it is", "attention, LN held"
NO_PHI, GATES = "and φ removed", "and φ(z)/z"
AT_ONCE = 64  # rows of the folded matrix


@dataclass(frozen=True)
class Folded:
    """A linear stack's matrix for one token's result."""

    off: float  # the relative error of the one matrix against the stack step by step
    # Frobenius norm of the matrix through which the token reads each token, (T,)
    reads: Array
    shape: tuple[int, int]  # of the matrix


@dataclass(frozen=True)
class Frozen:
    """A block and the whole stack, with less and less that depends on the input."""

    block: dict[str, Tried]  # what is held → the tests on the chosen block
    stack: dict[str, Tried]  # likewise on all blocks
    unchanged: float  # the relative error of the last stream with all three held
    folded: Folded | None  # the linear stack as one matrix; None while that is made


@torch.inference_mode(mode=False)
@torch.no_grad()
def freeze(subject: Subject, removed: bool, progress: Progress) -> Iterator[Frozen]:
    """Freeze the chosen block and the stack; then fold the linear stack for the chosen token.

    φ is removed from the folded stack, or held.
    """
    encoder, whole = subject.own, subject.whole
    x = whole.embedding.cpu().double().clone()
    maps: list[dict[str, Map]] = []
    streams = [x]
    for block in encoder.blocks:
        maps.append(frozen_maps(block, streams[-1]))
        streams.append(block(streams[-1]).output)
    config = encoder.config
    inner = 2 * config.d_model + config.d_ff + len(x)

    def stack(kind: str) -> Map:
        def through(v: Tensor) -> Tensor:
            for of_block in maps:
                v = of_block[kind](v)
            return v

        return through

    def tested(kind: str, f: Map, x: Tensor, depth: int) -> Tried:
        return try_map(kind, try_additivity(f, x), FACTOR, inner * depth)

    at = subject.block
    linear = stack(NO_PHI if removed else GATES)
    frozen = Frozen(
        block={kind: tested(kind, f, streams[at], 1) for kind, f in maps[at].items()},
        stack={kind: tested(kind, stack(kind), x, len(maps)) for kind in maps[at]},
        unchanged=_relative_error(stack(GATES)(x), streams[-1]),
        folded=None,
    )
    yield frozen
    reads, result = fold(linear, x, subject.place, progress)
    off = _relative_error(result, linear(x)[subject.place])
    yield replace(frozen, folded=Folded(off, reads.numpy(), (x.numel(), x.shape[1])))


def _relative_error(value: Tensor, expected: Tensor) -> float:
    return float((value - expected).norm() / expected.norm())


def frozen_maps(block: Block, x: Tensor) -> dict[str, Map]:
    """The block as it is, and with more and more held as the stream x, (T, d_model), has it."""
    ffn = block.ffn
    z = ffn.expand(block(x).ffn.input)
    gates = torch.where(z == 0, 0.0, ffn.activation.function(z) / z)
    matrix = ffn.expand.weight.mT @ ffn.compress.weight.mT
    bias = ffn.compress(ffn.expand(torch.zeros_like(x[0])))
    return {
        AS_IT_IS: lambda v: block(v).output,
        HELD: _held(block, x, lambda v: ffn(v).output),
        GATES: _held(block, x, lambda v: ffn.compress(ffn.expand(v) * gates)),
        NO_PHI: _held(block, x, lambda v: v @ matrix + bias),
    }


def _held(block: Block, x: Tensor, ffn: Map) -> Map:
    """The block with another map for its FFN; attention's weights and LayerNorms are held."""
    attention, attention_norm, ffn_norm = frozen_parts(block, x)

    def held(v: Tensor) -> Tensor:
        if block.norm_first:
            middle = v + attention(attention_norm(v))
            return middle + ffn(ffn_norm(middle))
        middle = attention_norm(v + attention(v))
        return ffn_norm(middle + ffn(middle))

    return held


def fold(f: Map, x: Tensor, token: int, progress: Progress) -> tuple[Tensor, Tensor]:
    """‖M_j‖, (T,), and Σ_j x_j M_j + f(0), (d_model,), of an affine map f for one token's result.

    M_j is the matrix that reads token j of x, (T, d_model); it is made some rows at a time.
    """
    d_model = x.shape[1]
    bias, squares, results = f(torch.zeros_like(x))[token], torch.zeros_like(x[:, 0]), []
    pulled = torch.func.vjp(lambda v: f(v)[token], x)[1]
    for first in range(0, d_model, AT_ONCE):
        chosen = torch.eye(d_model, dtype=x.dtype)[first : first + AT_ONCE]
        (rows,) = torch.func.vmap(pulled)(chosen)  # (rows, T, d_model)
        squares += rows.square().sum(dim=(0, 2))
        results.append((rows * x).sum(dim=(1, 2)))
        progress(min(1.0, (first + AT_ONCE) / d_model))
    return squares.sqrt(), torch.cat(results) + bias


REMOVED = "removed"
PHIS = {REMOVED: "removed", "held": "held: φ(z)/z"}
PHI = choice_setting("frozen_phi", PHIS).with_control("φ in the folded matrix")
FROZEN_SETTINGS = (PHI,)


def frozen_sheet(run: Run, values: Values) -> Sheet:
    """How far from linear the block remains, beside what the folded matrix reads."""
    removed = values[PHI] == REMOVED
    state = run.state
    setup = (run.card.id, state.block, state.sentence, run.token, removed)

    soon = Soon("folded-stack", "Which tokens the one folded matrix reads", 520)

    def cards(measured: Measured[Frozen]) -> tuple[Cell, Cell | Soon]:
        result = measured.result
        reads = what_it_reads(run, result.folded, removed) if result.folded else soon
        return how_linear(run, result), reads

    how_far = Soon(
        "frozen", "How far from linear one block and all are, with parts held fixed", 520
    )
    folded = measured_row(
        "frozen",
        setup,
        frozen,
        cards,
        (how_far, soon),
        widths=(1.3, 1),
        args=(removed,),
        words=("Fold", "Folding all blocks into one matrix …"),
        once=True,
    )
    return Sheet([folded])


def frozen(run: Run, progress: Progress, removed: bool) -> Iterator[Frozen]:
    """Freeze the chosen block and the whole stack; then fold the stack."""
    return freeze(experiment_subject(run), removed, progress)


def how_linear(run: Run, result: Frozen) -> Cell:
    """How far the block and the stack are from linear."""
    n = len(run.trace.blocks)
    stack = "the block" if n == 1 else f"the {n} blocks"
    sentence = (
        f"With attention and LayerNorm held, only φ bends: {stack} "
        f"{'is' if n == 1 else 'are'} {number(short(result.stack[HELD].additivity))} from "
        "linear. With φ(z)/z held, too, "
        f"{'it is' if n == 1 else 'they are'} {short(result.stack[GATES].additivity)} from linear; "
        f"the last stream stays what it was, up to {short(result.unchanged)}."
    )
    tried = {
        name: (each.additivity, result.stack[name].additivity)
        for name, each in result.block.items()
    }
    allowed = max(each.allowed for each in result.stack.values())
    names = (f"block {run.state.block + 1}", stack)
    alt = (
        "How far from linear the block and the stack are, with less and less that depends on the "
        "input."
    )
    drawn = off_linear(tried, allowed, names, run.card.colour)
    return chart_cell(Head(sentence, "frozen", run.card.colour), drawn, alt, height=520)


def what_it_reads(run: Run, result: Folded, removed: bool) -> Cell:
    """The norm of the matrix through which the chosen token reads each token."""
    places = [index_in_full(run.trace, at) for at in range(len(run.labels))]
    shares = result.reads / result.reads.sum()
    rows, columns = result.shape
    without = "without φ" if removed else "with φ(z)/z held"
    sentence = (
        f"Residual, attention and FFNs {without} fold into one matrix of {rows:,} × {columns:,}, "
        f"up to {short(result.off)}; {number(percent(float(shares[run.place])))} of it reads "
        f"{quoted(run.labels[run.token])} itself."
    )
    marked = frozenset({run.labels[run.token]})
    return bars_cell(
        Head(sentence, "folded-stack", run.card.colour),
        [Bars("", run.labels, 100 * shares[places], run.card.colour, marked=marked)],
        alt="How much of the folded matrix reads each token.",
        of="share of the norms, %",
        named="token",
    )


STOPS = (-3.0, -2.0, -1.0, -0.5, 0.1, 0.5, 0.9, 1.1, 1.5, 2.0, 3.0, 5.0, 10.0)
SCALE = number_slider("a", USUAL, STOPS, "factor a of f(a x) = a f(x)")
SETTINGS = (SCALE,)


def sheet(run: Run, values: Values) -> Sheet:
    """The bars over the verdicts."""
    factor = values[SCALE] or SCALE.default  # a factor of 0 tests nothing
    linearity = cached_for_block(run, ("linearity",), try_linearity)
    if factor != USUAL:  # additivity stays: a step takes one pass a map instead of five
        known = linearity.additivity
        linearity = cached_for_block(
            run, ("linearity", factor), lambda subject: try_linearity(subject, factor, known)
        )
    verdicts = verdicts_of(run, "lab-linear", linearity.findings)
    return Sheet([row(bars(run, linearity, factor)), row(verdicts)])


def bars(run: Run, linearity: Linearity, factor: float) -> Cell:
    """How far from linear each part is."""
    straight = [each.name for each in linearity.tried if each.check.passed]
    names = f": {', '.join(straight)}" if straight else ""
    sentence = (
        f"{number(f'{len(straight)} of {len(linearity.tried)}')} parts "
        f"{'is linear up to its' if len(straight) == 1 else 'are linear up to their'} bias{names}."
    )
    tests = f"f(x + y) = f(x) + f(y), and f({factor:g} x) = {factor:g} f(x)"
    return chart_cell(
        Head(sentence, "lab-tests", run.card.colour, under=f"The worse of two tests: {tests}."),
        off_linear(
            {each.name: (each.check.value,) for each in linearity.tried},
            max(each.allowed for each in linearity.tried),
            ("off by",),
            run.card.colour,
        ),
        "How far each part is from linear, on a logarithmic scale.",
        key="lab-linear",
        height=400,
    )
