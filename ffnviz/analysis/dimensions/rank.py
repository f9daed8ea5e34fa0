"""Why expand: in how many directions a sentence's values vary, before φ and after."""

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
class OutOfReach:
    """How much of the hidden layer no linear layer could have made from this input."""

    before: float  # share of the pre-activations' squared length outside the reach of W1 and b1
    after: float  # the same for the hidden values


@dataclass(frozen=True)
class Reach:
    """What x W1 + b1 can reach, whatever x is."""

    directions: Tensor  # W1's columns and b1, (d_ff, d_model + 1); without a bias (d_ff, d_model)
    factor: Tensor  # L of L Lᵀ = AᵀA for these directions A, lower triangular, in float64


@torch.inference_mode()
def reach(model: Network, block: int) -> Reach:
    """Depends on the weights alone, and takes much longer than what it is for."""
    ffn = model.ffn(block)
    columns = [ffn.keys] if ffn.key_bias is None else [ffn.keys, ffn.key_bias[:, None]]
    directions = torch.cat(columns, dim=1).float().cpu()
    gram = (directions.T @ directions).double()
    # The small ridge lets directions depend on each other, as a bias of zero does.
    ridge = 1e-9 * gram.diagonal().mean() * torch.eye(len(gram), dtype=gram.dtype)
    return Reach(directions, torch.linalg.cholesky(gram + ridge))


@torch.inference_mode()
def out_of_reach(each: Reach, trace: ForwardPass, block: int) -> OutOfReach:
    """What lies outside the d_model + 1 directions, out of d_ff, that x W1 + b1 can reach.

    One fewer without a bias.

    The length inside the span of A is ‖L⁻¹ Aᵀ v‖ with L Lᵀ = AᵀA.

    Without φ everything stays inside them, so expanding alone adds nothing; what is outside, φ
    put there. From 0 to 1, over all tokens of the sentence.
    """

    def outside(values: Tensor) -> float:
        values = values.cpu()
        along = (values @ each.directions).double().T  # (d_model + 1, T)
        inside = torch.linalg.solve_triangular(each.factor, along, upper=False).square().sum()
        whole = values.double().square().sum()
        return float((1 - inside / whole).clamp(0, 1)) if whole > 0 else 0.0

    ffn = trace.blocks[block].ffn
    return OutOfReach(outside(ffn.pre_activation), outside(ffn.hidden))
