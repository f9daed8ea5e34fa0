"""The effect of switching neurons off, and which neurons matter for a word."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.divergence import divergence
from ffnviz.analysis.needs import Capability, require, word_head
from ffnviz.models.network import Network
from ffnviz.models.trace import ForwardPass

NEEDS = (Capability.WORD_HEAD,)
DIRECT_NEEDS = (Capability.WORD_HEAD, Capability.WORD_VECTORS, Capability.PRE_NORM)


@dataclass(frozen=True)
class Change:
    """How far an edited trace is from the plain one, at one token."""

    # ‖edited − plain‖ / ‖plain‖ of each block's FFN output, (n_blocks,)
    output: NDArray[np.float64]
    stream: NDArray[np.float64]  # the same for the residual stream after each block, (n_blocks,)
    divergence: float  # KL(plain ‖ edited) between the softmaxes, in nats


@torch.no_grad()
def change(plain: ForwardPass, edited: ForwardPass, token: int) -> Change:
    """Compare an edited pass over the same tokens with the plain one."""
    pairs = list(zip(plain.blocks, edited.blocks, strict=True))
    return Change(
        np.array([_distance(a.ffn.output[token], b.ffn.output[token]) for a, b in pairs]),
        np.array([_distance(a.output[token], b.output[token]) for a, b in pairs]),
        divergence(plain.logits_at(token), edited.logits_at(token)),
    )


def _distance(plain: Tensor, edited: Tensor) -> float:
    return float((edited - plain).norm() / plain.norm().clamp_min(1e-30))


@torch.no_grad()
def direct_contributions(
    model: Network, trace: ForwardPass, token: int, word: int, block: int | None = None
) -> NDArray[np.float32]:
    """What each neuron directly adds to a word's logit at a token, (n_blocks, d_ff).

    hidden · E_w · (γ ⊙ (value − mean(value))) / σ, with σ of the whole stream held fixed; effects
    through later blocks are not counted (Elhage et al. 2021, "direct path"; Geva et al. 2022,
    eq. 5). With a `block` those of its neurons alone, (1, d_ff).

    Raises:
        NotForThisNetwork: for a post-LN network, or without a plain word head.
    """
    require(model, DIRECT_NEEDS)
    head, words = word_head(model)
    along = words.vectors[word]  # (d_model,)
    if head.norm is not None:
        along = head.norm.undivided_along(along) / head.norm.scale(trace.blocks[-1].output[token])
    added = [
        trace.blocks[number].ffn.hidden[token] * (model.ffn(number).values @ along)
        for number in (range(len(trace.blocks)) if block is None else [block])
    ]
    return torch.stack(added).float().cpu().numpy()
