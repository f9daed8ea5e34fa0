"""Why expand: in how many directions a sentence's values vary, before φ and after."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.model.encoder import EncoderTrace
from ffnviz.model.model import Model

STAGES = ("input", "before φ", "after φ", "output")


@dataclass(frozen=True)
class Spectrum:
    """The singular values of T vectors.

    Attributes:
        singular_values: falling, (min(T, d),).
        effective_rank: exp of the entropy of the singular values as shares of their sum,
            from 1 to min(T, d): Roy & Vetterli 2007, eq. 3.
    """

    singular_values: NDArray[np.float64]
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


def spectra(trace: EncoderTrace, block: int) -> dict[str, Spectrum]:
    """The spectra of a block's FFN at each of STAGES."""
    ffn = trace.blocks[block].ffn
    stages = (ffn.input, ffn.pre_activation, ffn.hidden, ffn.output)
    return {name: spectrum(values) for name, values in zip(STAGES, stages, strict=True)}


@dataclass(frozen=True)
class OutOfReach:
    """How much of the hidden layer no linear layer could have made from this input.

    Attributes:
        before: share of the pre-activations' squared length outside the reach of W1 and b1.
        after: the same for the hidden values.
    """

    before: float
    after: float


@torch.inference_mode()
def out_of_reach(model: Model, trace: EncoderTrace, block: int) -> OutOfReach:
    """What lies outside the d_model + 1 directions, out of d_ff, that x W1 + b1 can reach.

    Without φ everything stays inside them, so expanding alone adds nothing; what is outside, φ
    put there. From 0 to 1, over all tokens of the sentence.
    """
    expand = model.encoder.blocks[block].ffn.expand
    reach = torch.cat([expand.weight, expand.bias[:, None]], dim=1).cpu()  # (d_ff, d_model + 1)
    # The length inside the span of A is ‖L⁻¹ Aᵀ v‖ with L Lᵀ = AᵀA: no large basis is needed. The
    # small ridge lets directions depend on each other, as a bias of zero does.
    gram = (reach.T @ reach).double()
    ridge = 1e-9 * gram.diagonal().mean() * torch.eye(len(gram), dtype=gram.dtype)
    factor = torch.linalg.cholesky(gram + ridge)

    def outside(values: Tensor) -> float:
        values = values.cpu()
        along = (values @ reach).double().T  # (d_model + 1, T)
        inside = torch.linalg.solve_triangular(factor, along, upper=False).square().sum()
        whole = values.double().square().sum()
        return float((1 - inside / whole).clamp(0, 1)) if whole > 0 else 0.0

    ffn = trace.blocks[block].ffn
    return OutOfReach(outside(ffn.pre_activation), outside(ffn.hidden))
