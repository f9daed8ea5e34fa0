"""What each station hands on, and the decoder block, against PyTorch's own layers."""

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from ffnviz.analysis.lab.decoder import DecoderBlock
from ffnviz.models.encoder.block import Block
from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.parts.block import block_view, decoder, encoder
from tests.analysis.networks import ours
from tests.models.reference import randomise
from tests.models.test_against_pytorch import theirs

TOLERANCE = 1e-5
CONFIG = EncoderConfig(vocab_size=50, d_model=24, n_heads=3, d_ff=40, activation="gelu")
X = torch.randn(7, 24, generator=torch.Generator().manual_seed(1))
TEXT = "The cat sat on it."


@contextmanager
def watched(layer: nn.Module, names: tuple[str, ...]) -> Iterator[dict[str, Tensor]]:
    """What so many modules of a layer return while it runs."""
    seen: dict[str, Tensor] = {}

    def keep(name: str, output: Any) -> None:
        seen[name] = (output[0] if isinstance(output, tuple) else output)[0].detach()

    handles = [
        layer.get_submodule(name).register_forward_hook(
            lambda _module, _input, output, name=name: keep(name, output)
        )
        for name in names
    ]
    yield seen
    for handle in handles:
        handle.remove()


def close(ours: Tensor, theirs: Tensor) -> bool:
    return bool((ours - theirs).abs().max() <= TOLERANCE)


def by_name(stations: tuple[block_view.MeasuredStation, ...]) -> dict[str, Tensor]:
    return {station.name: station.output for station in stations}


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("built", ["so", "moved there"])
def test_each_station_hands_on_what_pytorchs_layer_has_there(norm: str, built: str) -> None:
    if built == "so":
        block = randomise(Block(replace(CONFIG, norm=norm)))
    else:
        other = "post" if norm == "pre" else "pre"
        block = encoder.moved(randomise(Block(replace(CONFIG, norm=other))))
    layer = theirs(block, replace(CONFIG, norm=norm)).train()  # PyTorch's short cut has no inside
    with watched(layer, ("norm1", "norm2", "self_attn", "linear2")) as inside, torch.no_grad():
        expected = layer(X[None])[0]
    stations = encoder.encoder_stations(block(X), norm_first=norm == "pre")
    found = by_name(stations)
    assert close(found["norm1"], inside["norm1"])
    assert close(found["norm2"], inside["norm2"])
    assert close(found["attention"], inside["self_attn"])
    assert close(found["ffn"], inside["linear2"])
    assert close(stations[-1].output, expected)
    sums = {"x": X, **found}
    for place, station in enumerate(stations):
        if station.source is not None:
            assert station.kind == "sum"
            assert close(station.output, sums[station.source] + stations[place - 1].output)


def test_the_weights_are_those_of_pytorchs_attention_and_moving_the_norms_shares_them() -> None:
    block = randomise(Block(CONFIG))
    layer = theirs(block, CONFIG)
    read = layer.norm1(X[None])
    _, expected = layer.self_attn(read, read, read, average_attn_weights=False)
    found = encoder.encoder_stations(block(X), norm_first=True)[2].weights
    assert found is not None
    assert close(found, expected[0])
    other = encoder.moved(block)
    assert (block.norm_first, other.norm_first) == (True, False)
    assert all(a is b for a, b in zip(block.parameters(), other.parameters(), strict=True))


def pytorchs_decoder(block: DecoderBlock, config: EncoderConfig) -> nn.TransformerDecoderLayer:
    """PyTorch's decoder layer with the weights of ours."""
    layer = nn.TransformerDecoderLayer(
        config.d_model, config.n_heads, config.d_ff, 0.0, config.activation,
        config.layer_norm_eps, batch_first=True, norm_first=True,
    ).to(block.ffn.expand.weight.dtype)  # fmt: skip
    cross = block.cross
    query, memory = cross.project_query, cross.project_memory
    for attention, weight, bias, out in (
        (layer.self_attn, block.attention.project_in.weight, block.attention.project_in.bias,
         block.attention.project_out),
        (layer.multihead_attn, torch.cat([query.weight, memory.weight]),
         torch.cat([query.bias, memory.bias]), cross.project_out),
    ):  # fmt: skip
        attention.in_proj_weight, attention.in_proj_bias = nn.Parameter(weight), nn.Parameter(bias)
        attention.out_proj.load_state_dict(out.state_dict())
    layer.linear1, layer.linear2 = block.ffn.expand, block.ffn.compress
    layer.norm1, layer.norm3 = block.attention_norm, block.ffn_norm
    layer.norm2 = copy.deepcopy(block.cross_norm)  # one module has one hook, and may be norm1's
    return layer


def test_each_station_of_the_decoder_is_pytorchs_layers(tokenizer: Tokenizer) -> None:
    model = ours(tokenizer)
    trace = model.trace(TEXT)
    written = [5, 9, 40]
    x = model.encoder.embed(torch.tensor(written))
    mask = nn.Transformer.generate_square_subsequent_mask(len(written))
    for number in range(2):
        layer = pytorchs_decoder(decoder.borrowed_decoder(model, number), model.encoder.config)
        lender = model.encoder.blocks[number]
        for part, lent in (
            (layer.self_attn, lender.attention), (layer.multihead_attn, lender.attention),
            (layer.linear1, lender.ffn.expand), (layer.linear2, lender.ffn.compress),
            (layer.norm1, lender.attention_norm), (layer.norm2, lender.attention_norm),
            (layer.norm3, lender.ffn_norm),
        ):  # fmt: skip
            weights = zip(part.parameters(), lent.parameters(), strict=True)
            assert all(torch.equal(one, other) for one, other in weights)
        names = {"attention": "self_attn", "cross": "multihead_attn", "ffn": "linear2"}
        names |= {f"norm{place}": f"norm{place}" for place in (1, 2, 3)}
        with watched(layer, tuple(names.values())) as inside, torch.no_grad():
            expected = layer(x[None], trace.final[None].clone(), tgt_mask=mask)[0]
        found = by_name(decoder.decode(model, trace, number, written))
        for name, theirs_ in names.items():
            assert close(found[name], inside[theirs_])
        assert close(found["sum3"], expected)
        x = expected


def test_lending_changes_nothing_in_the_network(tokenizer: Tokenizer) -> None:
    model = ours(tokenizer)
    before = model.trace(TEXT).final
    decoder.decode(model, model.trace(TEXT), 1, [5, 9])
    assert torch.equal(model.trace(TEXT).final, before)
    assert not model.encoder.blocks[1].attention.causal
    record = decoder.borrowed_decoder(model, 0)(
        model.encoder.embed(torch.tensor([5, 9, 40])), before
    )
    stations = {station.name: station for station in decoder.decoder_stations(record)}
    weights, asked = stations["attention"].weights, stations["cross"].weights
    assert weights is not None
    assert asked is not None
    assert weights.triu(1).abs().max() == 0, "it sees nothing later"
    assert asked.shape == (2, 3, len(before)), "and asks the whole sentence"
    assert close(asked.sum(-1), torch.ones(2, 3))


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_moved_network_goes_through_all_blocks_before(norm: str, tokenizer: Tokenizer) -> None:
    model = ours(tokenizer, norm=norm)
    trace = model.trace(TEXT)
    x = trace.embedding.clone()
    for block in model.encoder.blocks:
        config = replace(model.encoder.config, norm="post" if norm == "pre" else "pre")
        config = replace(config, activation="relu")
        x = theirs(block, config)(x[None])[0]
    assert close(encoder.with_norms_moved(model, trace, 1)[-1].output, x)


@torch.inference_mode()
def test_a_decoder_block_with_weights_of_its_own_is_pytorchs() -> None:
    config = EncoderConfig(vocab_size=10, d_model=16, n_heads=4, d_ff=32, activation="gelu")
    torch.manual_seed(3)
    block = DecoderBlock(config).double().eval()
    for parameter in block.parameters():
        nn.init.normal_(parameter, std=0.3)
    x, memory = torch.randn(2, 5, 16).double(), torch.randn(2, 7, 16).double()
    mask = nn.Transformer.generate_square_subsequent_mask(5, dtype=torch.float64)
    layer = pytorchs_decoder(block, config).eval()
    expected = layer(x, memory, tgt_mask=mask, tgt_is_causal=True)
    cross = block(x, memory).cross
    torch.testing.assert_close(block(x, memory).output, expected, rtol=0, atol=1e-12)
    mixed = (cross.weights @ cross.values).transpose(-3, -2).flatten(-2)
    torch.testing.assert_close(block.cross.project_out(mixed), cross.output)
