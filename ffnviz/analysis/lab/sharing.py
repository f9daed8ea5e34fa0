"""Parameter sharing: equal weights at every position, other weights in every block."""

from dataclasses import dataclass

import torch
from torch import Tensor

from ffnviz.analysis.lab.claims import with_claims
from ffnviz.analysis.lab.experiment import BOUND, Check, Finding, Result, Said, Subject
from ffnviz.analysis.lab.rounding import ffn_bound
from ffnviz.analysis.number_format import short
from ffnviz.models.encoder.feed_forward import FeedForward
from ffnviz.models.token_slice import words_among
from ffnviz.models.views import FfnView

SEED = 29


@dataclass(frozen=True)
class Sharing(Result):
    """What is shared and what is not."""

    places: tuple[int, ...]  # the tokens at which the chosen word stands
    alone: bool  # whether, standing once, it is compared with a sentence of nothing but that word
    # inputs, outputs: the relative distance of each further place from the first
    inputs: tuple[float, ...]
    outputs: tuple[float, ...]
    matrices: tuple[str, ...]  # "W₁", "b₁", … without missing biases
    blocks: tuple[float, ...]  # the relative distance of each between the two blocks compared
    cosines: tuple[float, ...]  # likewise
    other: int | None  # the block compared with; None if there is only one


@with_claims
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
            "other outputs for equal inputs at other positions",
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
            f"outputs differ by up to {max(moved):.0%} of their norm, inputs by {max(inputs):.0%}"
            + (" (against the word alone)" if alone else f" (over {len(places)} places)"),
            Check(max(moved), "≤", allowed, "of its norm"),
            said=Said.PEOPLE,
        ),
        Finding(
            "Each block has its own FFN: layers do not share weights.",
            "other weights in each block",
            "there is one block only" if other is None else
            f"W₁ of blocks {subject.block + 1} and {other + 1} differ by {blocks[0]:.0%} of its "
            f"norm, cosine {cosines[0]:.2f}",
            Check(closest, ">", 0.0),
            untestable="there is one block only" if other is None else "",
        ).by_construction("each block is made with weights of its own"),
    )  # fmt: skip
    return Sharing(places, alone, inputs, moved, matrices, blocks, cosines, other,
                   findings=findings)  # fmt: skip


def _moved_by_others(ffn: FeedForward, x: Tensor) -> float:
    """How far x's output moves when the other tokens change: 0 if none of them enters it.

    Both passes have the same shape, so that sums are added up in the same order.
    """
    generator = torch.Generator().manual_seed(SEED)
    outputs = []
    for _ in range(2):
        others = torch.randn(2, len(x), generator=generator, dtype=x.dtype)
        rows = torch.stack([others[0], x, others[1]])
        outputs.append(ffn(rows).output[1])
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
    # Only the tokenizer's special tokens stay around it. If the word is alone already, it is read
    # twice.
    whole = subject.whole.tokens
    words = words_among(whole)
    word = [chosen.id] * (2 if len(words) == 1 else 1)
    ids = [
        *(token.id for token in whole[: words.start]), *word,
        *(token.id for token in whole[words.stop :]),
    ]  # fmt: skip
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
