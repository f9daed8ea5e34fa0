"""Blocks that change the stream once more behind their FFN: Gemma 4, and others made by hand."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers as T  # noqa: N812
from numpy.testing import assert_allclose
from torch import Tensor, nn

import ffnviz
from ffnviz.analysis.lens import Reading, read_early
from ffnviz.analysis.prediction import Prediction
from ffnviz.models.external.network import ExternalNetwork
from ffnviz.models.external.proof import prove
from ffnviz.models.external.refusal import NotProvedError
from ffnviz.models.token_slice import token_slice
from ffnviz.parts.vocabulary.lens import rows_shown
from tests.models.external.families import FAMILIES, WIDE, build, two_texts
from tests.models.external.folders import network_of
from tests.models.external.tokenizers import metaspace

SCALES = 0.3, 0.471, 0.642, 0.813
TEXT = "the cat sat on the mat"


@pytest.fixture
def gemma() -> ExternalNetwork:
    return network_of("Gemma 4")


def behind(block: ffnviz.BlockTrace) -> Tensor:
    """The stream behind the FFN, where the block has it."""
    assert block.behind_ffn is not None
    return block.behind_ffn


def test_each_stream_and_each_summand_is_the_networks_own(gemma: ExternalNetwork) -> None:
    untouched: Any = build(FAMILIES["Gemma 4"])
    seen: dict[tuple[int, str], Tensor] = {}
    for number, layer in enumerate(untouched.model.layers):
        for name in ("post_feedforward_layernorm", "post_per_layer_input_norm"):
            layer.get_submodule(name).register_forward_hook(
                lambda _, __, wrote, place=(number, name): seen.update({place: wrote.clone()})
            )
    ids = two_texts()
    with torch.inference_mode():
        told = untouched(input_ids=ids, output_hidden_states=True)
    run = gemma.run(ids)
    streams = [*told.hidden_states[:4], run.final]  # the last of the library's is normed
    for number, (block, proved, scale) in enumerate(
        zip(run.blocks, gemma.proof.blocks, SCALES, strict=True)
    ):
        w, u = seen[number, "post_feedforward_layernorm"], seen[number, "post_per_layer_input_norm"]
        assert_allclose(behind(block), block.middle + w, atol=1e-6)
        assert_allclose(block.output, scale * (behind(block) + u), atol=1e-6)
        assert_allclose(block.input, streams[number], atol=1e-6)
        assert proved.stream.scale == pytest.approx(scale, rel=1e-6)
        assert proved.stream.in_words == (
            "sandwich: y = s (m + norm(w) + u), u the per layer input (post_per_layer_input_norm)"
        )
    assert float((run.logits - told.logits).abs().max()) < 1e-5
    assert (
        "writes, and then by what post_per_layer_input_norm writes; all is then multiplied by "
        "0.3 to 0.813; largest error"
    ) in gemma.proof.in_words[2]


def test_all_summands_and_scales_make_the_logit(gemma: ExternalNetwork) -> None:
    """Whatever a block writes is multiplied by its own scale and by those of all later blocks."""
    trace = gemma.trace(TEXT)
    total = trace.embedding.double()
    for block, scale in zip(trace.blocks, SCALES, strict=True):
        attention, ffn = block.middle - block.input, behind(block) - block.middle
        total = scale * (total + attention + ffn + block.output / scale - behind(block))
    head = gemma.head
    assert head
    assert head.norm
    assert head.words
    assert_allclose(head.norm(total.float()) @ head.words.vectors.mT, trace.logits, atol=2e-5)
    measure = ffnviz.logit_difference(gemma, 9)
    with pytest.raises(ffnviz.NotForThisNetwork, match="wider in some blocks than in others"):
        ffnviz.gradient_attribution(gemma, TEXT, measure, at="heads")
    with pytest.raises(ffnviz.NotForThisNetwork, match="does not simply add up"):
        ffnviz.logit_attribution(trace, measure)


def test_the_stream_is_read_at_one_place_more(gemma: ExternalNetwork) -> None:
    trace = gemma.trace(TEXT)
    word = int(trace.logits_at(3).argmax())
    readings = {each.stage: each for each in read_early(gemma, trace, 3, word, k=2)}
    assert list(readings)[:4] == ["embedding", "attention 1", "FFN 1", "per layer input 1"]
    assert list(readings)[-1] == "per layer input 4"
    assert readings["per layer input 4"].rank == 1
    expected = gemma.logits(behind(trace.blocks[2])[3]).softmax(-1)[word]
    assert readings["FFN 3"].probability == pytest.approx(float(expected), rel=1e-5)
    assert readings["per layer input 3"].probability != readings["FFN 3"].probability


def test_what_is_made_of_a_trace_has_it(gemma: ExternalNetwork, tmp_path: Path) -> None:
    trace = gemma.trace(TEXT)
    trace.save(tmp_path / "trace")
    saved = ffnviz.Trace.load(tmp_path / "trace")
    twice = ffnviz.Trace.cat([trace, trace])
    part = token_slice(trace, range(1, 4))
    for number, block in enumerate(trace.blocks):
        own = behind(block)
        assert torch.equal(behind(saved.blocks[number]), own)
        assert torch.equal(behind(twice.blocks[number]), torch.cat([own, own]))
        assert torch.equal(behind(part.blocks[number]), own[1:4])
    plain = network_of("Llama").trace(TEXT)
    assert ffnviz.Trace.cat([plain, plain]).blocks[0].behind_ffn is None
    pytest.importorskip("xarray")
    table = trace.to_xarray()
    for number, block in enumerate(trace.blocks):
        assert_allclose(table.behind_ffn[number], behind(block))
    assert "behind_ffn" not in plain.to_xarray()


def _gemma(**more: Any) -> Any:
    config = T.Gemma4TextConfig(
        **{**WIDE, "num_hidden_layers": 4}, vocab_size_per_layer_input=97,
        layer_types=["sliding_attention", "full_attention"] * 2, **more,
    )  # fmt: skip
    return build(lambda: T.AutoModelForCausalLM.from_config(config))


def test_a_scale_alone() -> None:
    model = _gemma(hidden_size_per_layer_input=0)
    for scale, layer in zip(SCALES, model.model.layers, strict=True):
        layer.layer_scalar.fill_(scale)
    network = ffnviz.from_module(model, metaspace(), "Scaled")
    assert {each.stream.in_words for each in network.proof.blocks} == {
        "sandwich: y = s (m + norm(w))"
    }
    assert network.card.also_adds == ""
    trace = network.trace(TEXT)
    assert_allclose(trace.blocks[1].output, 0.471 * behind(trace.blocks[1]), atol=1e-6)
    assert len(read_early(network, trace, 0, 1, k=2)) == 9
    assert not network_of("Gemma 3").proof.blocks[0].stream.goes_on


def test_ffns_of_two_widths_are_refused() -> None:
    """As those of Gemma 4 E2B, which are twice as wide where keys and values are shared."""
    model = _gemma(hidden_size_per_layer_input=8, num_kv_shared_layers=2, use_double_wide_mlp=True)
    with pytest.raises(NotProvedError, match="176 neurons and the first block's 88") as caught:
        prove(model, two_texts(), 6)
    assert (caught.value.equation, caught.value.block) == ("E2", 2)


def _with_one_more(model: Any, beside: nn.Module) -> Any:
    """Its second block adds what one more module makes of the stream."""
    layer = model.model.layers[1]
    layer.add_module("one_more", beside)
    own = layer.forward

    def forward(*args: Any, **kwargs: Any) -> Tensor:
        stream: Tensor = own(*args, **kwargs)
        added: Tensor = beside(stream)
        return stream + added

    layer.forward = forward
    return model.eval().requires_grad_(False)


class _Experts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.router = nn.Linear(32, 4)
        self.experts = nn.ModuleList(nn.Linear(32, 32) for _ in range(4))

    def forward(self, x: Tensor) -> Tensor:
        shares = self.router(x).softmax(-1)
        made = torch.stack([each(x) for each in self.experts], dim=-1)
        return torch.einsum("...dn,...n->...d", made, shares)


def test_one_more_module_in_one_block_of_a_network_that_else_adds_up(llama: nn.Module) -> None:
    torch.manual_seed(3)
    beside = nn.Linear(32, 32)
    network = ffnviz.from_module(_with_one_more(llama, beside), metaspace(), "One more")
    first, second = (each.stream for each in network.proof.blocks)
    assert first.in_words == "pre-norm: y = m + w"
    assert second.in_words == "pre-norm: y = m + w + u, u the one more (one_more)"
    card = network.card
    assert (card.also_adds, card.pre_norm, card.in_order) == ("one more", False, False)
    before, block = network.trace(TEXT).blocks
    assert before.behind_ffn is None
    assert_allclose(behind(block), block.middle + block.ffn.output, atol=1e-6)
    assert_allclose(block.output - behind(block), beside(behind(block)), atol=1e-5)


def test_experts_behind_an_ffn_are_no_summand_like_others(llama: nn.Module) -> None:
    torch.manual_seed(3)
    with pytest.raises(NotProvedError, match="it is a mixture of 4 experts") as caught:
        prove(_with_one_more(llama, _Experts()), two_texts(), 6)
    assert (caught.value.equation, caught.value.block) == ("E3", 1)


@pytest.mark.parametrize("parts", [("attention", "FFN"), ("attention", "FFN", "per layer input")])
def test_of_many_readings_those_behind_blocks_are_shown(parts: tuple[str, ...]) -> None:
    nothing = Prediction((), np.zeros(0, np.int64), np.zeros(0, np.float32))
    stages = ["embedding", *(f"{part} {n}" for n in range(1, 31) for part in parts)]
    shown = rows_shown([Reading(stage, nothing, 0.5, 1) for stage in stages])
    assert len(shown) == 13
    assert {each.stage.rpartition(" ")[0] for each in shown[1:]} == {parts[-1]}
    assert (shown[0].stage, shown[-1].stage) == ("embedding", f"{parts[-1]} 30")
