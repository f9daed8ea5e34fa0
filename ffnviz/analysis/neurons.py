"""One hidden neuron: what it does on a sentence, and what it writes."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from ffnviz.model.encoder import EncoderTrace
from ffnviz.model.model import Model

OFTEN_ENOUGH = 200


@dataclass(frozen=True)
class WrittenWords:
    """The words a neuron makes likelier when it is awake.

    Attributes:
        words: the most promoted first.
        scores: what one unit of activation adds to each word's logit before the final
            LayerNorm's division, (k,).
    """

    words: tuple[str, ...]
    scores: NDArray[np.float32]


def neuron_values(trace: EncoderTrace, block: int, neuron: int) -> NDArray[np.float32]:
    """A neuron's hidden value on each token, (T,)."""
    return trace.blocks[block].ffn.hidden[:, neuron].cpu().numpy()


def strongest_neuron(trace: EncoderTrace, block: int, token: int) -> int:
    """The neuron with the largest |hidden| on a token."""
    return int(trace.blocks[block].ffn.hidden[token].abs().argmax())


@torch.inference_mode()
def promoted_words(model: Model, block: int, neuron: int, k: int = 10) -> WrittenWords:
    """The words whose logits a neuron's value vector raises most.

    Its row of W2 is read through the final LayerNorm's centring and gain and the output matrix, as
    in Geva et al. 2020 (arXiv:2012.14913), section 4. Only words that stood at least OFTEN_ENOUGH
    times in the training text are ranked: the vectors of rare ones are hardly trained.
    """
    encoder = model.encoder
    value = encoder.blocks[block].ffn.compress.weight[:, neuron]  # (d_model,)
    if isinstance(encoder.final_norm, nn.LayerNorm):
        value = (value - value.mean()) * encoder.final_norm.weight
    scores = encoder.unembed(value)  # (vocab_size,)
    often = model.token_counts.to(scores.device) >= OFTEN_ENOUGH
    best = scores.masked_fill(~often, float("-inf")).topk(min(k, len(scores)))
    kept = torch.isfinite(best.values)
    words = tuple(model.tokenizer.label(int(i)) for i in best.indices[kept])
    return WrittenWords(words, best.values[kept].cpu().numpy())
