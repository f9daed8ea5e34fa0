"""The softmax, the prediction without an FFN, the words a neuron writes, and the timing."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch

from ffnviz.analysis import neurons
from ffnviz.analysis.neurons import neuron_values, promoted_words, strongest_neuron
from ffnviz.analysis.prediction import predict, predict_without_ffn
from ffnviz.analysis.timing import timed_trace
from ffnviz.model.model import Model
from ffnviz.model.tokenizer import Tokenizer
from tests.analysis.small import small_model

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


def test_promoted_words_are_those_whose_logits_the_value_vector_raises_most(
    tokenizer: Tokenizer,
) -> None:
    model = small_model(tokenizer, "pre")
    value = model.encoder.blocks[1].ffn.compress.weight[:, 7].double().numpy()
    gain = model.encoder.final_norm.weight.double().numpy()  # type: ignore[operator]
    words = model.encoder.token_embedding.weight.double().numpy()
    scores = words @ ((value - value.mean()) * gain)
    told = promoted_words(model, block=1, neuron=7, k=5)
    best = np.argsort(-scores)[:5]
    assert told.words == tuple(tokenizer.label(int(i)) for i in best)
    np.testing.assert_allclose(told.scores, scores[best], rtol=1e-4)


def test_rarely_seen_words_are_never_listed(tokenizer: Tokenizer) -> None:
    model = small_model(tokenizer, "pre")
    counts = torch.full((tokenizer.vocab_size,), neurons.OFTEN_ENOUGH - 1)
    counts[[40, 50, 60]] = neurons.OFTEN_ENOUGH
    told = promoted_words(replace(model, token_counts=counts), block=0, neuron=1, k=10)
    assert sorted(told.words) == sorted(tokenizer.label(i) for i in (40, 50, 60))


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
