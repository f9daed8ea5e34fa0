"""A fingerprint follows the weights, and nothing else."""

from dataclasses import replace

import torch

from ffnviz.model.fingerprint import fingerprint
from ffnviz.model.model import Model, load


def mark(model: Model) -> str:
    return fingerprint(model.sizes, model.ffn)


def test_networks_differ_and_copies_do_not() -> None:
    relu, gelu = load("relu"), load("gelu")
    assert mark(relu) != mark(gelu)
    again = load("relu")
    assert mark(replace(again, name="another")) == mark(relu)
    again.encoder.to(torch.bfloat16)
    assert mark(again) == mark(relu)


def test_one_block_that_was_trained_on_is_seen() -> None:
    model = load("relu")
    before = mark(model)
    with torch.no_grad():
        model.ffn(1).keys[3, 5] += 0.1
    assert mark(model) != before
