"""The softmax, the prediction without an FFN, the words a neuron writes, and the timing."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch

from ffnviz.analysis.measuring import timed_trace
from ffnviz.analysis.neurons.intervention import neuron_values, strongest_neuron
from ffnviz.analysis.prediction import predict, predict_without_ffn
from ffnviz.models.encoder.model import Model
from ffnviz.models.encoder.tokenizer import Tokenizer
from tests.analysis.networks import small_model

TEXT = "The cat sat on the [MASK]."


@pytest.fixture(params=["pre", "post"])
def model(request: pytest.FixtureRequest, tokenizer: Tokenizer) -> Model:
    return small_model(tokenizer, request.param)


def softmax64(logits: torch.Tensor) -> np.ndarray:
    exponentials = np.exp(logits.double().numpy() - logits.double().numpy().max())
    return np.asarray(exponentials / exponentials.sum())


def test_the_prediction_is_the_softmax_over_the_whole_vocabulary(model: Model) -> None:
    trace = model.trace(TEXT)
    expected = softmax64(trace.logits[5])
    told = predict(model, trace, token=5, k=10)
    best = np.argsort(-expected)[:10]
    np.testing.assert_array_equal(told.ids, best)
    np.testing.assert_allclose(told.probabilities, expected[best], rtol=1e-5)
    assert told.words == tuple(model.tokenizer.label(int(i)) for i in best)


@pytest.mark.parametrize("block", [0, 1, 2])
def test_without_an_ffn_is_as_if_its_second_matrix_were_zero(model: Model, block: int) -> None:
    silenced = copy.deepcopy(model.encoder)
    silenced.blocks[block].ffn.compress.weight.zero_()
    silenced.blocks[block].ffn.compress.bias.zero_()
    expected = replace(model, encoder=silenced).trace(TEXT).logits[5].softmax(-1).topk(10)
    told = predict_without_ffn(model, model.trace(TEXT), block, token=5)
    np.testing.assert_array_equal(told.ids, expected.indices.numpy())
    np.testing.assert_allclose(told.probabilities, expected.values.numpy(), rtol=1e-5)


def test_a_neurons_values_and_the_strongest_neuron_are_the_traces(model: Model) -> None:
    trace = model.trace(TEXT)
    hidden = trace.blocks[2].ffn.hidden.numpy()
    np.testing.assert_array_equal(neuron_values(trace, 2, 11), hidden[:, 11])
    assert strongest_neuron(trace, 2, 3) == np.abs(hidden[3]).argmax()


def test_a_timed_trace_is_the_trace_and_took_time(model: Model) -> None:
    trace, total_ms, ffn_ms = timed_trace(model, TEXT)
    torch.testing.assert_close(trace.logits, model.trace(TEXT).logits)
    assert total_ms > 0
    assert ffn_ms > 0
