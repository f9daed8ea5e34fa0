"""Keys and values of single neurons, against recomputing by hand in float64."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from ffnviz.analysis.neurons import memory
from ffnviz.analysis.neurons.memory import key_matches, similar, written_ids, written_words
from ffnviz.models.encoder.model import Model
from ffnviz.models.encoder.tokenizer import Tokenizer
from tests.analysis.networks import small_model


@pytest.fixture(params=["pre", "post"])
def model(request: pytest.FixtureRequest, tokenizer: Tokenizer) -> Model:
    return small_model(tokenizer, request.param)


def arrays(model: Model) -> dict[str, np.ndarray]:
    return {name: value.double().numpy() for name, value in model.encoder.state_dict().items()}


def test_promoted_and_suppressed_words_are_those_the_value_vector_moves_most(model: Model) -> None:
    weights = arrays(model)
    value = weights["blocks.1.ffn.compress.weight"][:, 7]
    if model.encoder.config.norm == "pre":
        value = (value - value.mean()) * weights["final_norm.weight"]
    scores = weights["token_embedding.weight"] @ value
    promoted, suppressed = written_words(model, block=1, neuron=7, k=5)
    for told, best in ((promoted, np.argsort(-scores)[:5]), (suppressed, np.argsort(scores)[:5])):
        assert told.ids.tolist() == best.tolist()
        assert told.words == tuple(model.tokenizer.label(int(i)) for i in best)
        np.testing.assert_allclose(told.scores, scores[best], rtol=1e-4)


def test_many_neurons_promote_what_each_does(model: Model) -> None:
    neurons, k = np.arange(4), model.encoder.config.vocab_size
    for neuron, ids in zip(neurons, written_ids(model, 1, neurons, k), strict=True):
        assert ids.tolist() == written_words(model, 1, int(neuron), k)[0].ids.tolist()


def test_a_key_matches_the_words_that_alone_in_the_stream_would_wake_it_most(model: Model) -> None:
    weights = arrays(model)
    words = weights["token_embedding.weight"]
    norm = "ffn_norm" if model.encoder.config.norm == "pre" else "attention_norm"
    centred = words - words.mean(axis=1, keepdims=True)
    read = centred / np.sqrt(centred.var(axis=1, keepdims=True) + 1e-5)
    read = read * weights[f"blocks.2.{norm}.weight"] + weights[f"blocks.2.{norm}.bias"]
    scores = (
        read @ weights["blocks.2.ffn.expand.weight"][9] + weights["blocks.2.ffn.expand.bias"][9]
    )
    told = key_matches(model, block=2, neuron=9, k=6)
    assert told.ids.tolist() == np.argsort(-scores)[:6].tolist()
    np.testing.assert_allclose(told.scores, np.sort(scores)[::-1][:6], rtol=1e-4, atol=1e-4)


def test_rarely_seen_words_are_never_listed(tokenizer: Tokenizer) -> None:
    model = small_model(tokenizer, "pre")
    counts = torch.full((tokenizer.vocab_size,), memory.OFTEN_ENOUGH - 1)
    counts[[40, 50, 60]] = memory.OFTEN_ENOUGH
    model = replace(model, token_counts=counts)
    promoted, suppressed = written_words(model, block=0, neuron=1, k=10)
    for told in (promoted, suppressed, key_matches(model, block=0, neuron=1, k=10)):
        assert sorted(told.ids) == [40, 50, 60]


def test_similar_neurons_have_the_largest_cosines(model: Model) -> None:
    weights = arrays(model)
    by_key, by_value = similar(model, block=0, neuron=3, k=4)
    for told, vectors in (
        (by_key, weights["blocks.0.ffn.expand.weight"]),
        (by_value, weights["blocks.0.ffn.compress.weight"].T),
    ):
        cosines = vectors @ vectors[3] / np.linalg.norm(vectors, axis=1)
        cosines = cosines / np.linalg.norm(vectors[3])
        cosines[3] = -2
        assert told.neurons.tolist() == np.argsort(-cosines)[:4].tolist()
        np.testing.assert_allclose(told.cosines, np.sort(cosines)[::-1][:4], rtol=1e-4)
