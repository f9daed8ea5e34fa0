"""Position-wise: whether one token's input changes another token's output."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.lab.claims import with_claims
from ffnviz.analysis.lab.experiment import Check, Finding, Result, Subject
from ffnviz.analysis.lab.rounding import ffn_bound, product_bound
from ffnviz.analysis.number_format import short
from ffnviz.models.encoder.attention import SelfAttention
from ffnviz.models.encoder.feed_forward import FeedForward

WAYS = ("change", "delete", "shuffle")
SEED = 7
CLAIMS = {  # of the FFN, of attention
    "change": ("FFN: changing one token's input changes no other token's output.",
               "Attention: changing one token's input changes other tokens' outputs."),
    "delete": ("FFN: deleting a token changes no other token's output.",
               "Attention: deleting a token changes other tokens' outputs."),
    "shuffle": ("FFN: when tokens are shuffled, each keeps its output.",
                "Attention: when tokens are shuffled, each keeps its output too."),
}  # fmt: skip

Layer = FeedForward | SelfAttention


@dataclass(frozen=True)
class Positions(Result):
    """How far the outputs moved, as shares of their norm; 0 is exactly as before."""

    # ffn, attention: for "change" and "delete" (T, T): a row is the changed token, a column the
    # token of the output; NaN where that was deleted. For "shuffle" (1, T): each token's output
    # against its own before the shuffle. Attention is None for a network that is not ours
    ffn: NDArray[np.float64]
    attention: NDArray[np.float64] | None


@with_claims
@torch.no_grad()
def try_positions(subject: Subject, way: str = WAYS[0]) -> Positions:
    """Change, delete or shuffle the tokens at the FFN's input, and at the attention's.

    "Separately and identically" (Vaswani et al. 2017, section 3.3). A changed token gets a random
    vector of its own length. Outputs of the same shape are compared exactly; where rows are deleted
    or moved, a matrix product may be summed in another order, and rounding is allowed for.

    Raises:
        ValueError: for a way that is not in WAYS.
    """
    if way not in WAYS:
        raise ValueError(f"{way} is none of {', '.join(WAYS)}.")
    ffn, x = subject.ffn, subject.ffn_input
    at_ffn = _moved(ffn, x, way)
    allowed = 0.0 if way == "change" else _relative(ffn_bound(ffn, x), ffn(x).output)
    alone = "there is one token only" if len(x) < 2 else ""
    kept = Finding(
        CLAIMS[way][0],
        "0, or what rounding allows" if way != "change" else "exactly 0",
        f"largest change: {short(_off(at_ffn))} of an output's norm",
        Check(_off(at_ffn), "≤", allowed),
        untestable=alone,
    ).by_construction("each row of x goes through W₁, φ and W₂ by itself")
    if not subject.model.card.ours:
        return Positions(at_ffn.numpy(), None, findings=(kept,))
    attention, y = subject.plain.attention, subject.attention_input
    at_attention = _moved(attention, y, way)
    mixed = Finding(
        CLAIMS[way][1],
        "changes that rounding cannot explain" if way != "shuffle"
        else "no change: attention ignores order; positions are added to the embedding",
        f"largest change: {short(_off(at_attention))} of an output's norm",
        Check(_off(at_attention), "≤" if way == "shuffle" else ">",
              _attention_rounding(attention, y)),
        untestable=alone,
    ).cited("Vaswani et al. 2017, section 3.2")  # fmt: skip
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
            rows.append(_change(layer(_with_random(x, token, generator)).output, before))
            continue
        stay = torch.arange(n) != token
        row = torch.full((n,), torch.nan, dtype=x.dtype)
        row[stay] = _change(layer(x[stay]).output, before[stay]) if n > 1 else torch.nan
        rows.append(row)
    return torch.stack(rows)


def _with_random(x: Tensor, token: int, generator: torch.Generator) -> Tensor:
    vector = torch.randn(x.shape[-1], generator=generator, dtype=x.dtype)
    changed = x.clone()
    changed[token] = vector * (x[token].norm() / vector.norm())
    return changed


def _change(after: Tensor, before: Tensor) -> Tensor:
    share: Tensor = (after - before).norm(dim=-1) / before.norm(dim=-1).clamp_min(1e-300)
    return share


def _off(moved: Tensor) -> float:
    """The largest change of another token's output; of any, if all tokens were moved."""
    if len(moved) > 1:
        moved = moved[~torch.eye(len(moved), dtype=torch.bool)]
    return float(moved[~moved.isnan()].max()) if (~moved.isnan()).any() else 0.0


def _relative(bound: Tensor, output: Tensor) -> float:
    return float((bound.norm(dim=-1) / output.norm(dim=-1).clamp_min(1e-300)).max())


def _attention_rounding(attention: SelfAttention, x: Tensor) -> float:
    # The products of scores, weights and mixing, and a softmax whose derivative is at most 1/2;
    # twice, for two computations.
    project = attention.project_in.weight
    scores = product_bound([x, project.mT, project, x.mT])
    mixed = product_bound([x, project.mT, attention.project_out.weight.mT])
    output = attention(x).output
    largest = float(output.norm(dim=-1).min().clamp_min(1e-300))
    return 2 * (mixed * (1 + len(x)) + scores * float(output.norm())) / largest
