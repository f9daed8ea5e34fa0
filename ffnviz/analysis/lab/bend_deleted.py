"""Without φ an FFN's two matrices are one, and so is any stack of them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.lab.experiment import Check, Finding, Result, Subject
from ffnviz.analysis.lab.tolerances import product_bound
from ffnviz.analysis.number_format import short
from ffnviz.analysis.prediction import Prediction, divergence, likeliest
from ffnviz.analysis.sparsity import with_activation
from ffnviz.models.encoder.encoder import Encoder
from ffnviz.models.encoder.feed_forward import FeedForward

SEED = 23
WORDS = 8  # of a prediction
EXTRA = 32  # inputs beyond the rank that is expected, which would reveal a larger one
INPUTS = 2_048 + EXTRA  # for the rank with φ, which may be as large as d_ff
AS_IT_IS = "as it is"
WITHOUT_PHI = "without φ"
WITHOUT_FFN = "without any FFN"
WITHOUT_ATTENTION = "without any attention"


@dataclass(frozen=True)
class WithoutPhi(Result):
    """The FFN without φ, and the network's predictions then."""

    singular: NDArray[np.float64]  # of the folded matrix, as Folded has them
    rank: int  # likewise
    plain: Prediction  # as it is
    predictions: Mapping[str, Prediction]  # what is taken away from all blocks → the prediction
    divergences: Mapping[str, float]  # likewise KL(as it is ‖ without), in nats


@dataclass(frozen=True)
class Folded:
    """What depends on the weights alone."""

    matrix: Tensor  # W₁W₂, (d_model, d_model), in float64
    bias: Tensor  # b₁W₂ + b₂, (d_model,), likewise
    singular: NDArray[np.float64]  # the matrix' singular values, the largest first, (d_model,)
    rank: int  # how many of these are more than rounding
    n_flat: int  # random inputs without φ
    flat: int  # the rank of their hidden vectors
    n_bent: int  # random inputs with it
    bent: int  # likewise


@dataclass(frozen=True)
class PassesWithout:
    """What a sentence and a block give whichever token is chosen, in float64."""

    difference: float  # ‖W₁W₂ folded − one after the other‖
    allowed: float  # of it, what rounding may cause
    final: Mapping[str, Tensor]  # the last streams, by what is taken away, (T, d_model)
    stacked: float  # ‖all FFNs without φ, one after the other − one matrix‖
    stack_allowed: float  # of it, what rounding may cause


@torch.no_grad()
def fold(ffn: FeedForward) -> Folded:
    """One plain FFN, in float64, without its φ."""
    matrix, bias = _fold(ffn)
    singular = torch.linalg.svdvals(matrix)
    # The usual threshold below which a singular value is rounding (Golub & Van Loan, section 5.4).
    zero = float(singular[0]) * max(matrix.shape) * torch.finfo(singular.dtype).eps
    rank = int((singular > zero).sum())
    # One dimension beyond d_model is the bias'. Without φ a few more inputs suffice to see the rank
    # of the hidden vectors; with φ it takes more than d_ff.
    d_model = ffn.expand.in_features
    n_flat, n_bent = d_model + EXTRA, max(d_model + EXTRA, INPUTS)
    x = torch.randn(n_bent, d_model, generator=torch.Generator().manual_seed(SEED))
    before = ffn.expand(x.double())
    flat, bent = _rank(before[:n_flat]), _rank(ffn.activation.function(before))
    return Folded(matrix, bias, singular.numpy(), rank, n_flat, flat, n_bent, bent)


@torch.no_grad()
def remove_phi(
    subject: Subject, folded: Folded | None = None, passes: PassesWithout | None = None
) -> WithoutPhi:
    """x W₁ W₂ + (b₁ W₂ + b₂) against one step after the other, and the prediction without φ.

    `folded` is the block's and `passes` the sentence's, if they were computed before.
    """
    one = folded or fold(subject.plain.ffn)
    passes = passes or passes_without(subject, one)
    without = _logits(subject, passes)
    plain = without.pop(AS_IT_IS)
    divergences = {name: divergence(plain, logits) for name, logits in without.items()}
    predictions = {name: likeliest(subject.model, each, WORDS) for name, each in without.items()}
    biased = subject.ours.encoder.config.bias
    reach, most = ("d_model + 1" if biased else "d_model"), len(one.bias) + biased
    d_ff = subject.ours.encoder.config.d_ff
    findings = (
        Finding(
            "Without φ, W₁ and W₂ fold into one d_model × d_model matrix.",
            "equal outputs, up to rounding",
            f"outputs differ by {short(passes.difference)}; rounding may cause "
            f"{short(passes.allowed)}",
            Check(passes.difference, "≤", passes.allowed),
        ).by_construction("a product of two matrices is a matrix"),
        Finding(
            f"Without φ the hidden layer has at most {reach} dimensions, however wide it is.",
            f"at most {most}, not {d_ff:,}",
            f"hidden vectors of random inputs: rank {one.flat:,} without φ ({one.n_flat:,} "
            f"inputs), {one.bent:,} with it ({one.n_bent:,} inputs"
            + ("" if one.bent < one.n_bent else ", and so no more could be seen")
            + f"); the folded matrix has rank {one.rank}",
            Check(one.flat, "≤", most),
        ).by_construction("W₁ and b₁ together map d_model numbers and a constant 1"),
        Finding(
            "A stack of linear layers is one linear layer.",
            "equal outputs, up to rounding",
            f"all {len(subject.trace.blocks)} FFNs without φ, one after the other, against one "
            f"matrix: {short(passes.stacked)}; rounding may cause {short(passes.stack_allowed)}",
            Check(passes.stacked, "≤", passes.stack_allowed),
        ).by_construction("a product of matrices is a matrix"),
    )
    as_it_is = likeliest(subject.model, subject.trace.logits_at(subject.token), WORDS)
    return WithoutPhi(one.singular, one.rank, as_it_is, predictions, divergences, findings=findings)


def _fold(ffn: FeedForward) -> tuple[Tensor, Tensor]:
    second = ffn.compress.weight.mT  # (d_ff, d_model)
    bias = second.new_zeros(second.shape[1])
    if ffn.expand.bias is not None:
        bias = ffn.expand.bias @ second + ffn.compress.bias
    return ffn.expand.weight.mT @ second, bias


def _rank(rows: Tensor) -> int:
    """By the eigenvalues of rows·rowsᵀ, each of which rounding moves by at most n·ε of its trace.

    If all are above that, a Cholesky factor shows it in a tenth of the time.
    """
    gram = rows @ rows.mT if len(rows) < rows.shape[1] else rows.mT @ rows
    zero = float(gram.trace()) * max(rows.shape) * torch.finfo(gram.dtype).eps
    gram.diagonal().sub_(zero)
    if int(torch.linalg.cholesky_ex(gram).info) == 0:
        return len(gram)
    return int((torch.linalg.eigvalsh(gram) > 0).sum())


def _stack(encoder: Encoder, x: Tensor) -> tuple[float, float]:
    """How far all FFNs without φ are from one matrix, and how far rounding may put them."""
    stepwise, factors = x, [x]
    folded, bias = torch.eye(x.shape[-1], dtype=x.dtype), x.new_zeros(x.shape[-1])
    for block in encoder.blocks:
        ffn = block.ffn
        stepwise = ffn.compress(ffn.expand(stepwise))
        matrix, added = _fold(ffn)
        folded, bias = folded @ matrix, bias @ matrix + added
        factors += [ffn.expand.weight.mT, ffn.compress.weight.mT]
    return float((stepwise - (x @ folded + bias)).norm()), 2 * product_bound(factors)


@torch.no_grad()
def passes_without(subject: Subject, folded: Folded) -> PassesWithout:
    """The folded matrix, the stack of FFNs without φ, and the passes with each taken away."""
    ffn, x = subject.plain.ffn, subject.ffn_input
    stepwise = ffn.compress(ffn.expand(x))
    difference = float((stepwise - (x @ folded.matrix + folded.bias)).norm())
    allowed = 2 * product_bound([x, ffn.expand.weight.mT, ffn.compress.weight.mT])
    encoder = subject.own
    embedding = encoder.embed(subject.trace.ids.cpu())
    straight = with_activation(replace(subject.ours, encoder=encoder), "identity").encoder
    final = {
        AS_IT_IS: encoder.run_blocks(embedding)[1],
        WITHOUT_PHI: straight.run_blocks(embedding)[1],
        WITHOUT_FFN: _final(encoder, embedding, ffn=False),
        WITHOUT_ATTENTION: _final(encoder, embedding, attention=False),
    }
    return PassesWithout(difference, allowed, final, *_stack(encoder, x))


def _logits(subject: Subject, passes: PassesWithout) -> dict[str, Tensor]:
    """The logits of all passes at the chosen token, (vocab_size,) each, in float64.

    A few rows of the output matrix at a time: copying it whole to float64 would take longest.
    """
    rows = subject.ours.encoder.token_embedding.weight.cpu().chunk(32)
    final = torch.stack([each[subject.token] for each in passes.final.values()], dim=-1)
    logits = torch.cat([each.double() @ final for each in rows])  # (vocab_size, passes)
    return dict(zip(passes.final, logits.mT.contiguous(), strict=True))


def _final(encoder: Encoder, x: Tensor, attention: bool = True, ffn: bool = True) -> Tensor:
    """The final stream of a pass whose attentions or FFNs all write nothing."""
    for block in encoder.blocks:
        middle = block(x).middle if attention else block.add_attention(x, torch.zeros_like(x))
        x = block.add_ffn(middle, block.feed(middle).output if ffn else torch.zeros_like(x))
    final: Tensor = encoder.final_norm(x)
    return final
