"""How few neurons carry an FFN: their shares of its output, and ablating all others."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.needs import Capability, require
from ffnviz.analysis.neurons.memory import row_norms
from ffnviz.analysis.prediction import Prediction, likeliest
from ffnviz.analysis.sparsity.awake import active, threshold_for
from ffnviz.models.network import Network
from ffnviz.models.trace import ForwardPass

NEEDS = (Capability.WORD_HEAD,)
RANDOM_SEED = 0
WORDS = 10


@dataclass(frozen=True)
class Kept:
    """One block's FFN with all but n neurons of each token set to zero."""

    error: float  # ‖output − full output‖ / ‖full output‖ at the chosen token
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


def strongest_pass(model: Network, trace: ForwardPass, block: int, n: int) -> KeptPass:
    """Set all but the n strongest neurons of each token to zero.

    Raises:
        ValueError: if n is not from 1 to d_ff.
    """
    return _pass(model, trace, block, n, strengths(model, trace, block))


def random_pass(model: Network, trace: ForwardPass, block: int, n: int) -> KeptPass:
    """Set all but n random active neurons of each token to zero, the same ones every time.

    Where fewer than n are active, the others follow. A draw from all neurons would mostly draw
    zeros, and say nothing about the strongest.

    Raises:
        ValueError: if n is not from 1 to d_ff.
    """
    hidden = trace.blocks[block].ffn.hidden
    order = torch.rand(hidden.shape, generator=torch.Generator().manual_seed(RANDOM_SEED))
    awake = active(hidden, threshold_for(model.ffn(block).phi))
    return _pass(model, trace, block, n, order.to(model.device) + awake)


@torch.no_grad()
def kept_at(model: Network, kept: KeptPass, token: int) -> Kept:
    """What such a pass comes to at a token."""
    return Kept(
        float(kept.errors[token]), likeliest(model, model.logits(kept.stream[token]), WORDS)
    )


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
