"""Edits and heads of other people's blocks, against hooks by hand and what transformers tells.

A trace takes its own pass, and at most one more, whatever is asked of it.
"""

from copy import deepcopy
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from numpy.testing import assert_allclose
from torch import Tensor

from ffnviz.models.edit import PLACES, Edit
from ffnviz.models.encoder.attention import AttentionPatterns
from ffnviz.models.external.network import ExternalNetwork
from ffnviz.models.external.opening import from_module
from ffnviz.models.network import NotForThisNetwork
from ffnviz.models.trace import BlockTrace, Trace
from tests.models.external.by_hand import NAMES, hooked, logits_of
from tests.models.external.families import FAMILIES, GPT2, build, two_texts
from tests.models.external.folders import counted, network_of
from tests.models.external.tokenizers import metaspace

IDS = two_texts().clone()
EDITS = (Edit(0, [1, 7], value=0.5), Edit(1, heads=[2], scale=0.0, at="heads"))


def patterns(block: BlockTrace) -> AttentionPatterns:
    made = block.attention
    assert isinstance(made, AttentionPatterns)
    return made


def test_patterns_and_values_are_those_of_the_network(network: ExternalNetwork) -> None:
    """As transformers tells them; with the values they make what the block adds."""
    run = network.run(IDS)
    for number, block in enumerate(run.blocks):
        made = patterns(block)
        assert_allclose(made.weights.sum(-1), torch.ones(2, 4, 8), atol=1e-6)
        assert made.values.shape[:3] == (2, 4, 8)
        if made.causal:
            assert not made.weights.triu(1).any()
        if network.card.pre_norm:
            assert_allclose(block.input + made.output, block.middle, atol=1e-5)
        if network.label in ("GPT-2", "BERT", "Llama"):
            names = NAMES[network.label]
            gathered = (made.weights @ made.values).transpose(1, 2).flatten(-2)
            project = network.model.get_submodule(f"{names.blocks}.{number}.{names.heads}")
            with torch.inference_mode():
                assert_allclose(project(gathered), made.output, atol=1e-6)
    if network.label == "Falcon":  # it tells of none
        return
    plain = deepcopy(build(FAMILIES[network.label]))  # its configuration is the family's
    plain.set_attn_implementation("eager")  # type: ignore[operator]
    with torch.inference_mode():
        told = plain(input_ids=IDS, output_attentions=True).attentions
    for block, expected in zip(run.blocks, told, strict=True):
        assert_allclose(patterns(block).weights, expected, atol=1e-5)


def test_that_there_are_no_queries_is_said() -> None:
    attention: Any = network_of("Llama").run(IDS).blocks[0].attention
    for name in ("queries", "keys"):
        with pytest.raises(AttributeError, match="may rotate, cap or shift its scores"):
            getattr(attention, name)
    with pytest.raises(AttributeError, match="no attribute 'query'"):
        _ = attention.query
    assert not hasattr(attention, "queries")
    assert torch.equal(deepcopy(attention).weights, attention.weights)


def test_one_of_a_batch_and_one_from_a_file_have_theirs(tmp_path: Path) -> None:
    network = network_of("Llama")
    alone = network.trace("the cat")
    together = list(network.traces(["the cat sat on the mat", "the cat"]))[1]
    assert_allclose(
        patterns(together.blocks[1]).weights, patterns(alone.blocks[1]).weights, atol=1e-6
    )
    alone.save(tmp_path / "trace")
    kept = patterns(Trace.load(tmp_path / "trace").blocks[1])
    assert torch.equal(kept.weights, patterns(alone.blocks[1]).weights)
    assert kept.causal


@pytest.mark.parametrize("family", NAMES)
def test_patterns_of_all_blocks_take_one_pass_more(family: str) -> None:
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
    config = transformers.GPT2Config(**{**GPT2, "n_layer": 9})
    network = from_module(build(lambda: transformers.GPT2LMHeadModel(config)), metaspace())
    network.run(IDS)  # the first one tries short passes: does it write over its values?
    with counted(network) as runs:
        _ = [block.attention.weights for block in network.run(IDS).blocks]
    assert sum(n for name, n in runs.items() if name.startswith("block")) == 18


@pytest.mark.parametrize("family", NAMES)
def test_what_is_held_takes_no_pass_and_is_what_would_be_computed(family: str) -> None:
    network = network_of(family)
    # Before and after each block, between its halves, and where more is added behind the FFN;
    # what one writes the next one reads.
    most = IDS.numel() * (network.sizes.trace_nbytes(1) + 8)
    for edits in ((), EDITS):
        late = network.run(IDS, edits)
        assert late.nbytes <= most, "streams alone"
        with counted(network) as runs:
            held = network.run(IDS, edits, hold="all")
            made = [(block.attention, block.ffn) for block in held.blocks]
        assert set(runs.values()) == {1}
        for one, (attention, ffn) in zip(late.blocks, made, strict=True):
            for name, value in vars(one.ffn).items():
                assert torch.equal(getattr(ffn, name), value), name
            for name in ("input", "weights", "values", "output"):
                assert_allclose(getattr(attention, name), getattr(one.attention, name), atol=1e-6)
        assert late.nbytes > most
        late.forget()
        assert late.nbytes <= most


@pytest.mark.parametrize(
    ("hold", "ffns", "heads"),
    [("ffn", {0, 1}, False), ("attention", set(), True), (1, {1}, False), ([0], {0}, False),
     (-1, {1}, False)],
)  # fmt: skip
def test_each_word_for_what_is_held(hold: Any, ffns: set[int], heads: bool) -> None:
    network = network_of("GPT-2")
    trace = network.trace("the cat", hold=hold)
    assert {n for n, block in enumerate(trace.blocks) if block.ffn_stages.held} == ffns
    with counted(network) as runs:
        _ = [block.attention.weights for block in trace.blocks]
    assert bool(runs) is not heads


def test_what_cannot_be_held_is_said() -> None:
    for wrong in ("everything", 2, [0, 9]):
        with pytest.raises(ValueError, match=r"hold = 'everything'|no block"):
            network_of("GPT-2").trace("the cat", hold=wrong)
    with pytest.warns(DeprecationWarning, match="look_at is now called hold"):
        network_of("GPT-2").trace("the cat", look_at=1)


# Edits at every place.

DRAWN = torch.randn(3, 4, generator=torch.Generator().manual_seed(5))
WHICH, TOKENS = [1, 7, 30, 2], [0, 5, 6]


def fixed(x: Tensor) -> Tensor:
    x = x.clone()
    x[:, torch.tensor(TOKENS)[:, None], torch.tensor(WHICH)] = DRAWN
    return x


def moved(x: Tensor) -> Tensor:
    x = x.clone()
    x[..., torch.tensor(WHICH)] += DRAWN[0]
    return x


def scaled(x: Tensor) -> Tensor:
    x = x.clone()
    x[:, 5] *= -0.5
    return x


@pytest.mark.parametrize("at", PLACES)
@pytest.mark.parametrize("family", NAMES)
def test_an_edit_is_what_a_hook_by_hand_does(family: str, at: str) -> None:
    network = network_of(family)
    if at == "middle" and not NAMES[family].middle:  # attention and FFN side by side
        with pytest.raises(NotForThisNetwork, match="side by side"):
            network.run(IDS, [Edit(1, scale=0.0, at=at)])
        return
    run = network.run(IDS, [
        Edit(1, WHICH, value=DRAWN, tokens=TOKENS, at=at), Edit(1, WHICH, add=DRAWN[0], at=at),
        Edit(1, scale=-0.5, tokens=[5], at=at),
    ])  # fmt: skip
    model = hooked(family, 1, at, lambda x: scaled(moved(fixed(x))))
    if network.head is not None:
        made = run.logits
    else:  # then it gives the stream behind its last norm
        made = network.model.encoder.final_layer_norm(run.final)  # type: ignore[union-attr,operator]
    assert_allclose(made, logits_of(model, IDS), atol=3e-5)
    assert not torch.allclose(run.final, network.run(IDS).final, atol=1e-4)
    if at not in ("middle", "heads"):  # the patterns of the next block, where there is one more
        run = network.run(IDS, [Edit(0, scale=0.0, at=at)])
        model = deepcopy(hooked(family, 0, at, torch.zeros_like))
        model.set_attn_implementation("eager")  # type: ignore[operator]
        with torch.inference_mode():
            told = model(input_ids=IDS, output_attentions=True).attentions
        assert_allclose(run.blocks[1].attention.weights, told[1], atol=1e-5)


def test_what_a_trace_shows_is_what_was_edited(one_of_a_kind: ExternalNetwork) -> None:
    """At each place: fixed values are found there, and streams before it are as they were."""
    network = one_of_a_kind
    plain = network.run(IDS)
    for at in ("input", "middle", "hidden", "ffn", "output"):
        if at == "middle" and network.proof.blocks[1].stream.kind == "parallel":
            continue
        width = network.sizes.d_ff if at == "hidden" else network.sizes.d_model
        values = torch.randn(8, width, generator=torch.Generator().manual_seed(6))
        run = network.run(IDS, [Edit(1, value=values, at=at)])
        block, ffn = run.blocks[1], run.blocks[1].ffn
        found = attrgetter({"hidden": "ffn.hidden", "ffn": "ffn.output"}.get(at, at))(block)
        assert_allclose(found, values.expand(2, 8, -1), atol=1e-5)
        assert torch.equal(run.blocks[0].output, plain.blocks[0].output)
        if at in ("hidden", "ffn", "output"):
            assert torch.equal(block.middle, plain.blocks[1].middle)
        if at in ("hidden", "ffn"):
            with_it = network.stream_with(plain, 1, ffn.output)
            assert_allclose(with_it, run.blocks[-1].output, atol=1e-4)
        if at == "hidden":
            assert_allclose(ffn.output, network.ffn(1).write(ffn.hidden), atol=1e-5)
    assert all(proved.attention is not None for proved in network.proof.blocks)
    direction = torch.arange(32.0)
    run = network.run(IDS, [Edit(0, add=direction, tokens=[3], at="attention")])
    apart = run.blocks[0].middle - plain.blocks[0].middle
    assert apart[:, 3].any()
    if network.card.pre_norm:
        assert_allclose(apart[:, 3], direction.expand(2, -1), atol=1e-5)
        assert not apart[:, :3].any()
