"""Gradients against those of hooks that keep them; steering against a hook that adds."""

from typing import Any

import pytest
import torch
from numpy.testing import assert_allclose
from torch import Tensor

from ffnviz.analysis.causal.attribution import gradient_attribution, loss_gradient
from ffnviz.analysis.causal.measure import logit_difference
from ffnviz.analysis.causal.steer import contrast, steer
from ffnviz.models.edit import PLACES, Edit
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.network import NotForThisNetwork
from tests.analysis.causal.networks import (
    KINDS,
    REFERENCE,
    SOURCE,
    by_hand,
    ids_of,
    keeping,
    network_of_kind,
    seen,
    setup_of,
)
from tests.analysis.networks import Stranger, ours
from tests.models.external.by_hand import hooked


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
        model: Any = hooked(family, block, at, keeping(kept))
        logits = model(input_ids=ids).logits[0, last]
        (gradient,) = torch.autograd.grad(logits[5] - logits[9], kept)
        assert_allclose(found.gradient[block], gradient[0], atol=3e-5)
        assert_allclose(found.activation[block], kept[0][0].detach(), atol=2e-5)
    assert_allclose(found.product, found.gradient * found.activation)
    assert not found.gradient.requires_grad


@pytest.mark.parametrize("family", [*KINDS, "Qwen3", "Gemma 2", "BERT"])
@pytest.mark.parametrize("at", ["hidden", "heads", "output"])
def test_the_losss_gradient_is_that_of_transformers_own_loss(family: str, at: str) -> None:
    network, off = network_of_kind(family), Edit(0, scale=0.5, tokens=[1], at="input")
    text, words = (SOURCE, None) if family != "BERT" else ("the [MASK] sat [MASK]", [5, 9])
    ids = ids_of(network, text)
    labels = ids.clone()
    if words is not None:
        assert network.tokenizer.mask_id is not None
        masks = ids[0].eq(network.tokenizer.mask_id).nonzero()[:, 0]
        labels = torch.full_like(ids, -100)  # no word is asked for
        labels[0, masks] = torch.tensor(words)
    found = loss_gradient(network, text, at=at, words=words, edits=off)
    for block in range(2):
        kept: list[Tensor] = []

        def halve(x: Tensor) -> Tensor:
            x = x.clone()
            x[:, 1] *= 0.5
            return x

        model: Any = hooked(family, block, at, keeping(kept), hooked(family, 0, "input", halve))
        loss = model(input_ids=ids, labels=labels).loss
        (gradient,) = torch.autograd.grad(loss, kept)
        assert_allclose(found.gradient[block], gradient[0], atol=3e-5)
        assert found.value == pytest.approx(float(loss.detach()), abs=1e-5)
    assert found.gradient.abs().max() > 1e-3


def test_the_loss_falls_against_its_gradient(tokenizer: Tokenizer) -> None:
    """On ours: a step along −gradient in float64 lowers the loss by its square, to first order."""
    network = ours(tokenizer, activation="gelu")
    network.encoder.double()
    text, step = "The [MASK] sat on the [MASK].", 1e-5
    found = loss_gradient(network, text, words=[7, 8])
    plain = found.value
    edits = [
        Edit(number, add=-step * each, tokens=list(range(len(each))))
        for number, each in enumerate(found.gradient[:1])
    ]
    after = loss_gradient(network, text, words=[7, 8], edits=edits).value
    assert (plain - after) / step == pytest.approx(
        float(found.gradient[0].square().sum()), rel=1e-3
    )
    causal = ours(tokenizer, causal=True)
    ids = causal.trace("The cat sat").ids
    told = torch.nn.functional.cross_entropy(causal.encoder(ids).logits[:-1], ids[1:])
    assert loss_gradient(causal, "The cat sat").value == pytest.approx(float(told), abs=1e-5)


def test_a_loss_that_is_not_there_is_said(tokenizer: Tokenizer) -> None:
    network = ours(tokenizer)
    with pytest.raises(ValueError, match="reads both ways: say which words"):
        loss_gradient(network, "The cat sat")
    with pytest.raises(ValueError, match="has 1 mask, and words has 2 entries"):
        loss_gradient(network, "The [MASK] sat", words=[5, 6])
    with pytest.raises(ValueError, match="has 0 masks"):
        loss_gradient(network, "The cat sat", words=[])
    with pytest.raises(ValueError, match="no next one to predict"):
        loss_gradient(ours(tokenizer, causal=True), "[MASK]")
    with pytest.raises(NotForThisNetwork, match="no pass with gradients"):
        loss_gradient(Stranger(tokenizer), "the man sat")


def test_on_ours_a_small_step_along_the_gradient_is_what_it_says(tokenizer: Tokenizer) -> None:
    """A finite difference in float64."""
    network = ours(tokenizer, activation="gelu")
    network.encoder.double()
    text, measure = "The cat sat on the [MASK].", logit_difference(network, 7, 8)
    found = gradient_attribution(network, text, measure)
    for block, token, neuron in ((0, 1, 3), (1, 2, 30)):
        step = 1e-5
        place = next(i for i, t in enumerate(network.trace(text).tokens)
                     if t.id == tokenizer.mask_id)  # fmt: skip
        moved = []
        for moved_by in (step, -step):
            edit = Edit(block, [neuron], add=moved_by, tokens=[token])
            moved.append(float(measure(network.trace(text, [edit]).logits_at(place))))
        slope = (moved[0] - moved[1]) / (2 * step)
        assert float(found.gradient[block, token, neuron]) == pytest.approx(slope, rel=1e-4)


def test_towards_another_text_is_the_first_term_of_its_patch() -> None:
    network = network_of_kind("GPT-2")
    found = gradient_attribution(network, SOURCE, logit_difference(network, 5))
    other = found.activation + 1
    assert_allclose(found.towards(other), found.gradient, atol=1e-6)


def test_what_has_no_gradients_says_so(tokenizer: Tokenizer) -> None:
    stranger = Stranger(tokenizer)
    with pytest.raises(NotForThisNetwork, match="no pass with gradients"):
        gradient_attribution(stranger, "the cat", logit_difference(stranger, 3))


@pytest.mark.parametrize("family", KINDS)
def test_steering_is_a_hook_that_adds(family: str) -> None:
    network = network_of_kind(family)
    direction = torch.randn(32, generator=torch.Generator().manual_seed(3))
    trace = steer(network, SOURCE, direction, 0, 2.5)
    told = by_hand(family, ids_of(network, SOURCE), 0, "output", lambda x: x + 2.5 * direction)
    assert_allclose(trace.logits, told, atol=5e-5)
    here = steer(network, SOURCE, direction, 1, tokens=[2], at="input")

    def change(x: Tensor) -> Tensor:
        x = x.clone()
        x[:, 2] += direction
        return x

    told = by_hand(family, ids_of(network, SOURCE), 1, "input", change)
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
