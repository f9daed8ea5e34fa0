"""A logit as a sum, gradients, paths and steering, against float64, autograd and hooks by hand."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from numpy.testing import assert_allclose
from torch import Tensor

from ffnviz.analysis.causal.attribution import (
    gradient_attribution,
    logit_attribution,
    loss_gradient,
)
from ffnviz.analysis.causal.measure import logit_difference
from ffnviz.analysis.causal.paths import neuron_paths
from ffnviz.analysis.causal.steer import contrast, steer
from ffnviz.analysis.needs import word_head
from ffnviz.models.edit import PLACES, Edit
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.external.network import ExternalNetwork
from ffnviz.models.external.opening import from_module
from ffnviz.models.network import Network, NotForThisNetwork
from ffnviz.models.trace import Trace
from tests.analysis.causal.networks import (
    KINDS,
    REFERENCE,
    SOURCE,
    bare,
    by_hand,
    hooks,
    ids_of,
    keeping,
    module_of,
    network_of_kind,
    put,
    seen,
    setup_of,
)
from tests.analysis.networks import Stranger, ours
from tests.models.external.by_hand import Change, logits_of
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
    head, _ = word_head(network)
    assert head.norm is not None
    stream = trace.blocks[-1].output[token].double()
    x = stream - stream.mean() if head.norm.centred else stream
    sigma = (x.square().mean() + head.norm.eps).sqrt()
    part = part.double()
    part = part - part.mean() if head.norm.centred else part
    return float((head.norm.gain.double() * part / sigma) @ weights.double())


def test_the_terms_add_up_and_each_is_what_its_part_makes(network: Network) -> None:
    trace, measure = network.trace(SOURCE), logit_difference(network, 5, 9)
    token, weights = 1, words_of(network)
    found = logit_attribution(trace, measure, token=token, k=7)
    logits = trace.logits[token].double()
    assert found.total == pytest.approx(float(logits[5] - logits[9]), abs=1e-5)
    assert abs(found.residue) < 2e-4
    everything = network.sizes.n_blocks * network.sizes.d_ff
    every = logit_attribution(trace, measure, token=token, k=everything)

    def adds(part: Tensor) -> Any:
        return pytest.approx(held(network, trace, part, token, weights), abs=2e-4)

    assert found.embedding == adds(trace.embedding[token])
    for number, block in enumerate(trace.blocks):
        assert found.ffn[number] == adds(block.ffn.output[token])
        assert found.attention[number] == adds((block.middle - block.input)[token])
        bias = network.ffn(number).output_bias
        own = 0.0 if bias is None else held(network, trace, bias, token, weights)
        of_neurons = float(every.contributions[every.neurons[:, 0] == number].sum())
        assert of_neurons + own == adds(block.ffn.output[token])
    assert len(found.neurons) == len(found.contributions) == 7
    for (number, neuron), contribution in zip(found.neurons, found.contributions, strict=True):
        hidden = trace.blocks[number].ffn.hidden[token, int(neuron)]
        assert contribution == adds(hidden * network.ffn(int(number)).values[int(neuron)])
    assert (found.contributions.abs().diff() <= 0).all()


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


def test_what_does_not_add_up_is_refused(tokenizer: Tokenizer, tmp_path: Path) -> None:
    post = ours(tokenizer, norm="post")
    with pytest.raises(NotForThisNetwork, match="post-LN"):
        logit_attribution(post.trace("a"), logit_difference(post, 5))
    with pytest.raises(NotForThisNetwork, match="post-LN"):
        neuron_paths(post.trace("[MASK]"), 0, 1, 1)
    sandwich = from_module(build(FAMILIES["Gemma 3"]), byte_level(), "Gemma 3")
    with pytest.raises(NotForThisNetwork, match="norms before and after"):
        logit_attribution(sandwich.trace("a"), logit_difference(sandwich, 5))
    post.trace("a").save(tmp_path / "a")
    trace = Trace.load(tmp_path / "a")
    with pytest.raises(ValueError, match="leaves its network out"):
        logit_attribution(trace, logit_difference(post, 5))
    trace = ours(tokenizer).trace("The [MASK]")
    with pytest.raises(ValueError, match=r"Block 0 \(from 0\) does not come after block 0"):
        neuron_paths(trace, 0, 1, 0)
    with pytest.raises(ValueError, match="There is no block 2"):
        neuron_paths(trace, 0, 1, 2)
    with pytest.raises(ValueError, match="no neuron 32"):
        neuron_paths(trace, 0, 32, 1)
    stranger = Stranger(tokenizer).trace("the cat")
    assert neuron_paths(stranger, 0, 1, 2, token=-1).direct.isfinite().all()


@pytest.mark.parametrize("family", [*KINDS, "BERT"])
@pytest.mark.parametrize("at", PLACES)
def test_gradients_are_those_that_autograd_keeps_at_a_hook(family: str, at: str) -> None:
    network, measure, ids = setup_of(family)
    last = ids.shape[1] - 1
    if at == "middle" and family == "GPT-NeoX":  # attention and FFN side by side
        with pytest.raises(NotForThisNetwork, match="side by side"):
            gradient_attribution(network, SOURCE, measure, at=at, token=last)
        return
    found = gradient_attribution(network, SOURCE, measure, at=at, token=last)
    for block in range(2):
        kept: list[Tensor] = []
        with hooks(family, (block, at, keeping(kept))) as model:
            logits = model(input_ids=ids).logits[0, last]
        (gradient,) = torch.autograd.grad(logits[5] - logits[9], kept)
        assert_allclose(found.gradient[block], gradient[0], atol=3e-5)
        assert_allclose(found.activation[block], kept[0][0].detach(), atol=2e-5)
    assert_allclose(found.product, found.gradient * found.activation)
    assert_allclose(found.towards(found.activation + 1), found.gradient, atol=1e-6)
    assert not found.gradient.requires_grad


@pytest.mark.parametrize("family", [*KINDS, "Qwen3", "Gemma 2", "BERT"])
@pytest.mark.parametrize("at", ["hidden", "heads", "output"])
def test_the_losss_gradient_is_that_of_transformers_own_loss(family: str, at: str) -> None:
    network, off = network_of_kind(family), Edit(0, scale=0.5, tokens=[1], at="input")
    text, words = (SOURCE, None) if family != "BERT" else ("the [MASK] sat [MASK]", [5, 9])
    ids = ids_of(network, text)
    labels = ids.clone()
    if words is not None:
        masks = ids[0].eq(network.tokenizer.mask_id or 0).nonzero()[:, 0]
        labels = torch.full_like(ids, -100)  # no word is asked for
        labels[0, masks] = torch.tensor(words)
    found = loss_gradient(network, text, at=at, words=words, edits=off)
    factor = torch.ones(ids.shape[1], 1).index_fill(0, torch.tensor([1]), 0.5)
    for block in range(2):
        kept: list[Tensor] = []
        halved = (0, "input", lambda x: x * factor)
        with hooks(family, halved, (block, at, keeping(kept))) as model:
            loss = model(input_ids=ids, labels=labels).loss
        (gradient,) = torch.autograd.grad(loss, kept)
        assert_allclose(found.gradient[block], gradient[0], atol=3e-5)
        assert found.value == pytest.approx(float(loss.detach()), abs=1e-5)
    assert found.gradient.abs().max() > 1e-3


def test_on_ours_a_small_step_along_the_gradient_is_what_it_says(tokenizer: Tokenizer) -> None:
    """Finite differences in float64."""
    network = ours(tokenizer, activation="gelu")
    network.encoder.double()
    text, measure, step = "The [MASK] sat on the [MASK].", logit_difference(network, 7, 8), 1e-5
    place = network.trace(text).ids.tolist().index(tokenizer.mask_id)
    found = gradient_attribution(network, text, measure, token=place)
    for block, token, neuron in ((0, 1, 3), (1, 2, 30)):
        more, less = (
            network.trace(text, Edit(block, [neuron], add=moved, tokens=[token])).logits_at(place)
            for moved in (step, -step)
        )
        slope = float(measure(more) - measure(less)) / (2 * step)
        assert float(found.gradient[block, token, neuron]) == pytest.approx(slope, rel=1e-4)
    causal = ours(tokenizer, causal=True)
    ids = causal.trace("The cat sat").ids
    told = torch.nn.functional.cross_entropy(causal.encoder(ids).logits[:-1], ids[1:])
    assert loss_gradient(causal, "The cat sat").value == pytest.approx(float(told), abs=1e-5)


def test_a_loss_or_a_gradient_that_is_not_there_is_said(tokenizer: Tokenizer) -> None:
    network, stranger = ours(tokenizer), Stranger(tokenizer)
    with pytest.raises(ValueError, match="reads both ways: say which words"):
        loss_gradient(network, "The cat sat")
    with pytest.raises(ValueError, match="has 1 mask, and words has 2 entries"):
        loss_gradient(network, "The [MASK] sat", words=[5, 6])
    with pytest.raises(ValueError, match="has 0 masks"):
        loss_gradient(network, "The cat sat", words=[])
    with pytest.raises(ValueError, match="no next one to predict"):
        loss_gradient(ours(tokenizer, causal=True), "[MASK]")
    with pytest.raises(NotForThisNetwork, match="no pass with gradients"):
        loss_gradient(stranger, "the man sat")
    with pytest.raises(NotForThisNetwork, match="no pass with gradients"):
        gradient_attribution(stranger, "the cat", logit_difference(stranger, 3))


@pytest.mark.parametrize("family", KINDS)
def test_steering_is_a_hook_that_adds(family: str) -> None:
    network, _, ids = setup_of(family)
    direction = torch.randn(32, generator=torch.Generator().manual_seed(3))
    trace = steer(network, SOURCE, direction, 0, 2.5)
    told = by_hand(family, ids, (0, "output", lambda x: x + 2.5 * direction))
    assert_allclose(trace.logits, told, atol=5e-5)
    here = steer(network, SOURCE, direction, 1, tokens=[2], at="input")
    at_2 = torch.eye(ids.shape[1])[2, :, None] * direction
    told = by_hand(family, ids, (1, "input", lambda x: x + at_2))
    assert_allclose(here.logits, told, atol=5e-5)


def test_a_contrast_is_a_difference_of_means_with_its_standard_error() -> None:
    network = network_of_kind("Llama")
    others = [SOURCE, "it", "the door"]
    found = contrast(network, REFERENCE, others, 1)
    rows = [torch.stack([seen("Llama", ids_of(network, text), 1, "output")[-1] for text in some])
            .double().numpy() for some in (REFERENCE, others)]  # fmt: skip
    assert_allclose(found.direction, rows[0].mean(0) - rows[1].mean(0), atol=1e-5)
    expected = sum(each.var(0, ddof=1) / 3 for each in rows) ** 0.5
    assert_allclose(found.error, expected, atol=1e-5)
    with pytest.raises(ValueError, match="at least two texts of each kind"):
        contrast(network, REFERENCE, ["a"], 1)
    with pytest.raises(ValueError, match="no block 2"):
        contrast(network, REFERENCE, others, 2)


FIRST = {"GPT-2": "mlp.c_fc", "GPT-NeoX": "mlp.dense_h_to_4h", "Llama": "mlp.gate_proj",
         "Granite": "mlp.gate_proj"}  # fmt: skip

NORMS = {"GPT-2": "ln_2", "GPT-NeoX": "post_attention_layernorm",
         "Llama": "post_attention_layernorm", "Granite": "post_attention_layernorm"}  # fmt: skip
Seen = tuple[Tensor, Tensor]
PLACE, NEURON = 3, 11


def pre_activation(family: str, ids: Tensor, *changes: tuple[int, str, Change]) -> Seen:
    """Block 1's pre-activations at PLACE, (d_ff,), and the stream that its norm reads, by hooks."""
    found = dict[str, Tensor]()
    with hooks(family, *changes) as model:
        module_of(model, family, 1, FIRST[family]).register_forward_hook(
            lambda _, __, told: found.update(pre=told[0, PLACE].clone())
        )
        module_of(model, family, 1, NORMS[family]).register_forward_pre_hook(
            lambda _, args: found.update(stream=args[0][0, PLACE].clone())
        )
        logits_of(model, ids)
    return found["pre"].double(), found["stream"].double()


@pytest.mark.parametrize("family", KINDS)
def test_direct_and_total_are_what_hooks_and_the_norm_written_out_give(family: str) -> None:
    network: ExternalNetwork = network_of_kind(family)
    ids, trace = ids_of(network, SOURCE), network.trace(SOURCE)
    found = neuron_paths(trace, 0, NEURON, 1, token=PLACE, k=4)
    without = (0, "hidden", put(torch.tensor(0.0), PLACE, NEURON))
    pre, stream = pre_activation(family, ids)
    assert_allclose(found.total, pre - pre_activation(family, ids, without)[0], atol=2e-5)
    model = bare(family)
    norm, first = (module_of(model, family, 1, name) for name in (NORMS[family], FIRST[family]))
    hidden = seen(family, ids, 0, "hidden")[PLACE, NEURON].double()
    wrote = hidden * network.ffn(0).values[NEURON].double()
    if hasattr(norm, "bias"):
        part, x = wrote - wrote.mean(), stream - stream.mean()
        sigma = (x.square().mean() + norm.eps).sqrt()
    else:
        part, sigma = wrote, (stream.square().mean() + norm.variance_epsilon).sqrt()
    weight = first.weight.detach().double()
    weight = weight if weight.shape[0] == len(pre) else weight.T
    direct = weight @ (norm.weight.detach().double() * part / sigma)
    assert_allclose(found.direct, direct, atol=1e-5)
    assert_allclose(found.direct + found.rest, found.total)
    assert set(found.strongest.tolist()) == set(abs(found.direct).argsort()[-4:].tolist())
    # An edited trace is compared with a pass that has its edits.
    edited = network.trace(SOURCE, [Edit(0, [5], value=3.0)])
    found = neuron_paths(edited, 0, NEURON, 1, token=PLACE)
    three = (0, "hidden", put(torch.tensor(3.0), slice(None), 5))
    told = pre_activation(family, ids, three)[0] - pre_activation(family, ids, three, without)[0]
    assert_allclose(found.total, told, atol=1e-5)
