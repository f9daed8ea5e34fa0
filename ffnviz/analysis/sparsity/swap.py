"""A network's weights run with another φ, without retraining."""

import copy
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from ffnviz.analysis.divergence import divergence
from ffnviz.analysis.needs import Capability, encoder_of, require
from ffnviz.analysis.prediction import Prediction, likeliest
from ffnviz.models.activations import ACTIVATIONS
from ffnviz.models.encoder.model import Model
from ffnviz.models.network import NotForThisNetwork
from ffnviz.models.trace import ForwardPass

NEEDS = (Capability.OURS, Capability.PLAIN_FFN)
WORDS = 10


@dataclass(frozen=True)
class SwappedPass:
    """A sentence's pass with another φ, whichever token is looked at."""

    stream: Tensor  # after the last block, (T, d_model)
    above_zero: tuple[float, ...]  # share of the sentence's hidden values above zero, per block


@dataclass(frozen=True)
class Swapped:
    """What changes at a token when φ is swapped."""

    prediction: Prediction  # with the other φ
    divergence: float  # KL(own φ ‖ other φ) over the whole vocabulary, in nats
    above_zero: tuple[float, ...]  # share of the sentence's hidden values above zero, per block


def with_activation(model: Model, activation: str) -> Model:
    """A model with the same weights, shared and not copied, and another plain φ.

    Raises:
        ConfigError: if there is no such activation.
        NotForThisNetwork: if either is gated: a gated FFN has one more matrix.
    """
    config = replace(encoder_of(model).config, activation=activation)
    other = ACTIVATIONS[activation]
    require(model, NEEDS)
    if other.gated:
        raise NotForThisNetwork(
            f"{other.label} is gated and has one more matrix: it cannot stand in for a plain φ."
        )
    shared = {id(tensor): tensor for tensor in model.encoder.parameters()}
    encoder = copy.deepcopy(model.encoder, shared)
    encoder.config = config
    for block in encoder.blocks:
        block.ffn.activation = other
    return replace(model, encoder=encoder)


@torch.no_grad()
def swapped_pass(model: Model, trace: ForwardPass, activation: str) -> SwappedPass:
    """Run a trace's sentence through the same weights with another φ."""
    above_zero, stream = [], trace.embedding
    for block in with_activation(model, activation).walk(trace.ids):
        above_zero.append(float(block.ffn.above_zero.float().mean()))
        stream = block.output
    return SwappedPass(stream, tuple(above_zero))


@torch.no_grad()
def swapped_prediction(
    model: Model, trace: ForwardPass, token: int, swapped: SwappedPass
) -> Swapped:
    """What a pass with another φ says at a token."""
    logits = model.logits(swapped.stream[token])
    kl = divergence(trace.logits_at(token), logits)
    return Swapped(likeliest(model, logits, WORDS), kl, swapped.above_zero)
