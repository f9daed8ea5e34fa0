"""Networks that change after they were opened: what is new is right, and what is old is refused."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from numpy.testing import assert_allclose
from torch import nn

import ffnviz
from ffnviz.models.edit import Edit
from ffnviz.models.external.network import ExternalNetwork
from ffnviz.models.external.opening import from_module
from ffnviz.models.external.refusal import CannotOpenError
from ffnviz.models.weights import WeightsChangedError
from tests.models.external.conftest import TOKENIZERS
from tests.models.external.families import FAMILIES, build

TEXT = "the cat sat"


def opened() -> tuple[Any, ExternalNetwork]:
    model: Any = build(FAMILIES["GPT-2"])
    return model, from_module(model, TOKENIZERS["Llama"](), "mine")


def step(model: nn.Module) -> None:
    """One step of an optimiser."""
    model.requires_grad_(True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    model(input_ids=torch.tensor([[1, 2, 3]])).logits.square().mean().backward()
    optimizer.step()


@torch.no_grad()
def scaled(model: Any) -> None:
    model.transformer.h[0].mlp.c_fc.weight.mul_(1.5)


def loaded(model: Any) -> None:
    state = {name: 1.1 * weight for name, weight in model.state_dict().items()}
    model.load_state_dict(state)


def replaced(model: Any) -> None:
    for block in model.transformer.h:
        block.mlp.act = nn.ReLU().eval()


def new_weight(model: Any) -> None:
    fc = model.transformer.h[1].mlp.c_fc
    fc.weight = nn.Parameter(2 * fc.weight.detach())


def other_type(model: Any) -> None:
    model.double()


CHANGES: list[Callable[[Any], None]] = [step, scaled, loaded, replaced, new_weight, other_type]


@pytest.mark.parametrize("change", CHANGES)
def test_later_passes_are_the_changed_networks(change: Callable[[Any], None]) -> None:
    model, network = opened()
    before = network.trace(TEXT)
    change(model)
    after = network.trace(TEXT)
    with torch.no_grad():
        told = model(input_ids=after.ids[None], output_hidden_states=True)
    assert_allclose(after.logits, told.logits[0], atol=1e-5)
    assert not torch.equal(after.final, before.final)
    rebuilt = network.ffn(0)  # views of the old weights are let go of, too
    for block, stage in enumerate(after.blocks):
        hidden, view = stage.ffn.hidden, network.ffn(block)
        assert_allclose(view.stages(stage.ffn.input).hidden, hidden, atol=1e-5)
        assert_allclose(view.write(hidden), stage.ffn.output, atol=1e-5)
    assert rebuilt.keys.shape == (128, 32)
    measure = ffnviz.logit_difference(network, 5)
    assert abs(ffnviz.logit_attribution(after, measure).residue) < 1e-4


@pytest.mark.parametrize("change", CHANGES)
def test_an_earlier_trace_keeps_what_it_has_and_refuses_the_rest(
    change: Callable[[Any], None],
) -> None:
    model, network = opened()
    trace, had = network.trace(TEXT), network.fingerprint
    stream, hidden = trace.final.clone(), trace.blocks[0].ffn.hidden.clone()
    change(model)
    assert torch.equal(trace.final, stream)
    assert torch.equal(trace.blocks[0].ffn.hidden, hidden)
    for late in (
        lambda: trace.logits, lambda: trace.logits_at(0), lambda: trace.blocks[1].ffn,
        lambda: trace.blocks[0].attention,
    ):  # fmt: skip
        with pytest.raises(WeightsChangedError, match="weights changed after this trace was made"):
            late()
    if change not in (replaced, other_type):  # no weights; the same numbers
        assert network.fingerprint != had


def test_what_is_held_stays_after_a_step() -> None:
    model, network = opened()
    trace = network.trace(TEXT, hold="all")
    step(model)
    for block in trace.blocks:
        assert block.ffn.hidden.shape == (len(trace.tokens), 128)
        assert block.attention.weights.shape[0] == 4


@pytest.mark.parametrize("call", [
    lambda n: n.trace(TEXT), lambda n: n.run(torch.tensor([1, 2])), lambda n: n.ffn(0),
    lambda n: next(n.traces([TEXT])), lambda n: n.logits(torch.zeros(1, 32)),
    lambda n: n.show_hidden(torch.tensor([1]), [0], lambda _: None),
    lambda n: n.heads(0), lambda n: n.logits_with_gradients(torch.tensor([1, 2])),
])  # fmt: skip
def test_in_training_mode_every_pass_is_refused(call: Callable[[ExternalNetwork], Any]) -> None:
    model, network = opened()
    earlier = network.trace(TEXT)
    model.train()
    with pytest.raises(CannotOpenError, match=r"training mode.*model.eval\(\)"):
        call(network)
    with pytest.raises(WeightsChangedError, match="training mode"):
        _ = earlier.logits
    model.eval()
    call(network)
    assert torch.equal(earlier.logits, network.trace(TEXT).logits)


def test_one_module_in_training_mode_is_enough() -> None:
    model, network = opened()
    model.transformer.h[1].attn.train()
    with pytest.raises(CannotOpenError, match="training mode"):
        network.trace(TEXT)


def test_one_that_changed_beyond_what_is_seen_says_so() -> None:
    model, network = opened()
    model.transformer.h[1].mlp.act = nn.Dropout(0.5).train(False)
    model.transformer.h[1].mlp.c_proj = nn.Sequential(nn.Linear(128, 32), nn.Tanh())
    with pytest.raises(CannotOpenError, match="it has changed since it was opened"):
        network.trace(TEXT)


def test_a_copy_is_watched_by_itself() -> None:
    model, network = opened()
    twin, edits = copy.deepcopy(network), [Edit(0, scale=3.0), Edit(1, scale=2.0, at="attention")]
    expected = network.trace(TEXT, edits, hold="all").logits
    assert torch.equal(twin.trace(TEXT, edits).logits, expected)
    step(model)
    assert torch.equal(twin.trace(TEXT, edits).logits, expected)
    assert not torch.equal(network.trace(TEXT, edits).logits, expected)


def test_ours_are_watched_as_others_are() -> None:
    network = copy.deepcopy(ffnviz.load("relu"))
    trace, had = network.trace(TEXT), network.fingerprint
    with torch.no_grad():
        network.encoder.blocks[0].ffn.expand.weight.mul_(1.01)
    with pytest.raises(WeightsChangedError):
        _ = trace.logits
    with pytest.raises(WeightsChangedError):
        _ = trace.blocks[1].attention
    assert network.fingerprint != had
    assert not torch.equal(network.trace(TEXT).final, trace.final)
