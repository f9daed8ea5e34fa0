"""The table of all neurons, against counting on the index."""

import numpy as np
import pytest

from ffnviz.analysis.neurons.neuron_index import build_index, overview
from ffnviz.analysis.neurons.probes import Probe
from ffnviz.models.encoder.tokenizer import Tokenizer
from tests.analysis.networks import small_model


def test_a_row_says_how_often_on_what_and_how_strongly(tokenizer: Tokenizer) -> None:
    model = small_model(tokenizer, "pre", "relu")
    texts = [f"{word} {n}" for n in range(9) for word in ("sea", "two", "the cat")]
    probes = [Probe(text, ("wet",) if "sea" in text else ("dry",)) for text in texts]
    index = build_index(model, probes, ("dry", "wet"), "made up")
    rows = overview(index, 1, lambda text, token: text.split()[0] if token == 0 else "later")
    traces = [model.trace(text).blocks[1].ffn.hidden.numpy() for text in texts]
    everything = np.concatenate(traces)
    np.testing.assert_allclose(rows.awake, (everything > 0).mean(axis=0))
    np.testing.assert_allclose(rows.texts, np.mean([(t > 0).any(axis=0) for t in traces], axis=0))
    np.testing.assert_allclose(rows.counts.mean, everything.mean(axis=0), atol=1e-3)
    np.testing.assert_allclose(rows.counts.most, everything.max(axis=0), atol=1e-5)
    assert rows.never == int((everything <= 0).all(axis=0).sum())
    for neuron in range(32):
        fires = np.array([(trace[:, neuron] > 0).any() for trace in traces])
        f1 = {
            tag: 2 * (fires & has).sum() / (fires.sum() + has.sum())
            for tag in ("dry", "wet")
            for has in [np.array([tag in probe.tags for probe in probes])]
        }
        assert rows.selective[neuron] == pytest.approx(max(f1.values()))
        if len(set(f1.values())) == 2:
            assert rows.tag[neuron] == max(f1, key=lambda tag: f1[tag])
        exact = float(np.quantile(everything[:, neuron], 0.99))
        assert rows.high[neuron] == pytest.approx(exact, rel=0.6, abs=0.01)
