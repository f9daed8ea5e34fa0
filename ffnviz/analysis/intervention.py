"""What changes when neurons are switched off, and which matter for a word."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.divergence import divergence
from ffnviz.model.encoder import EncoderTrace
from ffnviz.model.model import Model


@dataclass(frozen=True)
class Change:
    """An edited trace against the plain one, at one token.

    Attributes:
        output: ‖edited − plain‖ / ‖plain‖ of each block's FFN output, (n_blocks,).
        stream: the same of the residual stream after each block, (n_blocks,).
        divergence: KL(plain ‖ edited) between the softmaxes, in nats.
    """

    output: NDArray[np.float64]
    stream: NDArray[np.float64]
    divergence: float


@torch.inference_mode()
def change(plain: EncoderTrace, edited: EncoderTrace, token: int) -> Change:
    """How far an edited pass over the same tokens went from the plain one."""
    pairs = list(zip(plain.blocks, edited.blocks, strict=True))
    return Change(
        np.array([_apart(a.ffn.output[token], b.ffn.output[token]) for a, b in pairs]),
        np.array([_apart(a.output[token], b.output[token]) for a, b in pairs]),
        divergence(plain.logits[token], edited.logits[token]),
    )


def _apart(plain: Tensor, edited: Tensor) -> float:
    return float((edited - plain).norm() / plain.norm().clamp_min(1e-30))


@torch.inference_mode()
def direct_contributions(
    model: Model, trace: EncoderTrace, token: int, word: int
) -> NDArray[np.float32]:
    """What each neuron itself adds to a word's logit at a token, (n_blocks, d_ff).

    hidden · E_w · (γ ⊙ (value − mean(value))) / σ, with σ of the whole stream held as it was; what
    later blocks make of it is not counted (Elhage et al. 2021, "direct path"; Geva et al. 2022,
    eq. 5).

    Raises:
        ValueError: for a post-LN encoder, whose stream is normalised along the way.
    """
    encoder = model.encoder
    norm = encoder.final_norm
    if not isinstance(norm, torch.nn.LayerNorm):
        raise ValueError("The parts of a post-LN encoder's stream are not added to each other.")
    stream = trace.blocks[-1].output[token]
    scale = (stream.var(correction=0) + norm.eps).sqrt()
    reads = encoder.token_embedding.weight[word] * norm.weight / scale  # (d_model,)
    along = reads - reads.mean()  # the same as centring what is read
    added = [
        record.ffn.hidden[token] * (along @ block.ffn.compress.weight)
        for record, block in zip(trace.blocks, encoder.blocks, strict=True)
    ]
    return torch.stack(added).cpu().numpy()
