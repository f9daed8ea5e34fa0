"""What other people's heads do, against what transformers tells of them itself."""

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import torch
from numpy.testing import assert_allclose

from ffnviz.models.edit import Edit
from ffnviz.models.encoder.attention import AttentionPatterns
from ffnviz.models.external.network import ExternalNetwork
from ffnviz.models.trace import BlockTrace, Trace
from tests.models.external.by_hand import NAMES, hooked
from tests.models.external.families import FAMILIES, build, two_texts

IDS = two_texts().clone()


def patterns(block: BlockTrace) -> AttentionPatterns:
    made = block.attention
    assert isinstance(made, AttentionPatterns)
    return made


def test_patterns_are_those_that_transformers_tells(
    external_network: ExternalNetwork, request: pytest.FixtureRequest
) -> None:
    family = request.node.callspec.params["external_network"]
    if family == "Falcon":
        pytest.skip("it tells of none")
    plain = deepcopy(build(FAMILIES[family]))  # its configuration is the family's
    plain.set_attn_implementation("eager")  # type: ignore[operator]
    with torch.inference_mode():
        told = plain(input_ids=IDS, output_attentions=True).attentions
    run = external_network.run(IDS)
    assert len(told) == len(run.blocks)
    for block, expected in zip(run.blocks, told, strict=True):
        assert_allclose(patterns(block).weights, expected, atol=1e-5)


def test_that_there_are_no_queries_is_said(network_of: Callable[[str], ExternalNetwork]) -> None:
    attention: Any = network_of("Llama").run(IDS).blocks[0].attention
    for name in ("queries", "keys"):
        with pytest.raises(AttributeError, match="may rotate, cap or shift its scores"):
            getattr(attention, name)
    with pytest.raises(AttributeError, match="no attribute 'query'"):
        _ = attention.query
    assert not hasattr(attention, "queries")
    assert torch.equal(deepcopy(attention).weights, attention.weights)


def test_patterns_and_values_make_what_the_block_adds(external_network: ExternalNetwork) -> None:
    """Sums of one, nothing from later tokens, and, without a norm behind it, the stream's move."""
    run = external_network.run(IDS)
    for block in run.blocks:
        made = patterns(block)
        assert_allclose(made.weights.sum(-1), torch.ones(2, 4, 8), atol=1e-6)
        assert made.values.shape[:3] == (2, 4, 8)
        if made.causal:
            assert not made.weights.triu(1).any()
        if external_network.card.pre_norm:
            assert_allclose(block.input + made.output, block.middle, atol=1e-5)


@pytest.mark.parametrize(("family", "projection"), [
    ("GPT-2", "transformer.h.1.attn.c_proj"),
    ("BERT", "bert.encoder.layer.1.attention.output.dense"),
    ("Llama", "model.layers.1.self_attn.o_proj"),
])  # fmt: skip
def test_values_are_what_the_output_projection_reads(
    family: str, projection: str, network_of: Callable[[str], ExternalNetwork]
) -> None:
    network = network_of(family)
    made = patterns(network.run(IDS).blocks[1])
    gathered = (made.weights @ made.values).transpose(1, 2).flatten(-2)
    with torch.inference_mode():
        written = network.model.get_submodule(projection)(gathered)
    assert_allclose(written, made.output, atol=1e-6)


@pytest.mark.parametrize("family", NAMES)
def test_after_an_edit_they_are_those_of_the_edited_pass(
    family: str, network_of: Callable[[str], ExternalNetwork]
) -> None:
    network = network_of(family)
    for at in ("input", "attention", "hidden", "ffn", "output"):
        run = network.run(IDS, [Edit(0, scale=0.0, at=at)])
        model = deepcopy(hooked(family, 0, at, torch.zeros_like))
        model.set_attn_implementation("eager")  # type: ignore[operator]
        with torch.inference_mode():
            told = model(input_ids=IDS, output_attentions=True).attentions
        assert_allclose(patterns(run.blocks[1]).weights, told[1], atol=1e-5)


def test_one_of_a_batch_and_one_from_a_file_have_theirs(
    network_of: Callable[[str], ExternalNetwork], tmp_path: Path
) -> None:
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
