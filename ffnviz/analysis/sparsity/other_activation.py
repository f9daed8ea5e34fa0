"""A network's weights with another φ, not trained again."""

import copy
from dataclasses import replace

from ffnviz.analysis.needs import Capability, encoder_of, require
from ffnviz.models.activations import ACTIVATIONS
from ffnviz.models.encoder.model import Model
from ffnviz.models.network import NotForThisNetwork

NEEDS = (Capability.OURS, Capability.PLAIN_FFN)


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
