"""Dropout: the mean output of repeated passes against the pass without."""

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.func import functional_call

from ffnviz.analysis.lab.chance import strays
from ffnviz.analysis.lab.claims import with_claims
from ffnviz.analysis.lab.experiment import Check, Finding, Result, Said, Subject, within_rounding
from ffnviz.analysis.lab.rounding import gamma
from ffnviz.analysis.neurons.memory import row_norms
from ffnviz.analysis.number_format import short
from ffnviz.models.encoder.block import Block

P = 0.1
SEED = 19
MOST_PASSES, FEWEST_PASSES, ROWS = 400, 50, 3_200
AT_ONCE = 4  # passes: the system clears every large array before a program gets it
ENUMERATED = 12  # neurons whose 2¹² masks are all tried


@dataclass(frozen=True)
class Dropout(Result):
    """Repeated passes with dropout on one block's hidden layer."""

    n: int  # passes
    components: NDArray[np.int64]  # those of the FFN's output that vary most, (k,)
    outputs: NDArray[np.float64]  # their values at the chosen token in each pass, (n, k)
    plain: NDArray[np.float64]  # their values without dropout, (k,)
    # ‖mean of the first m passes − plain‖ / ‖plain‖ over all components, (n,)
    running: NDArray[np.float64]
    word: int  # the vocabulary's row that is likeliest without dropout
    probabilities: NDArray[np.float64]  # the word's in each pass, (n,)
    probability: float  # the word's without dropout


@dataclass(frozen=True)
class Passes:
    """Repeated passes at the chosen token."""

    outputs: Tensor  # of the FFN, (n, d_model), in float64
    probabilities: Tensor  # of the word that is likeliest without dropout, (n,), in float64


@with_claims
@torch.no_grad()
def try_dropout(
    subject: Subject,
    p: float = P,
    seed: int = SEED,
    shown: int = 6,
    judged: Passes | None = None,
) -> Dropout:
    """Drop each hidden value with probability p and divide the others by 1 − p, pass after pass.

    Srivastava et al. 2014; the division while training is "inverted dropout". The verdicts do not
    depend on `seed`: the first is exact, the second has passes of its own, always the same: those
    are `judged`, if they were computed before.

    Raises:
        ValueError: unless 0 ≤ p < 1.
    """
    trace, token = subject.trace, subject.token
    judged = judged or passes(subject, p)
    shown_passes = judged if seed == SEED else passes(subject, p, seed)
    outputs, n = shown_passes.outputs, len(shown_passes.outputs)
    word, probability = _likeliest(subject)
    plain = trace.blocks[subject.block].ffn.output[token].cpu().double()
    means = outputs.cumsum(dim=0) / torch.arange(1, n + 1)[:, None]
    running = (means - plain).norm(dim=-1) / plain.norm()
    components = outputs.std(dim=0).topk(min(shown, len(plain))).indices
    findings = (
        _unbiased(subject, p, n, float(running[0]), float(running[-1])),
        _prediction(judged.probabilities, probability, p),
    )
    return Dropout(
        n, components.numpy(), outputs[:, components].numpy(), plain[components].numpy(),
        running.numpy(), word, shown_passes.probabilities.numpy(), probability, findings=findings,
    )  # fmt: skip


def _likeliest(subject: Subject) -> tuple[int, float]:
    # Computed with many rows, like the passes: one row alone is rounded in another way.
    plain = subject.trace.logits[subject.token].cpu().double().softmax(dim=-1)
    word = int(plain.argmax())
    return word, float(plain[word])


@torch.no_grad()
def passes(subject: Subject, p: float, seed: int = SEED) -> Passes:
    """Passes with dropout on the block's hidden values, fewer for a longer sentence.

    Raises:
        ValueError: unless 0 ≤ p < 1.
    """
    if not 0 <= p < 1:
        raise ValueError(f"p = {p} is not allowed: it must be from 0 up to but not including 1.")
    trace, token, encoder = subject.trace, subject.token, subject.ours.encoder
    record, block = trace.blocks[subject.block], encoder.blocks[subject.block]
    # After the last block no token reads another: the chosen one is enough.
    last = subject.block == len(trace.blocks) - 1
    rows, place = (slice(token, token + 1), 0) if last else (slice(None), token)
    hidden, middle = record.ffn.hidden[rows], record.middle[rows]
    n = min(MOST_PASSES, max(FEWEST_PASSES, ROWS // len(hidden)))
    generator = torch.Generator().manual_seed(seed)
    outputs, streams = [], []
    draws = torch.empty(AT_ONCE, *hidden.shape)
    for first in range(0, n, AT_ONCE):
        kept = draws[: n - first].uniform_(generator=generator).ge_(p)
        output = block.ffn.compress(_dropped(hidden, kept.to(hidden), p))
        stream = block.add_ffn(middle.expand(len(kept), -1, -1), output)  # (AT_ONCE, rows, d_model)
        streams.append(_at_token(encoder.blocks[subject.block + 1 :], stream, place))
        outputs.append(output[:, place].cpu().double())
    word, final = _likeliest(subject)[0], encoder.final_norm(torch.cat(streams))
    logits = encoder.unembed(final).cpu().chunk(-(-n // 8))  # (8, vocab_size) each
    probabilities = [few.double().softmax(dim=-1)[:, word] for few in logits]
    return Passes(torch.cat(outputs), torch.cat(probabilities))


def _at_token(blocks: Sequence[Block], stream: Tensor, token: int) -> Tensor:
    """One token's stream after the blocks: the last one's FFN runs on that token alone."""
    if not blocks:
        return stream[:, token]
    *others, last = blocks
    for block in others:
        stream = block(stream).output
    middle = last.add_attention(stream, last.attend(stream).output)[:, token]
    return last.add_ffn(middle, last.feed(middle).output)


def _dropped(hidden: Tensor, kept: Tensor, p: float) -> Tensor:
    """The kept values divided by 1 − p, the others 0, in place of `kept`.

    F.dropout takes no generator.
    """
    return kept.mul_(hidden).div_(1 - p)


def _unbiased(subject: Subject, p: float, n: int, one: float, many: float) -> Finding:
    """The mean output over every mask of the neurons that write most, weighted by probability.

    Values are dropped independently and W₂ is linear, so what holds for these neurons holds for
    all. Exact but for rounding, in float64, without random draws.
    """
    used = subject.ours.encoder.blocks[subject.block].ffn.compress
    # A copy with the same weights, as functional_call sets others for a moment.
    layer = copy.deepcopy(used, {id(each): each for each in used.parameters()})
    hidden = subject.trace.blocks[subject.block].ffn.hidden[subject.token].cpu().double()
    norms = row_norms(layer.weight.mT).cpu()
    chosen = (hidden.abs() * norms).topk(min(ENUMERATED, len(hidden))).indices
    values, weight = hidden[chosen], layer.weight.cpu()[:, chosen].double()
    weights = {"weight": weight}
    if layer.bias is not None:
        weights["bias"] = layer.bias.cpu().double()

    def compress(rows: Tensor) -> Tensor:
        output: Tensor = functional_call(layer, weights, rows)
        return output

    k = len(chosen)
    kept = torch.tensor(list(product((1.0, 0.0), repeat=k)), dtype=hidden.dtype)  # (2ᵏ, k)
    probabilities = (kept * (1 - p) + (1 - kept) * p).prod(dim=-1)
    mean = probabilities @ compress(_dropped(values, kept, p))
    off = (mean - compress(values)).abs()
    # A product with W₂ twice, k factors of a probability, and a term for each mask.
    size = values.abs() @ weight.abs().mT + weights.get("bias", torch.zeros(())).abs()
    allowed = 2 * gamma(2**k + 4 * k, hidden.dtype) * size
    return Finding(
        "On average, dropout leaves the FFN's output unchanged.",
        "the mean over all masks is the output without dropout, up to rounding",
        f"over all {2**k:,} masks of the {k} neurons that write most, W₂'s mean output differs by "
        f"{short(float(off.max()))}; of {n} passes one is off by {one:.0%} of the output's norm, "
        f"their mean by {many:.1%}",
        within_rounding(off, allowed),
    ).by_construction("what is kept is divided by the share that is kept")


def _prediction(probabilities: Tensor, plain: float, p: float) -> Finding:
    """The passes can refute the claim, but seeing no difference proves nothing."""
    n = len(probabilities)
    error = float(probabilities.std()) / math.sqrt(n) + float(torch.finfo(torch.float32).eps)
    mean = float(probabilities.mean())
    return Finding(
        "Then, on average, it leaves the prediction unchanged too.",
        "the same probability, but for chance",
        f"in {n} passes, always the same, the likeliest word has {mean:.2%} on average, and "
        f"{plain:.2%} without dropout: {abs(mean - plain) / error:.1f} standard errors apart",
        Check(abs(mean - plain) / error, "≤", strays(), "standard errors"),
        untestable="" if p else "at p = 0 nothing is dropped",
        unproved=f"{n} passes saw no difference, which proves none",
        said=Said.PEOPLE,
    )
