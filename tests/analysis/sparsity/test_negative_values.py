"""A GELU value below zero counts by its size, not by its sign."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from ffnviz.analysis.neurons.intervention import strongest_neuron
from ffnviz.analysis.sparsity import awake, threshold_for
from ffnviz.models.activations import ACTIVATIONS
from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.models.encoder.encoder import EncoderTrace, initial_encoder


@pytest.fixture(scope="module")
def trace(tiny_config: EncoderConfig) -> EncoderTrace:
    """A random GELU model's trace, its weights large enough for values of many sizes."""
    encoder = initial_encoder(replace(tiny_config, activation="gelu"), seed=5).eval()
    with torch.inference_mode():
        for layer in encoder.blocks:
            layer.ffn.expand.weight.mul_(20)
        record: EncoderTrace = encoder(torch.arange(12))
    return record


@pytest.mark.parametrize("threshold", [0.0, 0.01, 0.1])
def test_neurons_are_awake_on_both_sides_of_zero(trace: EncoderTrace, threshold: float) -> None:
    hidden = trace.blocks[1].ffn.hidden.numpy()
    assert (hidden < -threshold).any(), "or this test could not fail"
    expected = (hidden > threshold).sum(axis=1) + (hidden < -threshold).sum(axis=1)
    np.testing.assert_array_equal(awake(trace, 1, threshold).counts, expected)


def test_the_strongest_neuron_may_be_below_zero(trace: EncoderTrace) -> None:
    # GELU never falls below -0.17, so on most tokens some neuron above zero is stronger.
    record = trace.blocks[0]
    below = torch.full_like(record.ffn.hidden, 0.1)
    below[:, 9] = -0.15
    changed = replace(record, ffn=replace(record.ffn, hidden=below))
    changed_trace = replace(trace, blocks=(changed, *trace.blocks[1:]))
    assert strongest_neuron(changed_trace, block=0, token=3) == 9


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_awake_begins_at_zero_for_just_those_activations_that_give_exact_zeros(
    activation: str,
) -> None:
    values = ACTIVATIONS[activation].function(torch.linspace(-6, -0.1, 60))
    exact = bool((values == 0).all())
    assert (threshold_for(ACTIVATIONS[activation]) == 0) == exact
