"""A network's prediction at a token, with and without an FFN."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.needs import Capability, require
from ffnviz.models.network import Network
from ffnviz.models.trace import ForwardPass


def divergence(logits: Tensor, others: Tensor) -> float:
    """KL(softmax(logits) ‖ softmax(others)) in nats, (vocab_size,) each, in float64; never < 0."""
    log_p, log_q = (each.cpu().double().log_softmax(dim=-1) for each in (logits, others))
    return max(0.0, float((log_p.exp() * (log_p - log_q)).sum()))


NEEDS = (Capability.WORD_HEAD,)


@dataclass(frozen=True)
class Prediction:
    """The likeliest entries of the vocabulary at one token."""

    words: tuple[str, ...]  # how each reads, the likeliest first
    ids: NDArray[np.int64]  # their rows in the vocabulary, (k,)
    probabilities: NDArray[np.float32]  # from the softmax over the whole vocabulary, (k,)


def predict(model: Network, trace: ForwardPass, token: int, k: int = 10) -> Prediction:
    """The k likeliest entries at a token: softmax(x Eᵀ), Vaswani et al. 2017, section 3.4."""
    require(model, NEEDS)
    return likeliest(model, trace.logits_at(token), k)


def predict_without_ffn(
    model: Network, trace: ForwardPass, block: int, token: int, k: int = 10
) -> Prediction:
    """The same with one block's FFN left out for every token: its output taken as zero."""
    zeros = torch.zeros_like(trace.blocks[block].middle)
    return predict_with_ffn_output(model, trace, block, zeros, token, k)


def predict_with_ffn_output(
    model: Network, trace: ForwardPass, block: int, output: Tensor, token: int, k: int = 10
) -> Prediction:
    """The same, had one block's FFN written `output`, (T, d_model); all after it is recomputed."""
    return likeliest(model, logits_with_ffn_output(model, trace, block, output, token), k)


@torch.no_grad()
def logits_with_ffn_output(
    model: Network, trace: ForwardPass, block: int, output: Tensor, token: int
) -> Tensor:
    """The logits at a token, (vocab_size,), had one block's FFN written `output`, (T, d_model)."""
    require(model, NEEDS)
    return model.logits(model.stream_with(trace, block, output)[token])


def likeliest(model: Network, logits: Tensor, k: int) -> Prediction:
    """The k likeliest entries by their logits, (vocab_size,)."""
    best = logits.float().softmax(dim=-1).topk(min(k, len(logits)))  # (vocab_size,) -> (k,)
    ids = best.indices.cpu().numpy()
    words = tuple(map(model.tokenizer.label, ids.tolist()))
    return Prediction(words, ids, best.values.float().cpu().numpy())
