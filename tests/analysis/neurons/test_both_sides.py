"""Negative activations count as positive ones do, and sentences of a class as each on its own."""

import numpy as np
import pytest
import torch

from ffnviz.analysis.neurons.neuron_index import BlockIndex, build_index
from ffnviz.analysis.neurons.probes import Probe
from ffnviz.app.lecture.class_sentences import NEURONS, read_pool
from ffnviz.models.activations import ACTIVATIONS
from ffnviz.models.encoder.model import load
from ffnviz.models.encoder.tokenizer import Tokenizer
from tests.analysis.networks import Stranger

TEXT = "The cat sat on the mat."
PROBES = [Probe(text, ("cat",) if "cat" in text else ("dog",))
          for text in (TEXT, "The dog was gone.", "the cat is old")]  # fmt: skip


def test_whether_hidden_can_be_below_zero_is_what_the_function_says() -> None:
    for phi in ACTIVATIONS.values():
        values = phi.function(torch.linspace(-12, 12, 4_801))
        assert phi.below_zero == bool((values < 0).any()), phi.name
    # Of a value too large for the file the side is kept.
    nothing = np.zeros((1, 1), np.int32)
    many = dict.fromkeys(BlockIndex.__dataclass_fields__, nothing)
    sides = {"values": np.array([[np.inf]], np.float16), "low_values": np.array([[np.inf]])}
    (only,) = BlockIndex(**{**many, **sides}).strongest(0)
    assert only.value == np.inf


def test_the_strongest_are_furthest_from_zero_some_of_each_side(tokenizer: Tokenizer) -> None:
    net = Stranger(tokenizer)
    texts = [f"{a} {b}." for a in ("the cat", "a dog", "she") for b in ("sat", "is", "was", "ran",
             "had", "has", "will", "can")]  # fmt: skip
    block = build_index(net, [Probe(text, ()) for text in texts], (), "made up").blocks[0]
    hidden = [net.trace(text).blocks[0].ffn.hidden.numpy() for text in texts]
    some_below = 0
    for neuron in range(net.sizes.d_ff):
        high = [h[:, neuron].max() for h in hidden if h[:, neuron].max() > 0.1]
        low = [h[:, neuron].min() for h in hidden if h[:, neuron].min() < -0.1]
        expected = sorted(map(abs, high + low), reverse=True)[:12]
        values = [each.value for each in block.strongest(neuron)]
        assert [abs(value) for value in values] == pytest.approx(expected, rel=1e-3)
        mixed = [each.value for each in block.strongest(neuron, 4)]
        assert sum(value > 0 for value in mixed) >= min(4, len(high))
        assert sum(value < 0 for value in mixed) >= min(4, len(low))
        assert len(mixed) == len(values)
        some_below += any(value < 0 for value in values)
    assert some_below > net.sizes.d_ff / 2


TEXTS = ("The old dog slept.", "It cost forty [MASK].", "She opened the door.", "forty")


@pytest.mark.parametrize(("name", "threshold"), [("relu", 0.0), ("gelu", 0.1)])
def test_a_classs_neurons_are_those_of_each_sentence(name: str, threshold: float) -> None:
    model, told = load(name), list[float]()
    pool = read_pool(model, TEXTS, 1, told.append)
    traces = [model.trace(text) for text in TEXTS]
    hidden = [trace.blocks[1].ffn.hidden for trace in traces]
    shares = [float((h.abs() > threshold).double().mean()) for h in hidden]
    np.testing.assert_allclose(pool.shares, shares, atol=1e-6)
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
