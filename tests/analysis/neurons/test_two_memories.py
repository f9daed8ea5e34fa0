"""Two memories of one form: their entries add up to what the trace has."""

import numpy as np
import pytest
import torch

from ffnviz.models.encoder.model import load
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.parts.neurons.writes import attention_memory, ffn_memory, keys_moved
from tests.analysis.networks import ours

KINDS: dict[str, dict[str, object]] = {
    "ReLU": {},
    "gated": {"activation": "swiglu"},
    "causal": {"causal": True},
    "no biases": {"bias": False},
    "post-LN": {"norm": "post"},
}


@pytest.mark.parametrize("kind", KINDS)
def test_all_that_is_written_adds_up_to_the_traces_output(tokenizer: Tokenizer, kind: str) -> None:
    model = ours(tokenizer, **KINDS[kind])
    trace = model.trace("The cat sat on the mat.")
    for block in (0, 1):
        record = trace.blocks[block]
        attention = attention_memory(model, trace, block, 3)
        torch.testing.assert_close(attention.output, record.attention.output[3])
        ffn = ffn_memory(model, trace, block, 3)
        torch.testing.assert_close(ffn.output, record.ffn.output[3])
        if kind != "causal":
            torch.testing.assert_close(attention.match.softmax(dim=-1), attention.weight)


def test_the_strongest_are_those_whose_removal_changes_the_output_most(
    tokenizer: Tokenizer,
) -> None:
    model = ours(tokenizer)
    memory = attention_memory(model, model.trace("The cat sat on the mat."), 0, 2)
    (head, token), *_ = memory.strongest(3)
    lengths = [[float(each.norm()) for each in of_head] for of_head in memory.written]
    assert lengths[head][token] == max(map(max, lengths))


def test_another_word_moves_attentions_key_and_no_key_of_the_ffn() -> None:
    model = load("relu")
    one, two = (model.trace(f"The {word} sat on the mat.") for word in ("cat", "dog"))
    pairs = np.stack([np.arange(7), np.arange(7)], axis=1)
    moved = keys_moved(one, two, 0, pairs)
    # In the first block a token's key is made of its own embedding alone.
    assert moved[1] > 0.1
    assert moved[[0, 2, 3, 4, 5, 6]].max() < 1e-5
    weights = model.encoder.blocks[0].attention.project_in.weight
    d = weights.shape[1]
    keys = [each.blocks[0].attention.input[1] @ weights[d : 2 * d].mT for each in (one, two)]
    bias = model.encoder.blocks[0].attention.project_in.bias[d : 2 * d]
    expected = (keys[1] - keys[0]).norm() / (keys[0] + bias).norm()
    assert moved[1] == pytest.approx(float(expected), rel=1e-4)
