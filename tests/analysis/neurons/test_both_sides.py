"""Negative activations count as positive ones do, and sentences of a class as each on its own."""

from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from ffnviz.analysis.neurons.index_file import read_index, write_index
from ffnviz.analysis.neurons.intervention import masked_batches
from ffnviz.analysis.neurons.neuron_index import BlockIndex, build_index, overview
from ffnviz.analysis.neurons.probes import Probe
from ffnviz.analysis.sparsity import awake, threshold_for
from ffnviz.app.lecture.class_sentences import NEURONS, read_pool
from ffnviz.models.activations import ACTIVATIONS
from ffnviz.models.encoder.model import load
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.external.network import ExternalNetwork
from ffnviz.models.external.opening import proved_network
from ffnviz.models.external.tokenizer import ExternalTokenizer
from ffnviz.parts.neurons.insert import plant, spread
from tests.analysis.networks import Stranger, ours
from tests.models.external.families import GPT2, WIDE, build, two_texts
from tests.models.external.tokenizers import byte_level

TEXT = "The cat sat on the mat."
PROBES = [Probe(text, ("cat",) if "cat" in text else ("dog",))
          for text in (TEXT, "The dog was gone.", "the cat is old")]  # fmt: skip

CONFIGS = {
    "tanh": transformers.GPT2Config(**GPT2, activation_function="tanh"),
    "gated SiLU": transformers.LlamaConfig(**WIDE),
}


@pytest.fixture(scope="module", params=list(CONFIGS))
def external_network(request: pytest.FixtureRequest) -> ExternalNetwork:
    config = CONFIGS[request.param]
    model = build(lambda: transformers.AutoModelForCausalLM.from_config(config))
    words = ExternalTokenizer(byte_level(), 97)
    return proved_network(model, words, two_texts(), 6, "any", "any", "#009e73")


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


def test_a_class_and_an_index_count_alike(
    external_network: ExternalNetwork, tmp_path: Path
) -> None:
    """The Journey's count of a sentence, the class's, and the index's on that sentence alone."""
    assert external_network.card.signed
    trace, threshold = external_network.trace(TEXT), threshold_for(external_network.card.phi)
    write_index(
        build_index(external_network, [Probe(TEXT, ())], (), "one text"), tmp_path / "any.npz"
    )
    index = read_index(
        tmp_path / "any.npz", external_network.sizes.d_ff, external_network.sizes.n_blocks
    )
    for number, block in index.by_number.items():
        hidden = trace.blocks[number].ffn.hidden.numpy()
        here = awake(trace, number, threshold)
        assert int(block.fired.sum()) == here.counts.sum()
        assert (hidden < -threshold).sum() > 0.2 * here.counts.sum(), "or this would show nothing"
        never = (np.abs(hidden).max(axis=0) <= threshold).tolist()
        rows = overview(index, number, lambda text, token: f"{text}{token}")
        assert ((rows.awake == 0) == never).all()
        np.testing.assert_allclose(rows.counts.least, np.where(
            hidden.min(0) < -threshold, hidden.min(0), 0), rtol=1e-3)  # fmt: skip
        pool = read_pool(external_network, [TEXT], number)
        assert pool.shares[0] == pytest.approx(here.share)
        assert all(not never[each.neuron] for each in pool.shared)


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


def test_a_planted_neuron_that_goes_below_zero_is_awake_there(tokenizer: Tokenizer) -> None:
    net = ours(tokenizer, activation="tanh")
    planted = plant(net, net.trace(TEXT), 0, 2, 77, strength=1.0, choosiness=0.6)
    found = spread(net, PROBES, 0, planted, 0.1)
    read = [net.run(batch.ids) for batch in masked_batches(net, PROBES)]
    values = torch.cat([planted.hidden(each.blocks[0].ffn.input).flatten() for each in read])
    above, below = int((values > 0.1).sum()), int((values < -0.1).sum())
    assert min(above, below) > 0, "or this would show nothing"
    assert found.awake == above + below
    sizes = values.abs().topk(len(found.strongest)).values.tolist()
    assert [abs(each.value) for each in found.strongest] == pytest.approx(sizes, rel=1e-5)


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
