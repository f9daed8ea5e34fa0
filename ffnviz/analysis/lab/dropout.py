"""Dropout: outputs over repeated passes, and their mean against the pass without."""

import math
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.lab.experiment import Check, Finding, Subject

P = 0.1
SEED = 19
MOST_PASSES, FEWEST_PASSES, ROWS = 400, 50, 6_400
FALSE_ALARM = 1e-3


@dataclass(frozen=True)
class Dropout:
    """Repeated passes with dropout on one block's hidden layer.

    Attributes:
        n: passes.
        components: the FFN output's components shown, those that vary most, (k,).
        outputs: their values at the chosen token, pass by pass, (n, k).
        plain: their values without dropout, (k,).
        running: ‖mean of the first m passes − plain‖ / ‖plain‖ over all components, (n,).
        word: the likeliest entry without dropout.
        probabilities: its probability, pass by pass, (n,).
        probability: without dropout.
        findings: the verdicts.
    """

    n: int
    components: NDArray[np.int64]
    outputs: NDArray[np.float64]
    plain: NDArray[np.float64]
    running: NDArray[np.float64]
    word: int
    probabilities: NDArray[np.float64]
    probability: float
    findings: tuple[Finding, ...]


@torch.inference_mode()
def try_dropout(subject: Subject, p: float = P, seed: int = SEED, shown: int = 6) -> Dropout:
    """Drop each hidden value with probability p and divide the others by 1 − p, again and again.

    Srivastava et al. 2014; the division while training is "inverted dropout".

    Raises:
        ValueError: unless 0 ≤ p < 1.
    """
    if not 0 <= p < 1:
        raise ValueError(f"p = {p} is not allowed: it must be from 0 up to but not including 1.")
    model, trace, token = subject.model, subject.trace, subject.token
    encoder, record = model.encoder, trace.blocks[subject.block]
    block = encoder.blocks[subject.block]
    # After the last block no token hears another: the chosen one is enough.
    last = subject.block == len(trace.blocks) - 1
    rows, place = (slice(token, token + 1), 0) if last else (slice(None), token)
    hidden, middle = record.ffn.hidden[rows], record.middle[rows]
    n = min(MOST_PASSES, max(FEWEST_PASSES, ROWS // len(hidden)))
    generator = torch.Generator().manual_seed(seed)
    outputs = torch.stack(
        [block.ffn.compress(_dropped(hidden, p, generator)) for _ in range(n)]
    )  # (n, rows, d_model)
    stream = block.add_ffn(middle.expand(n, -1, -1), outputs)
    _, final = encoder.run_blocks(stream, first=subject.block + 1)
    probabilities = encoder.unembed(final[:, place]).cpu().double().softmax(dim=-1)
    # Of many rows at once, as the passes' are: one row alone is rounded in another way.
    plain_probabilities = trace.logits[token].cpu().double().softmax(dim=-1)
    word = int(plain_probabilities.argmax())
    at_token, plain = outputs[:, place].cpu().double(), record.ffn.output[token].cpu().double()
    means = at_token.cumsum(dim=0) / torch.arange(1, n + 1)[:, None]
    vary = at_token.std(dim=0).topk(min(shown, len(plain))).indices
    findings = (
        _unbiased(at_token, plain),
        _prediction(probabilities[:, word], float(plain_probabilities[word]), n),
    )
    return Dropout(
        n, vary.numpy(), at_token[:, vary].numpy(), plain[vary].numpy(),
        ((means - plain).norm(dim=-1) / plain.norm()).numpy(), word,
        probabilities[:, word].numpy(), float(plain_probabilities[word]), findings,
    )  # fmt: skip


def _dropped(hidden: Tensor, p: float, generator: torch.Generator) -> Tensor:
    """Each value with probability 1 − p, divided by it; F.dropout takes no generator of its own."""
    kept = torch.rand(hidden.shape, generator=generator) >= p
    return hidden * kept.to(hidden.device) / (1 - p)


def _limit(comparisons: int) -> float:
    """How many standard errors chance may put between, over so many comparisons (Bonferroni)."""
    tail = torch.tensor(1 - FALSE_ALARM / (2 * comparisons), dtype=torch.float64)
    return float(torch.special.ndtri(tail))


def _unbiased(outputs: Tensor, plain: Tensor) -> Finding:
    n, components = outputs.shape
    error = outputs.std(dim=0) / math.sqrt(n)
    # Rounding has its share where dropout has none, as with p = 0.
    error = error + torch.finfo(torch.float32).eps * outputs.abs().max()
    off = float(((outputs.mean(dim=0) - plain).abs() / error).max())
    share = float((outputs.mean(dim=0) - plain).norm() / plain.norm())
    one = float((outputs[0] - plain).norm() / plain.norm())
    return Finding(
        "On average, dropout leaves the FFN's output as it is.",
        "a mean within what chance allows, in standard errors",
        f"one pass is off by {one:.0%} of the output's length, the mean of {n} by {share:.1%}; the "
        f"worst component by {off:.1f} standard errors",
        Check(off, "≤", _limit(components), "standard errors"),
    )


def _prediction(probabilities: Tensor, plain: float, n: int) -> Finding:
    error = float(probabilities.std()) / math.sqrt(n) + float(torch.finfo(torch.float32).eps)
    mean = float(probabilities.mean())
    return Finding(
        "So, on average, it leaves the prediction as it is.",
        "not for sure: the softmax of a mean is not the mean of the softmaxes",
        f"the likeliest word has {plain:.2%} without dropout and {mean:.2%} on average: "
        f"{abs(mean - plain) / error:.1f} standard errors apart",
        Check(abs(mean - plain) / error, "≤", _limit(1), "standard errors"),
    )
