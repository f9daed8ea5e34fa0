"""What the network says at a token: the softmax over the vocabulary, with and without an FFN."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.model.encoder import EncoderTrace
from ffnviz.model.model import Model


@dataclass(frozen=True)
class Prediction:
    """The likeliest entries of the vocabulary at one token.

    Attributes:
        words: how each reads, the likeliest first.
        ids: their rows in the vocabulary, (k,).
        probabilities: from the softmax over the whole vocabulary, (k,).
    """

    words: tuple[str, ...]
    ids: NDArray[np.int64]
    probabilities: NDArray[np.float32]


def predict(model: Model, trace: EncoderTrace, token: int, k: int = 10) -> Prediction:
    """The k likeliest entries at a token: softmax(x Eᵀ), Vaswani et al. 2017, section 3.4."""
    return likeliest(model, trace.logits[token], k)


def predict_without_ffn(
    model: Model, trace: EncoderTrace, block: int, token: int, k: int = 10
) -> Prediction:
    """The same with one block's FFN left out for every token: its output taken as zero."""
    nothing = torch.zeros_like(trace.blocks[block].ffn.output)
    return predict_with_ffn_output(model, trace, block, nothing, token, k)


def predict_with_ffn_output(
    model: Model, trace: EncoderTrace, block: int, output: Tensor, token: int, k: int = 10
) -> Prediction:
    """The same, had one block's FFN written `output`, (T, d_model).

    Everything after that FFN is computed anew.
    """
    return likeliest(model, logits_with_ffn_output(model, trace, block, output, token), k)


@torch.inference_mode()
def logits_with_ffn_output(
    model: Model, trace: EncoderTrace, block: int, output: Tensor, token: int
) -> Tensor:
    """The logits at a token, (vocab_size,), had one block's FFN written `output`, (T, d_model)."""
    encoder = model.encoder
    stream = encoder.blocks[block].add_ffn(trace.blocks[block].middle, output)
    _, final = encoder.run_blocks(stream, first=block + 1)
    return encoder.unembed(final[token])


def likeliest(model: Model, logits: Tensor, k: int) -> Prediction:
    """The k likeliest entries by their logits, (vocab_size,)."""
    best = logits.softmax(dim=-1).topk(min(k, len(logits)))  # (vocab_size,) -> (k,)
    ids = best.indices.cpu().numpy()
    words = tuple(model.tokenizer.label(int(i)) for i in ids)
    return Prediction(words, ids, best.values.cpu().numpy())
