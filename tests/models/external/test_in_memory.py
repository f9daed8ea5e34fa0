"""A network in memory: proved like a folder, left as it was, read to its own limit, and changed.

What is new is right, and what is old is refused.
"""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers as T  # noqa: N812
from numpy.testing import assert_allclose
from torch import nn

import ffnviz
from ffnviz.models.config import NetworkRequest
from ffnviz.models.edit import Edit
from ffnviz.models.external.network import ExternalNetwork
from ffnviz.models.external.opening import from_module, open_external
from ffnviz.models.external.proof import LONGEST, UNSAID, longest_text
from ffnviz.models.external.refusal import CannotOpenError
from ffnviz.models.registry import load
from ffnviz.models.weights import WeightsChangedError
from tests.models.external.families import FAMILIES, GPT2, SIZES, build, two_texts
from tests.models.external.folders import save_with
from tests.models.external.tokenizers import byte_level, metaspace

TEXT = "the cat sat on the mat"


def gpt2(**changes: Any) -> Any:
    return build(lambda: T.GPT2LMHeadModel(T.GPT2Config(**{**GPT2, **changes})))


def opened(**changes: Any) -> tuple[Any, ExternalNetwork]:
    model = gpt2(**changes)
    return model, from_module(model, byte_level(), "mine")


def test_the_network_and_its_tokenizer_stay_as_they_were() -> None:
    model, tokenizer = gpt2(), byte_level()
    model.requires_grad_(True)
    tokenizer.backend_tokenizer.enable_truncation(3)
    with torch.inference_mode():
        before = model(input_ids=two_texts()).logits
        network = from_module(model, tokenizer)
        assert torch.equal(model(input_ids=two_texts()).logits, before)
    assert network.label == "GPT2LMHeadModel"
    assert tokenizer.backend_tokenizer.truncation["max_length"] == 3
    assert len(network.trace(TEXT).tokens) > 3
    keys = network.ffn(0).keys  # outside inference mode, of weights that want gradients
    assert_allclose(keys, model.transformer.h[0].mlp.c_fc.weight.detach().mT)
    assert not keys.requires_grad


def test_another_proof_or_copy_runs_its_own_weights_and_edits_once() -> None:
    """Also where the rest behind the last stream was run: blocks then hand on what is given."""
    model, network = opened()
    other = copy.deepcopy(model)
    for weight in other.transformer.h.parameters():
        weight.zero_()
    with torch.inference_mode():
        told = other.transformer.h[0](torch.ones(1, 2, 32))
    assert torch.equal(told, torch.ones(1, 2, 32))  # with no weights a block adds nothing
    edits = [Edit(0, range(9), scale=3.0), Edit(1, scale=2.0, at="attention")]
    expected = network.trace(TEXT, edits, hold="all").logits
    again, twin = from_module(model, byte_level()), copy.deepcopy(network)
    for each in (again, network, twin):
        assert torch.equal(each.trace(TEXT, edits).logits, expected)
    step(model)
    assert torch.equal(twin.trace(TEXT, edits).logits, expected), "it is watched by itself"
    assert not torch.equal(network.trace(TEXT, edits).logits, expected)


def test_what_cannot_be_seen_is_refused_in_a_sentence() -> None:
    tokenizer = byte_level()
    with pytest.raises(CannotOpenError, match=r"training mode.*model.eval\(\)"):
        from_module(gpt2().train(), tokenizer)
    with pytest.raises(CannotOpenError, match="Linear: it is not a transformers network"):
        from_module(nn.Linear(2, 2), tokenizer)
    with torch.device("meta"):
        empty = FAMILIES["GPT-2"]().eval()
    with pytest.raises(CannotOpenError, match="on the device meta, where they have no values"):
        from_module(empty, tokenizer)
    with pytest.raises(
        CannotOpenError, match=r"mine: .*not tested with weights of this kind \(float8_e5m2\)"
    ):
        from_module(gpt2().to(torch.float8_e5m2), tokenizer, "mine")
    with pytest.raises(CannotOpenError, match="does not say which characters"):
        from_module(gpt2(), object())


@pytest.mark.parametrize("family", ["GPT-2", "BERT", "Gemma 4"])
def test_a_network_in_float64_opens_and_is_the_network(family: str) -> None:
    """Its own float64 pass is the reference."""
    model: Any = build(FAMILIES[family]).double()
    network = from_module(model, metaspace(), family)
    ids = two_texts()
    with torch.no_grad():
        told = model(input_ids=ids, output_hidden_states=True)
    run = network.run(ids)
    assert run.logits.dtype == torch.float64
    assert_allclose(run.logits, told.logits, atol=1e-12)
    assert_allclose(run.blocks[1].input, told.hidden_states[1], atol=1e-12)
    assert max(network.proof.errors.values()) < 1e-9


# It is read to its own limit.


def test_a_long_text_is_read_to_the_networks_own_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, network = opened(n_positions=140, n_layer=1)
    assert network.sizes.max_tokens == 140
    trace = network.trace("the cat " * 200)
    assert len(trace.tokens) == 140 > LONGEST
    with torch.inference_mode():
        told = model(input_ids=trace.ids[None]).logits[0]
    assert_allclose(trace.logits, told, atol=2e-5)
    assert network.sizes.trace_nbytes(140) == trace.nbytes - trace.ids.nbytes - told.nbytes
    assert ffnviz.show(trace).html.startswith("<!")  # a file keeps the beginning
    assert from_module(model, byte_level(), longest=130).sizes.max_tokens == 130
    save_with(model, tmp_path)
    assert load(tmp_path).sizes.max_tokens == 140
    asked = NetworkRequest(str(tmp_path))  # as pages do
    assert open_external(asked, longest=LONGEST).sizes.max_tokens == LONGEST
    relative = build(FAMILIES["T5's encoder"])  # without a table that ends somewhere
    assert longest_text(relative, two_texts()) == UNSAID
    assert longest_text(relative, two_texts(), 50) == 50
    # A stream that does not fit is refused before it is computed.
    monkeypatch.setattr("ffnviz.models.external.memory.RESERVED_BYTES", 1_000)
    monkeypatch.setattr("ffnviz.models.external.memory.free_bytes", lambda _: 20_000)
    assert network.trace("a cat").tokens
    with pytest.raises(MemoryError, match="The stream of 140 tokens takes 54 kB"):
        network.trace("the cat " * 200)


@pytest.mark.parametrize("padding", [0, 1, 2, 3, 40])
def test_the_longest_text_is_the_longest_that_runs_whatever_token_is_padding(padding: int) -> None:
    config = T.RobertaConfig(**{**SIZES, "max_position_embeddings": 514}, pad_token_id=padding)
    model: Any = build(lambda: T.RobertaForMaskedLM(config))
    ran: list[int] = []
    hook = model.roberta.encoder.layer[1].register_forward_hook(lambda *_: ran.append(1))
    found = longest_text(model, two_texts())
    assert found == 514 - padding - 1  # its first position is the one after that of padding
    assert not ran, "no block behind the first runs"
    hook.remove()
    word = torch.tensor([[next(i for i in range(5, 97) if i != padding)]])
    assert model(input_ids=word.expand(1, found)).logits.shape[1] == found
    with pytest.raises((IndexError, RuntimeError), match="index"):
        model(input_ids=word.expand(1, found + 1))


def reuse(layer: nn.Module, by_data: bool) -> None:
    """Have a layer write each result where it wrote the one before."""
    inner, rooms = layer.forward, dict[torch.Size, torch.Tensor]()

    def forward(x: torch.Tensor) -> torch.Tensor:
        made: torch.Tensor = inner(x)
        room = rooms.setdefault(made.shape, torch.empty_like(made))
        (room.data if by_data else room).copy_(made)
        return room

    layer.forward = forward


class InPlace(nn.Module):
    """ReLU that changes what it reads."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.relu_()


@pytest.mark.parametrize("way", ["in place", "room used again", "past the version"])
def test_what_a_network_writes_over_is_kept_as_it_was(way: str) -> None:
    _, plain = opened(activation_function="relu")
    changed = gpt2(activation_function="relu")
    for block in changed.transformer.h:
        if way == "in place":
            block.mlp.act = InPlace().eval()
        else:
            reuse(block.mlp.c_fc, by_data=way == "past the version")
    other = from_module(changed, byte_level())
    traces = [(plain.trace(text, hold="all"), other.trace(text, hold="all"))
              for text in (TEXT, "the mat sat on the cat")]  # fmt: skip
    for expected, found in traces:
        for one, same in zip(expected.blocks, found.blocks, strict=True):
            for name, stage in vars(one.ffn).items():
                assert torch.equal(stage, getattr(same.ffn, name)), name
            assert torch.equal(one.output, same.output)


# It may change after it was opened.


def step(model: nn.Module) -> None:
    """One step of an optimiser."""
    model.requires_grad_(True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    model(input_ids=torch.tensor([[1, 2, 3]])).logits.square().mean().backward()
    optimizer.step()


def new_weight(layer: Any) -> None:
    layer.weight = nn.Parameter(2 * layer.weight.detach())


def other_phi(model: Any) -> None:
    for block in model.transformer.h:
        block.mlp.act = nn.ReLU().eval()


CHANGES: dict[str, Callable[[Any], object]] = {
    "a step": step,
    "in place": torch.no_grad()(lambda model: model.transformer.h[0].mlp.c_fc.weight.mul_(1.5)),
    "loaded": lambda model: model.load_state_dict(
        {name: 1.1 * weight for name, weight in model.state_dict().items()}
    ),
    "a new weight": lambda model: new_weight(model.transformer.h[1].mlp.c_fc),
    "another φ": other_phi,
    "another type": lambda model: model.double(),
}


@pytest.mark.parametrize("change", CHANGES)
def test_later_passes_are_the_changed_networks_and_an_earlier_trace_refuses(change: str) -> None:
    model, network = opened()
    before, had = network.trace(TEXT), network.fingerprint
    held = network.trace(TEXT, hold="all")
    stream, hidden = before.final.clone(), before.blocks[0].ffn.hidden.clone()
    CHANGES[change](model)
    assert torch.equal(before.final, stream)
    assert torch.equal(before.blocks[0].ffn.hidden, hidden)
    assert torch.equal(held.blocks[0].ffn.hidden, hidden), "what is held stays"
    assert held.blocks[1].attention.weights.shape[0] == 4
    for late in (
        lambda: before.logits, lambda: before.logits_at(0), lambda: before.blocks[1].ffn,
        lambda: before.blocks[0].attention,
    ):  # fmt: skip
        with pytest.raises(WeightsChangedError, match="weights changed after this trace was made"):
            late()
    if change not in ("another φ", "another type"):  # no weights; the same numbers
        assert network.fingerprint != had

    after = network.trace(TEXT)
    with torch.no_grad():
        told = model(input_ids=after.ids[None], output_hidden_states=True)
    assert_allclose(after.logits, told.logits[0], atol=1e-5)
    assert not torch.equal(after.final, before.final)
    assert network.ffn(0).keys.shape == (128, 32)  # views of the old weights are let go of, too
    for block, stage in enumerate(after.blocks):
        hidden, view = stage.ffn.hidden, network.ffn(block)
        assert_allclose(view.stages(stage.ffn.input).hidden, hidden, atol=1e-5)
        assert_allclose(view.write(hidden), stage.ffn.output, atol=1e-5)
    measure = ffnviz.logit_difference(network, 5)
    assert abs(ffnviz.logit_attribution(after, measure).residue) < 1e-4


def test_a_view_that_is_the_first_thing_asked_for_is_of_the_changed_network() -> None:
    model, network = opened()
    CHANGES["another φ"](model)
    assert network.ffn(0).phi.name == "relu"


def test_what_changed_past_all_watching_is_at_least_computed() -> None:
    model, network = opened()
    before = network.trace(TEXT).final
    model.transformer.h[0].mlp.c_proj.weight.data.zero_()
    assert not torch.equal(network.trace(TEXT).final, before)
    model.transformer.h[1].mlp.act = nn.Dropout(0.5).train(False)
    model.transformer.h[1].mlp.c_proj = nn.Sequential(nn.Linear(128, 32), nn.Tanh())
    with pytest.raises(CannotOpenError, match="it has changed since it was opened"):
        network.trace(TEXT)


CALLS: list[Callable[[ExternalNetwork], Any]] = [
    lambda n: n.trace(TEXT), lambda n: n.run(torch.tensor([1, 2])), lambda n: n.ffn(0),
    lambda n: next(n.traces([TEXT])), lambda n: n.logits(torch.zeros(1, 32)),
    lambda n: n.show_hidden(torch.tensor([1]), [0], lambda _: None),
    lambda n: n.heads(0), lambda n: n.logits_with_gradients(torch.tensor([1, 2])),
]  # fmt: skip


def test_in_training_mode_every_pass_is_refused() -> None:
    model, network = opened()
    earlier = network.trace(TEXT)
    model.transformer.h[1].attn.train()  # one module is enough
    with pytest.raises(CannotOpenError, match="training mode"):
        network.trace(TEXT)
    model.train()
    for call in CALLS:
        with pytest.raises(CannotOpenError, match=r"training mode.*model.eval\(\)"):
            call(network)
    with pytest.raises(WeightsChangedError, match="training mode"):
        _ = earlier.logits
    model.eval()
    for call in CALLS:
        call(network)
    assert torch.equal(earlier.logits, network.trace(TEXT).logits)


def test_ours_are_watched_as_others_are() -> None:
    network = copy.deepcopy(ffnviz.load("relu"))
    trace, had = network.trace(TEXT), network.fingerprint
    with torch.no_grad():
        network.encoder.blocks[0].ffn.expand.weight.mul_(1.01)
    for late in (lambda: trace.logits, lambda: trace.blocks[1].attention):
        with pytest.raises(WeightsChangedError):
            late()
    assert network.fingerprint != had
    assert not torch.equal(network.trace(TEXT).final, trace.final)
