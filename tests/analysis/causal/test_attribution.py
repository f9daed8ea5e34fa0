"""A logit as a sum, against float64 with the parts taken away one by one."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from numpy.testing import assert_allclose
from torch import Tensor

from ffnviz.analysis.causal.attribution import logit_attribution
from ffnviz.analysis.causal.measure import logit_difference
from ffnviz.analysis.needs import word_head
from ffnviz.models.edit import Edit
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.external.opening import from_module
from ffnviz.models.network import Network, NotForThisNetwork
from ffnviz.models.trace import Trace
from tests.analysis.causal.networks import KINDS, SOURCE, network_of_kind
from tests.analysis.networks import Stranger, ours
from tests.models.external.families import FAMILIES, build
from tests.models.external.tokenizers import byte_level

OURS: dict[str, Callable[[Tokenizer], Network]] = {
    "ours": lambda tokenizer: ours(tokenizer),
    "gated": lambda tokenizer: ours(tokenizer, activation="geglu"),
    "no biases": lambda tokenizer: ours(tokenizer, bias=False),
    "stranger": Stranger,
}


@pytest.fixture(params=[*OURS, *KINDS])
def network(request: pytest.FixtureRequest, tokenizer: Tokenizer) -> Network:
    make = OURS.get(request.param)
    return network_of_kind(request.param) if make is None else make(tokenizer)


def held(network: Network, trace: Trace, part: Tensor, token: int, weights: Tensor) -> float:
    """What a part of the last stream adds, float64, by LayerNorm or RMSNorm written out."""
    head = network.head
    assert head is not None
    assert head.norm is not None
    stream = trace.blocks[-1].output[token].double()
    x = stream - stream.mean() if head.norm.centred else stream
    sigma = (x.square().mean() + head.norm.eps).sqrt()
    part = part.double()
    part = part - part.mean() if head.norm.centred else part
    return float((head.norm.gain.double() * part / sigma) @ weights.double())


def test_the_terms_add_up_and_each_is_what_its_part_makes(network: Network) -> None:
    trace, measure = network.trace(SOURCE), logit_difference(network, 5, 9)
    token = 1
    found = logit_attribution(trace, measure, token=token, k=7)
    logits = trace.logits[token].double()
    assert found.total == pytest.approx(float(logits[5] - logits[9]), abs=1e-5)
    assert abs(found.residue) < 2e-4
    weights = words_of(network)
    for number, block in enumerate(trace.blocks):
        wrote = held(network, trace, block.ffn.output[token], token, weights)
        assert found.ffn[number] == pytest.approx(wrote, abs=1e-4)
        heard = held(network, trace, (block.middle - block.input)[token], token, weights)
        assert found.attention[number] == pytest.approx(heard, abs=1e-4)
    assert found.embedding == pytest.approx(
        held(network, trace, trace.embedding[token], token, weights), abs=1e-4
    )
    assert len(found.neurons) == len(found.contributions) == 7
    for (number, neuron), contribution in zip(found.neurons, found.contributions, strict=True):
        hidden = trace.blocks[number].ffn.hidden[token, int(neuron)]
        part = hidden * network.ffn(int(number)).values[int(neuron)]
        assert contribution == pytest.approx(held(network, trace, part, token, weights), abs=1e-4)
    assert (found.contributions.abs().diff() <= 0).all()


def test_all_neurons_and_the_bias_are_their_ffn(network: Network) -> None:
    trace, measure = network.trace(SOURCE), logit_difference(network, 5)
    everything = network.sizes.n_blocks * network.sizes.d_ff
    found = logit_attribution(trace, measure, token=0, k=everything)
    word = word_head(network)[1].vectors[5]
    for number in range(network.sizes.n_blocks):
        bias = network.ffn(number).output_bias
        own = 0.0 if bias is None else held(network, trace, bias, 0, word)
        summed = found.contributions[found.neurons[:, 0] == number].sum() + own
        assert summed == pytest.approx(float(found.ffn[number]), abs=2e-4)


@pytest.mark.parametrize("at", ["input", "attention", "middle", "ffn", "output"])
def test_what_an_edit_adds_is_a_term_of_its_own(at: str, network: Network) -> None:
    measure, vector = logit_difference(network, 5, 9), torch.linspace(-1, 1, network.sizes.d_model)
    plain = logit_attribution(network.trace(SOURCE), measure, token=1)
    assert plain.edits == 0
    if at == "middle" and network.card.label == "GPT-NeoX":
        with pytest.raises(NotForThisNetwork, match="side by side"):
            network.trace(SOURCE, Edit(1, add=vector, at=at))
        return
    trace = network.trace(SOURCE, Edit(1, add=vector, at=at))
    found = logit_attribution(trace, measure, token=1, k=5_000)
    assert abs(found.residue) < 2e-4
    last = trace.blocks[1]
    assert found.ffn[1] == pytest.approx(
        held(network, trace, last.ffn.output[1], 1, words_of(network)), abs=1e-4
    )
    added = held(network, trace, vector, 1, words_of(network))
    expected = 0 if at in ("ffn", "attention") else added  # those are what the part then writes
    assert found.edits == pytest.approx(expected, abs=1e-4)


def words_of(network: Network) -> Tensor:
    vectors = word_head(network)[1].vectors.double()
    return vectors[5] - vectors[9]


def test_the_token_is_the_mask_or_the_last(tokenizer: Tokenizer) -> None:
    model = ours(tokenizer)
    trace = model.trace("The [MASK] sat on the cat")
    place = next(i for i, token in enumerate(trace.tokens) if token.id == tokenizer.mask_id)
    found = logit_attribution(trace, logit_difference(model, 5))
    assert found.total == pytest.approx(float(trace.logits[place, 5]), abs=1e-5)
    network = network_of_kind("GPT-2")
    trace = network.trace(SOURCE + " ,")
    found = logit_attribution(trace, logit_difference(network, 5))
    assert_allclose(found.total, trace.logits[-1, 5], atol=1e-5)


def test_what_does_not_add_up_is_refused(tokenizer: Tokenizer, tmp_path: Path) -> None:
    post = ours(tokenizer, norm="post")
    with pytest.raises(NotForThisNetwork, match="post-LN"):
        logit_attribution(post.trace("a"), logit_difference(post, 5))
    sandwich = from_module(build(FAMILIES["Gemma 3"]), byte_level(), "Gemma 3")
    with pytest.raises(NotForThisNetwork, match="norms before and after"):
        logit_attribution(sandwich.trace("a"), logit_difference(sandwich, 5))
    post.trace("a").save(tmp_path / "a")
    trace = Trace.load(tmp_path / "a")
    with pytest.raises(ValueError, match="leaves its network out"):
        logit_attribution(trace, logit_difference(post, 5))
