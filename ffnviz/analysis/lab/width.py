"""The prediction as d_ff shrinks, the least important neurons first or at random."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.cost import PRESETS
from ffnviz.analysis.lab.experiment import (
    FFN_NEEDS,
    Check,
    Finding,
    Result,
    Said,
    Subject,
    ffn_in_double,
    within_rounding,
)
from ffnviz.analysis.lab.tolerances import ffn_bound
from ffnviz.analysis.needs import Capability, require
from ffnviz.analysis.number_format import short
from ffnviz.analysis.prediction import Prediction, divergence, likeliest
from ffnviz.models.edit import Edit

WIDTH_NEEDS = (*FFN_NEEDS, Capability.WORD_HEAD)
SEED = 17
WORDS = 8  # of a prediction
T5_11B = 65_536 / 1_024  # d_ff / d_model of the widest T5: Raffel et al. 2020, section 3.7
SHARES = (1.0, 0.75, 0.5, 0.35, 0.25, 0.15, 0.1, 0.07, 0.05, 0.03, 0.02, 0.01)


@dataclass(frozen=True)
class Cut:
    """The network with only some neurons left in every block."""

    d_ff: int  # neurons left in each block
    divergence: float  # KL(uncut ‖ cut) at the chosen token, in nats
    prediction: Prediction  # the likeliest words


@dataclass(frozen=True)
class Width(Result):
    """Cuts in order of importance and at random."""

    important: tuple[Cut, ...]  # one a width, the widest first
    random: tuple[Cut, ...]  # likewise
    parameters: NDArray[np.int64]  # of one FFN at each width
    multiply_adds: NDArray[np.int64]  # of one FFN for one token at each width
    order: NDArray[np.int64]  # neurons of each block, the most important first, (n_blocks, d_ff)


@torch.no_grad()
def try_width(subject: Subject, shares: Sequence[float] = SHARES) -> Width:
    """Keep the neurons of every block that write most: Σ over the tokens of |hidden| · ‖value‖.

    The rest is set to zero, which is the same as removing its columns of W₁ and rows of W₂: the
    first finding tests that.
    """
    require(subject.model, WIDTH_NEEDS)
    config, biased = subject.model.sizes, subject.ffn.expand.bias is not None
    order = importance(subject)
    generator = torch.Generator().manual_seed(SEED)
    shuffled = torch.stack([torch.randperm(config.d_ff, generator=generator) for _ in order])
    widths = [max(1, round(share * config.d_ff)) for share in shares]
    important = tuple(_cut(subject, order, n) for n in widths)
    random = tuple(_cut(subject, shuffled, n) for n in widths)
    d = config.d_model
    n = np.array(widths, dtype=np.int64)
    findings = (_removal(subject, order[subject.block]), _magnitudes(config.d_ff / d))
    products, biases = 2 * n * d, biased * (n + d)
    return Width(important, random, products + biases, products, order.numpy(), findings=findings)


def importance(subject: Subject) -> Tensor:
    """Each block's neurons, those that write most over the sentence first, (n_blocks, d_ff)."""
    orders = []
    for number, record in enumerate(subject.trace.blocks):
        values = subject.model.ffn(number).values
        written = record.ffn.hidden.abs().sum(dim=0) * values.norm(dim=-1)
        orders.append(written.cpu().argsort(descending=True, stable=True))
    return torch.stack(orders)


def _cut(subject: Subject, order: Tensor, n: int) -> Cut:
    edits = [Edit(block, row[n:].tolist(), scale=0.0) for block, row in enumerate(order)]
    logits = subject.model.run(subject.whole.ids, edits).logits_at(subject.place)
    plain = subject.trace.logits_at(subject.token)
    return Cut(n, divergence(plain, logits), likeliest(subject.model, logits, WORDS))


def _removal(subject: Subject, order: Tensor) -> Finding:
    """An FFN with some neurons set to zero against one without these."""
    ffn, x = subject.ffn, subject.ffn_input
    kept, rest = order[: len(order) // 2].sort().values, order[len(order) // 2 :].tolist()
    view = subject.model.ffn(subject.block)
    bias = None if view.key_bias is None else view.key_bias[kept]
    half = replace(view, keys=view.keys[kept], key_bias=bias, values=view.values[kept])
    narrow = ffn_in_double(half)
    zeroed = ffn(x, [Edit(subject.block, rest, scale=0.0)]).output
    difference = (narrow(x).output - zeroed).abs()
    return Finding(
        "A neuron set to zero is a neuron removed.",
        "equal outputs, up to rounding",
        f"an FFN of {len(kept):,} neurons and one of {len(order):,} with the others at zero differ "
        f"by {short(float(difference.max()))}",
        within_rounding(difference, ffn_bound(ffn, x)),
    ).by_construction("zero times a row of W₂ adds nothing")


def _magnitudes(ratio: float) -> Finding:
    """How many times wider the hidden layer is than the stream, here and in published networks."""
    ratios = [preset.shape.d_ff / preset.shape.d_model for preset in PRESETS.values()]
    usual = [ratio, *ratios]

    def within(values: Sequence[float], least: float, most: float, words: tuple[str, str]) -> Check:
        outside = sum(not least <= value <= most for value in values)
        return Check(outside, "≤", 0.0, "networks", words=words)

    return Finding(
        "d_ff is two to eight magnitudes larger than d_model.",
        "100 to 100,000,000 times",
        f"{short(ratio)} times here, {short(min(ratios))} to {short(max(ratios))} times in the "
        f"{len(ratios)} networks of “Cost”, {T5_11B:g} times in T5-11B",
        within((*usual, T5_11B), 1e2, 1e8, ("100 times or more", "not 100 times")),
        f"“magnitudes” means “times”, and T5-11B with its {T5_11B:g} times is left out",
        within(usual, 2, 8, ("two to eight times", "not two to eight times")),
        said=Said.PEOPLE,
    )
