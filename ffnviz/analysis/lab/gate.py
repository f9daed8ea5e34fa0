"""An untrained gated FFN on the typed sentence."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from ffnviz.analysis.lab.experiment import Subject
from ffnviz.models.encoder.feed_forward import GatedFeedForward
from ffnviz.models.random_init import draws_from

SEED = 29
SHARE = 2 / 3  # of the plain d_ff: a third matrix, and as many weights
NEAR = 0.1


@dataclass(frozen=True)
class Gated:
    """The stages of an untrained gated FFN on one token."""

    gate: NDArray[np.float64]  # x W₁ + b₁, before φ, (d_ff,)
    value: NDArray[np.float64]  # x V + c, (d_ff,)
    hidden: NDArray[np.float64]  # φ(gate) · value, (d_ff,)
    closed: float  # share of the hidden values that are exactly zero, from 0 to 1
    near_zero: float  # share of those at most NEAR from zero
    turned: float  # share of those whose sign is not their value's, as φ is below zero there


@torch.no_grad()
def through_gate(subject: Subject, name: str) -> Gated:
    """This block's FFN input at the chosen token, through a gated FFN of d_ff × 2/3 units.

    The weights are PyTorch's own initialisation, the same for every φ (Shazeer 2020, eq. 6).
    """
    config = subject.ours.encoder.config
    d_ff = round(config.d_ff * SHARE)
    with draws_from(torch.Generator().manual_seed(SEED)):
        ffn = GatedFeedForward(config.d_model, d_ff, name, bias=config.bias)
    x = subject.trace.blocks[subject.block].ffn.input[subject.token].cpu().double()
    record = ffn.double()(x[None])
    gate, value, hidden = (
        stage[0].numpy() for stage in (record.pre_activation, record.value, record.hidden)
    )
    return Gated(
        gate, value, hidden,
        closed=float((hidden == 0).mean()),
        near_zero=float((np.abs(hidden) <= NEAR).mean()),
        turned=float((hidden * value < 0).mean()),
    )  # fmt: skip
