"""Why expand: the number of directions in which a sentence's values vary, before φ and after."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.needs import Capability
from ffnviz.models.network import Network
from ffnviz.models.trace import ForwardPass

NEEDS: tuple[Capability, ...] = ()
STAGES = ("input", "before φ", "after φ", "output")


@dataclass(frozen=True)
class Spectrum:
    """The singular values of T vectors."""

    singular_values: NDArray[np.float64]  # falling, (min(T, d),)
    # exp of the entropy of the singular values as shares of their sum, from 1 to min(T, d): Roy &
    # Vetterli 2007, eq. 3
    effective_rank: float


def spectrum(values: Tensor) -> Spectrum:
    """The spectrum of T vectors, (T, d), as they are: not centred."""
    singular = torch.linalg.svdvals(values.cpu().double())
    total = singular.sum()
    if total == 0:
        return Spectrum(singular.numpy(), 0.0)
    shares = singular / total
    entropy = -torch.special.xlogy(shares, shares).sum()
    return Spectrum(singular.numpy(), float(entropy.exp()))


def spectra(trace: ForwardPass, block: int) -> dict[str, Spectrum]:
    """The spectra of a block's FFN at each of STAGES."""
    ffn = trace.blocks[block].ffn
    stages = (ffn.input, ffn.pre_activation, ffn.hidden, ffn.output)
    return {name: spectrum(values) for name, values in zip(STAGES, stages, strict=True)}


@dataclass(frozen=True)
class Reach:
    """The span that x W1 + b1 can reach, whatever x is."""

    directions: Tensor  # W1's columns and b1, (d_ff, d_model + 1); without a bias (d_ff, d_model)
    factor: Tensor  # L of L Lᵀ = AᵀA with A the directions: lower triangular, float64


@torch.no_grad()
def reach(model: Network, block: int) -> Reach:
    """The span of a block's first layer: slow, but it depends on the weights alone."""
    ffn = model.ffn(block)
    columns = [ffn.keys] if ffn.key_bias is None else [ffn.keys, ffn.key_bias[:, None]]
    directions = torch.cat(columns, dim=1).float().cpu()
    gram = (directions.T @ directions).double()
    # A small ridge, as directions may be linearly dependent: a bias of zero is.
    ridge = 1e-9 * gram.diagonal().mean() * torch.eye(len(gram), dtype=gram.dtype)
    return Reach(directions, torch.linalg.cholesky(gram + ridge))


@torch.no_grad()
def out_of_reach(span: Reach, trace: ForwardPass, block: int) -> tuple[float, float]:
    """The shares of squared length before and after φ outside the span that x W1 + b1 can reach.

    That span has d_model + 1 of d_ff directions, one fewer without a bias. Without φ all values
    stay inside it, so expanding alone adds nothing; φ puts outside what is there.

    The length inside the span of A is ‖L⁻¹ Aᵀ v‖ with L Lᵀ = AᵀA.
    """

    def outside(values: Tensor) -> float:
        values = values.cpu()
        along = (values @ span.directions).double().T  # (d_model + 1, T)
        inside = torch.linalg.solve_triangular(span.factor, along, upper=False).square().sum()
        total = values.double().square().sum()
        return float((1 - inside / total).clamp(0, 1)) if total > 0 else 0.0

    ffn = trace.blocks[block].ffn
    return outside(ffn.pre_activation), outside(ffn.hidden)
