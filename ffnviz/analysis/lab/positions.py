"""Position-wise: whether tokens change each other, shared weights, the FFN as a convolution."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.lab.experiment import (
    BOUND,
    Check,
    Finding,
    Result,
    Said,
    Subject,
    within_rounding,
)
from ffnviz.analysis.lab.tolerances import ffn_bound, product_bound
from ffnviz.analysis.number_format import short
from ffnviz.analysis.timing.growth import convolution_of
from ffnviz.models.encoder.attention import SelfAttention
from ffnviz.models.encoder.feed_forward import FeedForward
from ffnviz.models.token_slice import words_among
from ffnviz.models.views import FfnView

SHARING_SEED = 29


@dataclass(frozen=True)
class Sharing(Result):
    """What is shared and what is not."""

    places: tuple[int, ...]  # the tokens at which the chosen word stands
    alone: bool  # whether, standing once, it is compared with a sentence of nothing but that word
    inputs: tuple[float, ...]  # the relative distance of each further place from the first
    outputs: tuple[float, ...]  # likewise
    matrices: tuple[str, ...]  # "W₁", "b₁", … without missing biases
    blocks: tuple[float, ...]  # the relative distance of each between the two blocks compared
    cosines: tuple[float, ...]  # likewise
    other: int | None  # the block compared with; None if there is only one


@torch.no_grad()
def try_sharing(subject: Subject) -> Sharing:
    """Equal inputs at all positions; one word in two contexts; the weights of two blocks.

    Vaswani et al. 2017, section 3.3: "the linear transformations are the same across different
    positions, they use different parameters from layer to layer".
    """
    ffn, x = subject.ffn, subject.ffn_input
    token = min(subject.token, len(x) - 1)
    copies = x[token].expand(max(2, len(x)), -1)
    outputs = ffn(copies).output
    places, alone, contexts = _contexts(subject)
    bounds = ffn_bound(ffn, torch.cat([copies[:1], contexts]))
    apart = float(((outputs - outputs[0]).abs() / bounds[0]).max())
    spread = float((outputs - outputs[0]).abs().max())
    crosstalk = _moved_by_others(ffn, x[token])
    results = ffn(contexts).output
    allowed = float(bounds[1:].norm(dim=-1).max() / results[0].norm())
    inputs, moved = _distances(contexts), _distances(results)
    other = next((b for b in range(len(subject.trace.blocks)) if b != subject.block), None)
    matrices, blocks, cosines = subject.per_network(
        f"weights of blocks {subject.block} and {other}", lambda: _compared(subject, other)
    )
    # Biases may all be zero without being shared.
    distances = zip(matrices, blocks, strict=False)
    closest = min((each for name, each in distances if name in ("W₁", "W₂")), default=0.0)
    findings = (
        Finding(
            "Equal inputs at different positions give equal FFN outputs.",
            "0, or what rounding allows",
            f"largest difference over {len(copies)} positions: {short(spread)}",
            Check(apart, "≤", 1.0, BOUND),
        ).by_construction("equal rows go through the same two matrices"),
        Finding(
            "The FFN is not shared across tokens.",
            "different outputs for equal inputs at different positions",
            f"equal inputs at {len(copies)} positions give "
            + (f"outputs up to {short(spread)} apart" if spread else "one and the same output")
            + f"; with other tokens beside it, a token's output moves by {short(crosstalk)}",
            Check(apart, ">", 1.0, BOUND),
            "“not shared” means that no token's values enter another's pass",
            Check(crosstalk, "≤", 0.0),
            said=Said.PEOPLE,
        ),
        Finding(
            "A word gets the same FFN output wherever it stands.",
            "the same output, up to rounding",
            f"outputs differ by up to {max(moved):.0%} of their length, inputs by {max(inputs):.0%}"
            + (" (against the word alone)" if alone else f" (over {len(places)} places)"),
            Check(max(moved), "≤", allowed, "of its length"),
            said=Said.PEOPLE,
        ),
        Finding(
            "Each block has its own FFN: blocks do not share weights.",
            "different weights in each block",
            "there is one block only"
            if other is None
            else f"W₁ of block {subject.block + 1} and W₁ of block {other + 1} differ by "
            f"{blocks[0]:.0%} of the norm, cosine {cosines[0]:.2f}",
            Check(closest, ">", 0.0),
            untestable="there is one block only" if other is None else "",
        ).by_construction("each block is made with weights of its own"),
    )
    return Sharing(
        places, alone, inputs, moved, matrices, blocks, cosines, other, findings=findings
    )


def _moved_by_others(ffn: FeedForward, x: Tensor) -> float:
    """How far x's output moves when the other tokens change: 0 if none of them enters it.

    Both passes have the same shape, so that sums are added up in the same order.
    """
    generator = torch.Generator().manual_seed(SHARING_SEED)
    outputs = []
    for _ in range(2):
        others = torch.randn(2, len(x), generator=generator, dtype=x.dtype)
        outputs.append(ffn(torch.stack([others[0], x, others[1]])).output[1])
    return float((outputs[1] - outputs[0]).abs().max())


def _contexts(subject: Subject) -> tuple[tuple[int, ...], bool, Tensor]:
    """The places of the chosen word, whether it stands once, and two or more FFN inputs of it."""
    trace, block = subject.trace, subject.block
    chosen = trace.tokens[subject.token]
    places = [i for i, token in enumerate(trace.tokens) if token.id == chosen.id]
    places.sort(key=lambda place: place != subject.token)
    inputs = trace.blocks[block].ffn.input[places].cpu().double()
    if len(places) > 1:
        return tuple(places), False, inputs
    # Only the special tokens stay around it. If the word is alone already, it is read twice.
    whole = subject.whole.tokens
    words = words_among(whole)
    word = [chosen.id] * (2 if len(words) == 1 else 1)
    before, after = whole[: words.start], whole[words.stop :]
    ids = [*(token.id for token in before), *word, *(token.id for token in after)]
    run = subject.model.run(torch.tensor(ids, device=subject.model.device))
    second = run.blocks[block].ffn.input[words.start + len(word) - 1].cpu().double()
    return tuple(places), True, torch.stack([inputs[0], second])


def _distances(rows: Tensor) -> tuple[float, ...]:
    first = rows[0]
    return tuple(float((row - first).norm() / first.norm()) for row in rows[1:])


def _compared(
    subject: Subject, other: int | None
) -> tuple[tuple[str, ...], tuple[float, ...], tuple[float, ...]]:
    """The names of a block's weights, and their distances and cosines to another block's."""
    here = _weights(subject.model.ffn(subject.block))
    if other is None:
        return tuple(here), (), ()
    there = _weights(subject.model.ffn(other))
    distances, cosines = [], []
    for name, first in here.items():
        a, b = first.cpu().double().flatten(), there[name].cpu().double().flatten()
        distances.append(float((a - b).norm() / a.norm().clamp_min(1e-300)))
        cosines.append(float(torch.cosine_similarity(a, b, dim=0)))
    return tuple(here), tuple(distances), tuple(cosines)


def _weights(view: FfnView) -> dict[str, Tensor]:
    named = {"W₁": view.keys, "b₁": view.key_bias, "W₂": view.values, "b₂": view.output_bias}
    return {name: weight for name, weight in named.items() if weight is not None}


WAYS = ("change", "delete", "shuffle")
SEED = 7
CLAIMS = {  # of the FFN, of attention
    "change": (
        "FFN: changing one token's input changes no other token's output.",
        "Attention: changing one token's input changes other tokens' outputs.",
    ),
    "delete": (
        "FFN: deleting a token changes no other token's output.",
        "Attention: deleting a token changes other tokens' outputs.",
    ),
    "shuffle": (
        "FFN: when tokens are shuffled, each keeps its output.",
        "Attention: when tokens are shuffled, each keeps its output too.",
    ),
}

Layer = FeedForward | SelfAttention


@dataclass(frozen=True)
class Positions(Result):
    """How far the outputs moved, as shares of their norm; 0 is exactly as before."""

    # ffn, attention: for "change" and "delete" (T, T): a row is the changed token, a column the
    # token of the output; NaN where that was deleted. For "shuffle" (1, T): each token's output
    # against its own before the shuffle. Attention is None for a network that is not ours
    ffn: NDArray[np.float64]
    attention: NDArray[np.float64] | None


@torch.no_grad()
def try_positions(subject: Subject, way: str = WAYS[0]) -> Positions:
    """Change, delete or shuffle the tokens at the FFN's input, and at the attention's.

    "Separately and identically" (Vaswani et al. 2017, section 3.3). A changed token gets a random
    vector of its own length. Outputs of the same shape are compared exactly; where rows are deleted
    or moved, a matrix product may be summed in another order, and rounding is allowed for.
    """
    if way not in WAYS:
        raise ValueError(f"{way} is none of {', '.join(WAYS)}.")
    ffn, x = subject.ffn, subject.ffn_input
    at_ffn = _moved(ffn, x, way)
    allowed = 0.0
    if way != "change":
        size = ffn(x).output.norm(dim=-1).clamp_min(1e-300)
        allowed = float((ffn_bound(ffn, x).norm(dim=-1) / size).max())
    alone = "there is one token only" if len(x) < 2 else ""
    kept = Finding(
        CLAIMS[way][0],
        "0, or what rounding allows" if way != "change" else "exactly 0",
        f"largest change: {short(_off(at_ffn))} of an output's length",
        Check(_off(at_ffn), "≤", allowed),
        untestable=alone,
    ).by_construction("each row of x goes through W₁, φ and W₂ by itself")
    if not subject.model.card.ours:
        return Positions(at_ffn.numpy(), None, findings=(kept,))
    attention, y = subject.plain.attention, subject.attention_input
    at_attention = _moved(attention, y, way)
    relation = "≤" if way == "shuffle" else ">"
    mixed = Finding(
        CLAIMS[way][1],
        "changes that rounding cannot explain"
        if way != "shuffle"
        else "no change: attention ignores order; positions are added to the embedding",
        f"largest change: {short(_off(at_attention))} of an output's length",
        Check(_off(at_attention), relation, _attention_rounding(attention, y)),
        untestable=alone,
    ).cited("Vaswani et al. 2017, section 3.2")
    return Positions(at_ffn.numpy(), at_attention.numpy(), findings=(kept, mixed))


def _moved(layer: Layer, x: Tensor, way: str) -> Tensor:
    before: Tensor = layer(x).output
    n = len(x)
    generator = torch.Generator().manual_seed(SEED)
    if way == "shuffle":
        order = torch.randperm(n, generator=generator)
        moved: Tensor = layer(x[order]).output
        return _change(moved, before[order])[torch.argsort(order)][None]
    rows = []
    for token in range(n):
        if way == "change":
            vector = torch.randn(x.shape[-1], generator=generator, dtype=x.dtype)
            changed = x.clone()
            changed[token] = vector * (x[token].norm() / vector.norm())
            rows.append(_change(layer(changed).output, before))
            continue
        stay = torch.arange(n) != token
        row = torch.full((n,), torch.nan, dtype=x.dtype)
        row[stay] = _change(layer(x[stay]).output, before[stay]) if n > 1 else torch.nan
        rows.append(row)
    return torch.stack(rows)


def _change(after: Tensor, before: Tensor) -> Tensor:
    share: Tensor = (after - before).norm(dim=-1) / before.norm(dim=-1).clamp_min(1e-300)
    return share


def _off(moved: Tensor) -> float:
    """The largest change of another token's output; of any, if all tokens were moved."""
    if len(moved) > 1:
        moved = moved[~torch.eye(len(moved), dtype=torch.bool)]
    return float(moved[~moved.isnan()].max()) if (~moved.isnan()).any() else 0.0


def _attention_rounding(attention: SelfAttention, x: Tensor) -> float:
    # The products of scores, weights and mixing, and a softmax whose derivative is at most 1/2;
    # twice, for two computations.
    project = attention.project_in.weight
    scores = product_bound([x, project.mT, project, x.mT])
    mixed = product_bound([x, project.mT, attention.project_out.weight.mT])
    output = attention(x).output
    largest = float(output.norm(dim=-1).min().clamp_min(1e-300))
    return 2 * (mixed * (1 + len(x)) + scores * float(output.norm())) / largest


@dataclass(frozen=True)
class AsConvolution(Result):
    """The same weights as Linear and as Conv1d."""

    difference: NDArray[np.float64]  # of the outputs, in float64, (T, d_model)
    allowed: NDArray[np.float64]  # its bound by rounding, (T, d_model)
    size: float  # the largest |output|
    shapes: tuple[tuple[int, ...], ...]  # of the input, the hidden values and the output
    refused: str  # PyTorch's error without the transposes


@torch.no_grad()
def try_convolution(subject: Subject) -> AsConvolution:
    """Linear on (B, L, d) against Conv1d(kernel 1) on (B, d, L) (Vaswani et al. 2017, 3.3)."""
    ffn, x = subject.ffn, subject.ffn_input
    first, second = convolution_of(ffn.expand), convolution_of(ffn.compress)
    turned = x[None].mT  # (B, L, d_model) -> (B, d_model, L)
    hidden = ffn.activation.function(first(turned))  # (B, d_ff, L)
    output = second(hidden)  # (B, d_model, L)
    linear = ffn(x).output
    difference = (output.mT[0] - linear).abs()
    allowed = ffn_bound(ffn, x)
    largest = float(linear.abs().max())
    refused = ""
    try:
        first(x[None])
    except RuntimeError as error:
        refused = str(error).split("Given ")[-1].splitlines()[0][:160]
    findings = (
        Finding(
            "The FFN is two convolutions with kernel 1.",
            "equal outputs, up to rounding",
            f"largest difference {short(float(difference.max()))}, where rounding may cause "
            f"{short(float(allowed.max()))} and outputs reach {short(largest)}",
            within_rounding(difference, allowed),
        ).by_construction("a kernel of width 1 is W₁ at each position"),
    )
    shapes = tuple(tuple(stage.shape) for stage in (turned, hidden, output))
    return AsConvolution(
        difference.numpy(), allowed.numpy(), largest, shapes, refused, findings=findings
    )
