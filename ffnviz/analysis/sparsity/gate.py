"""GELU as the mean of a gate that opens at random: x · Bernoulli(Φ(x)).

Hendrycks & Gimpel 2016, section 2: the more an input stands out, the likelier it is let through.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.needs import Capability, require
from ffnviz.models.network import Network
from ffnviz.models.trace import ForwardPass

NEEDS = (Capability.PLAIN_FFN,)
REACH, POINTS = 3.5, 141
DRAWS = tuple(2**power for power in range(11))
SINGLE = 24  # draws of which each is kept
CHUNK = 128  # draws in memory at a time

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Gate:
    """The gate at evenly spaced inputs."""

    x: Array  # (POINTS,)
    gelu: Array  # x Φ(x), (POINTS,)
    mean: Array  # of the draws, (POINTS,)
    error: Array  # its standard error, √(x² Φ(x) (1 − Φ(x)) / n), (POINTS,)
    single: Array  # the first draws themselves, (k, POINTS)


@dataclass(frozen=True)
class GatedToken:
    """One token's FFN output with random gates, compared with GELU's."""

    draws: NDArray[np.int64]  # the numbers of draws that were averaged, (k,)
    errors: Array  # ‖output − exact‖ / ‖exact‖ for each number, (k,)
    expected: Array  # the root mean square of this error in expectation, (k,)
    outputs: Tensor  # the FFN's output for each number, (k, d_model)
    exact: Tensor  # its output with GELU, (d_model,)
    open: float  # share of the gates open in the first draw


def gate(n_draws: int, seed: int) -> Gate:
    """Draw the gate n_draws times at each of POINTS inputs from −REACH to REACH."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.linspace(-REACH, REACH, POINTS, dtype=torch.float64)
    share = torch.special.ndtr(x)  # Φ(x)
    draws = torch.bernoulli(share.expand(n_draws, -1), generator=generator) * x
    error = (x.square() * share * (1 - share) / n_draws).sqrt()
    return Gate(
        x.numpy(), (x * share).numpy(), draws.mean(dim=0).numpy(), error.numpy(),
        draws[:SINGLE].numpy(),
    )  # fmt: skip


@torch.no_grad()
def gated_token(
    model: Network, trace: ForwardPass, block: int, token: int, seed: int
) -> GatedToken:
    """Average one token's FFN over 1, 2, 4 … 1,024 draws of every neuron's gate.

    The expected error is √(Σ_n z_n² Φ(z_n) (1 − Φ(z_n)) ‖value_n‖² / n) / ‖output‖: the gates are
    independent, and each has the mean of GELU.

    Raises:
        NotForThisNetwork: for a gated FFN.
    """
    require(model, NEEDS)
    ffn = model.ffn(block)
    z = trace.blocks[block].ffn.pre_activation[token].cpu().double()  # (d_ff,)
    values = ffn.values.cpu().double()
    share, generator = torch.special.ndtr(z), torch.Generator().manual_seed(seed)
    means, total, done, first = [], torch.zeros_like(z), 0, 0.0
    for n in DRAWS:
        while done < n:
            more = min(CHUNK, n - done)
            opened = torch.bernoulli(share.expand(more, -1), generator=generator)
            first = float(opened[0].mean()) if done == 0 else first
            total += opened.sum(dim=0)
            done += more
        means.append(total / n * z)
    bias = 0 if ffn.output_bias is None else ffn.output_bias.cpu().double()
    outputs, exact = torch.stack(means) @ values + bias, (share * z) @ values + bias
    length = exact.norm().clamp_min(1e-30)
    one = (z.square() * share * (1 - share) * values.square().sum(dim=-1)).sum().sqrt() / length
    return GatedToken(
        np.array(DRAWS), ((outputs - exact).norm(dim=-1) / length).numpy(),
        float(one) / np.sqrt(DRAWS), outputs.float(), exact.float(), first,
    )  # fmt: skip
