"""What a class types: its sentences are counted as each is on its own."""

import numpy as np
import pytest
import torch

from ffnviz.app.lecture.class_sentences import NEURONS, read_pool
from ffnviz.models.encoder.model import load

TEXTS = ("The old dog slept.", "It cost forty [MASK].", "She opened the door.", "forty")


@pytest.mark.parametrize(("name", "threshold"), [("relu", 0.0), ("gelu", 0.1)])
def test_a_classs_neurons_are_those_of_each_sentence(name: str, threshold: float) -> None:
    model, told = load(name), list[float]()
    pool = read_pool(model, TEXTS, 1, told.append)
    traces = [model.trace(text) for text in TEXTS]
    hidden = [trace.blocks[1].ffn.hidden for trace in traces]
    shares = [float((h.abs() > threshold).double().mean()) for h in hidden]
    np.testing.assert_allclose(pool.shares, shares, atol=1e-6)
    np.testing.assert_allclose(read_pool(model, TEXTS[:1], 1).shares, shares[:1], atol=1e-6)
    fired = torch.stack([(h.abs() > threshold).any(dim=0) for h in hidden]).sum(dim=0)
    assert [each.sentences for each in pool.shared] == fired.topk(NEURONS).values.tolist()
    for trace, guess in zip(traces, pool.guesses, strict=True):
        if "[MASK]" not in trace.text:
            assert guess is None
            continue
        mask = next(at for at, each in enumerate(trace.tokens) if each.text.strip() == "[MASK]")
        words = torch.softmax(trace.logits[mask].double(), dim=-1)
        assert guess is not None
        assert guess[0] == model.tokenizer.label(int(words.argmax()))
        assert abs(guess[1] - float(words.max())) < 1e-4
    for each in pool.shared:
        largest = [float(h[:, each.neuron].abs().max()) for h in hidden]
        assert abs(each.mean - sum(largest) / len(TEXTS)) < 1e-4
        assert fired[each.neuron] == each.sentences
        place, token = each.strongest[0]
        assert float(hidden[place][token, each.neuron].abs()) == max(largest)
    assert told[-1] == 1.0
