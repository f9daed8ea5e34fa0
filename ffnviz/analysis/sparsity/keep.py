"""How few neurons carry an FFN: their shares of its output, and ablating all others."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.needs import Capability, require
from ffnviz.analysis.neurons.memory import row_norms
from ffnviz.analysis.prediction import Prediction, likeliest
from ffnviz.models.network import Network
from ffnviz.models.trace import ForwardPass

NEEDS = (Capability.WORD_HEAD,)
RANDOM_SEED = 0
WORDS = 10


@dataclass(frozen=True)
class Kept:
    """One block's FFN with all but n neurons of each token set to zero."""

    error: float  # ‖output − full output‖ / ‖full output‖ at the chosen token
    mean_error: float  # the mean of this over all tokens
    prediction: Prediction  # at the chosen token


@dataclass(frozen=True)
class KeptPass:
    """The pass with all but n neurons of each token set to zero in one block's FFN."""

    errors: Tensor  # ‖output − full output‖ / ‖full output‖ of each token, (T,)
    stream: Tensor  # the last, (T, d_model)


def strengths(model: Network, trace: ForwardPass, block: int) -> Tensor:
    """|hidden| · ‖value‖ of every neuron on every token, (T, d_ff).

    A neuron's value is its row of W2; this is the norm of its term in the sum that makes the
    FFN's output (Geva et al. 2021, eq. 2).
    """
    return trace.blocks[block].ffn.hidden.abs() * row_norms(model.ffn(block).values)


@torch.no_grad()
def concentration(model: Network, trace: ForwardPass, block: int) -> NDArray[np.float64]:
    """The share of Σ |hidden| · ‖value‖ that each token's n strongest neurons carry, (d_ff,).

    The entries are for n = 1 … d_ff, and rise to 1.
    """
    ordered = strengths(model, trace, block).sort(dim=-1, descending=True).values  # (T, d_ff)
    by_rank = ordered.sum(dim=0).cpu().double().cumsum(dim=0)
    return (by_rank / by_rank[-1].clamp_min(1e-30)).numpy()


def keep_strongest(model: Network, trace: ForwardPass, block: int, token: int, n: int) -> Kept:
    """Set all but the n strongest neurons of each token to zero.

    Raises:
        ValueError: if n is not from 1 to d_ff.
    """
    return kept_at(model, strongest_pass(model, trace, block, n), token)


def keep_random(model: Network, trace: ForwardPass, block: int, token: int, n: int) -> Kept:
    """Set all but n random neurons of each token to zero: the same ones every time, nested in n.

    Raises:
        ValueError: if n is not from 1 to d_ff.
    """
    return kept_at(model, random_pass(model, trace, block, n), token)


def strongest_pass(model: Network, trace: ForwardPass, block: int, n: int) -> KeptPass:
    """The pass of keep_strongest, for every token."""
    return _pass(model, trace, block, n, strengths(model, trace, block))


def random_pass(model: Network, trace: ForwardPass, block: int, n: int) -> KeptPass:
    """The pass of keep_random, for every token."""
    shape = trace.blocks[block].ffn.hidden.shape
    order = torch.rand(shape, generator=torch.Generator().manual_seed(RANDOM_SEED))
    return _pass(model, trace, block, n, order.to(model.device))


@torch.no_grad()
def kept_at(model: Network, kept: KeptPass, token: int) -> Kept:
    """What such a pass comes to at a token."""
    prediction = likeliest(model, model.logits(kept.stream[token]), WORDS)
    return Kept(float(kept.errors[token]), float(kept.errors.mean()), prediction)


@torch.no_grad()
def _pass(model: Network, trace: ForwardPass, block: int, n: int, ranked_by: Tensor) -> KeptPass:
    require(model, NEEDS)
    record = trace.blocks[block].ffn
    d_ff = record.hidden.shape[-1]
    if not 1 <= n <= d_ff:
        raise ValueError(f"{n} neurons cannot be kept: it must be from 1 to d_ff = {d_ff}.")
    kept = ranked_by.topk(n, dim=-1).indices  # (T, n)
    hidden = torch.zeros_like(record.hidden).scatter(-1, kept, record.hidden.gather(-1, kept))
    output = model.ffn(block).write(hidden)  # (T, d_ff) -> (T, d_model)
    full = record.output
    errors = (output - full).norm(dim=-1) / full.norm(dim=-1).clamp_min(1e-30)
    return KeptPass(errors, model.stream_with(trace, block, output))
