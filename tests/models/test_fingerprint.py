"""A fingerprint follows the weights, and nothing else."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from ffnviz.models.encoder.encoder import Encoder
from ffnviz.models.encoder.model import Model, load


def changeable() -> Model:
    relu = load("relu")  # of which a test run has one
    return replace(relu, encoder=deepcopy(relu.encoder))


def mark(model: Model) -> str:
    return replace(model).fingerprint  # computed anew


def test_networks_differ_and_copies_do_not() -> None:
    relu, gelu = load("relu"), load("gelu")
    assert mark(relu) != mark(gelu)
    again = changeable()
    assert mark(replace(again, name="another")) == mark(relu)
    again.encoder.to(torch.bfloat16)
    assert mark(again) == mark(relu)


CHANGES: dict[str, Callable[[Encoder], Tensor]] = {
    "a neuron's key": lambda encoder: encoder.blocks[1].ffn.expand.weight[3],
    "what a neuron writes": lambda encoder: encoder.blocks[0].ffn.compress.weight[:, 3],
    "one bias": lambda encoder: encoder.blocks[1].ffn.expand.bias[7:8],
    "an attention's output": lambda encoder: encoder.blocks[0].attention.project_out.weight,
    "one word's embedding": lambda encoder: encoder.token_embedding.weight[4_321],
    "one position's": lambda encoder: encoder.position_embedding.weight[100],
    "the last norm": lambda encoder: encoder.final_norm.weight[:1],  # type: ignore[index]
}


@pytest.mark.parametrize("changed", CHANGES.values(), ids=CHANGES)
def test_what_was_trained_on_is_seen_wherever_it_is(changed: Callable[[Encoder], Tensor]) -> None:
    model = changeable()
    before = mark(model)
    with torch.no_grad():
        changed(model.encoder).add_(0.1)
    assert mark(model) != before


@torch.no_grad()
def test_neurons_in_another_order_are_another_network() -> None:
    """It computes the same, but its neurons have other numbers."""
    model = changeable()
    before, ffn = mark(model), model.encoder.blocks[0].ffn
    for weight in (ffn.expand.weight, ffn.expand.bias, ffn.compress.weight.T):
        weight.copy_(weight.flip(0))
    assert mark(model) != before
