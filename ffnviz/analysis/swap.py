"""A twin's weights run with the other's φ, without training them again."""

import copy
from dataclasses import dataclass, replace

import torch

from ffnviz.analysis.divergence import divergence
from ffnviz.analysis.prediction import Prediction, likeliest
from ffnviz.model.activations import ACTIVATIONS
from ffnviz.model.model import Model
from ffnviz.model.trace import Trace

WORDS = 10


@dataclass(frozen=True)
class Swapped:
    """What changes at a token when φ is swapped.

    Attributes:
        prediction: the likeliest words with the other φ.
        divergence: KL(with its own φ ‖ with the other), in nats, over the whole vocabulary.
        awake: share of hidden values above zero over the sentence, a share a block.
    """

    prediction: Prediction
    divergence: float
    awake: tuple[float, ...]


def with_activation(model: Model, activation: str) -> Model:
    """The same weights with another plain φ; they are shared, not copied.

    Raises:
        ConfigError: if there is no such activation.
        ValueError: if one of the two is gated: a gated FFN has one more matrix.
    """
    config = replace(model.encoder.config, activation=activation)
    other = ACTIVATIONS[activation]
    if other.gated or ACTIVATIONS[model.encoder.config.activation].gated:
        raise ValueError("Only a plain activation can stand in for another: a gated FFN differs.")
    shared = {id(tensor): tensor for tensor in model.encoder.parameters()}
    encoder = copy.deepcopy(model.encoder, shared)
    encoder.config = config
    for block in encoder.blocks:
        block.ffn.activation = other
    return replace(model, encoder=encoder)


@torch.inference_mode()
def swap(model: Model, trace: Trace, token: int, activation: str) -> Swapped:
    """The sentence of a trace, read by the same weights with another φ."""
    swapped = with_activation(model, activation)
    other = swapped.encoder.stream(trace.ids)
    logits = swapped.encoder.unembed(other.final[token])
    apart = divergence(trace.logits[token], logits)
    awake = tuple(float((block.ffn.hidden > 0).float().mean()) for block in other.blocks)
    return Swapped(likeliest(model, logits, WORDS), apart, awake)
