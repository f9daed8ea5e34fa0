"""How many passes a trace takes: its own, and at most one more, whatever is asked of it."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from numpy.testing import assert_allclose

from ffnviz.models.edit import Edit
from ffnviz.models.external.network import ExternalNetwork
from ffnviz.models.external.opening import from_module
from ffnviz.models.trace import StreamTrace
from tests.models.external.by_hand import NAMES
from tests.models.external.conftest import TOKENIZERS
from tests.models.external.families import FAMILIES, build, two_texts

IDS = two_texts().clone()
EDITS = (Edit(0, [1, 7], value=0.5), Edit(1, heads=[2], scale=0.0, at="heads"))


@contextmanager
def counted(network: ExternalNetwork) -> Iterator[Counter[str]]:
    """How often each block and each FFN runs meanwhile."""
    runs: Counter[str] = Counter()
    modules = [(f"block {n}", p.block) for n, p in enumerate(network.proof.blocks)]
    modules += [(f"FFN {n}", p.ffn.down.module) for n, p in enumerate(network.proof.blocks)]
    handles = [
        module.register_forward_pre_hook(lambda *_, name=name: runs.update([name]))
        for name, module in modules
    ]
    try:
        yield runs
    finally:
        for handle in handles:
            handle.remove()


def everything(run: StreamTrace) -> list[Any]:
    return [(block.attention, block.ffn) for block in run.blocks]


@pytest.mark.parametrize("family", NAMES)
def test_patterns_of_all_blocks_take_one_pass_more(
    family: str, network_of: Callable[[str], ExternalNetwork]
) -> None:
    network = network_of(family)
    run = network.run(IDS)
    with counted(network) as runs:
        patterns = [block.attention.weights for block in reversed(run.blocks)]
    assert len(patterns) == len(network.proof.blocks)
    assert max(runs.values()) == 1
    with counted(network) as runs:
        _ = [block.attention.weights for block in run.blocks]
    assert not runs
    run.forget()
    assert_allclose(run.blocks[0].attention.weights, patterns[-1], atol=0)


def test_in_a_deep_network_too() -> None:
    import transformers

    torch.manual_seed(0)
    shape = transformers.GPT2Config(
        n_embd=32, n_layer=9, n_head=4, vocab_size=97, n_positions=64, bos_token_id=None,
        eos_token_id=None,
    )  # fmt: skip
    model = transformers.GPT2LMHeadModel(shape).eval().requires_grad_(False)
    network = from_module(model, TOKENIZERS["Llama"]())
    network.run(IDS)  # the first one tries short passes: does it write over its values?
    with counted(network) as runs:
        _ = [block.attention.weights for block in network.run(IDS).blocks]
    assert sum(n for name, n in runs.items() if name.startswith("block")) == 18


@pytest.mark.parametrize("family", NAMES)
@pytest.mark.parametrize("edits", [(), EDITS], ids=["plain", "edited"])
def test_what_is_held_takes_no_pass_and_is_what_would_be_computed(
    family: str, edits: tuple[Edit, ...], network_of: Callable[[str], ExternalNetwork]
) -> None:
    network = network_of(family)
    late = network.run(IDS, edits)
    with counted(network) as runs:
        held = network.run(IDS, edits, hold="all")
        made = everything(held)
    assert set(runs.values()) == {1}
    for one, (attention, ffn) in zip(late.blocks, made, strict=True):
        for name, value in vars(one.ffn).items():
            assert_allclose(getattr(ffn, name), value, atol=1e-6)
        for name in ("input", "weights", "values", "output"):
            assert_allclose(getattr(attention, name), getattr(one.attention, name), atol=1e-6)


@pytest.mark.parametrize(
    ("hold", "ffns", "heads"),
    [("ffn", {0, 1}, False), ("attention", set(), True), (1, {1}, False), ([0], {0}, False),
     (-1, {1}, False)],
)  # fmt: skip
def test_each_word_for_what_is_held(
    hold: Any, ffns: set[int], heads: bool, network_of: Callable[[str], ExternalNetwork]
) -> None:
    network = network_of("GPT-2")
    trace = network.trace("the cat", hold=hold)
    assert {n for n, block in enumerate(trace.blocks) if block.ffn_stages.held} == ffns
    with counted(network) as runs:
        _ = [block.attention.weights for block in trace.blocks]
    assert bool(runs) is not heads


def test_what_cannot_be_held_is_said(network_of: Callable[[str], ExternalNetwork]) -> None:
    for wrong in ("everything", 2, [0, 9]):
        with pytest.raises(ValueError, match=r"hold = 'everything'|no block"):
            network_of("GPT-2").trace("the cat", hold=wrong)
    with pytest.warns(DeprecationWarning, match="look_at is now called hold"):
        network_of("GPT-2").trace("the cat", look_at=1)


@pytest.mark.parametrize("family", ["GPT-2", "BERT", "Llama", "Granite", "Gemma 4"])
def test_a_network_in_float64_opens_and_is_the_network(family: str) -> None:
    """Its own float64 pass is the reference."""
    model = build(FAMILIES[family]).double()
    network = from_module(model, TOKENIZERS.get(family, TOKENIZERS["BERT"])(), family)
    with torch.no_grad():
        told = model(input_ids=IDS, output_hidden_states=True)
    run = network.run(IDS)
    assert run.logits.dtype == torch.float64
    assert_allclose(run.logits, told.logits, atol=1e-12)
    assert_allclose(run.blocks[1].input, told.hidden_states[1], atol=1e-12)
    assert max(network.proof.errors.values()) < 1e-9
