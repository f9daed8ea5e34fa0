"""The stream adds up from the embedding to the logits, and no record is ever overwritten."""

import dataclasses
from typing import cast

import pytest
import torch
from numpy.testing import assert_allclose
from torch import nn

from ffnviz.models.activations import ACTIVATIONS
from ffnviz.models.encoder.block import Block, BlockRecord
from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.models.encoder.encoder import Encoder, EncoderTrace, initial_encoder
from ffnviz.models.encoder.feed_forward import GatedFeedForward
from tests.models.reference import as_array, layer_norm, linear, randomise

IDS = torch.tensor([[3, 1, 4, 1, 5, 9, 2, 6], [2, 7, 1, 8, 2, 8, 1, 8]])


def encoder(norm: str = "pre", activation: str = "relu", dropout: float = 0.0) -> Encoder:
    config = EncoderConfig(
        vocab_size=20, max_tokens=16, d_model=24, n_heads=3, d_ff=40, n_blocks=3,
        norm=norm, activation=activation, dropout=dropout,
    )  # fmt: skip
    module: Encoder = randomise(initial_encoder(config, seed=0))
    return module.eval()


def blocks_of(module: Encoder, trace: EncoderTrace) -> list[tuple[Block, BlockRecord]]:
    modules = cast(list[Block], list(module.blocks))
    return list(zip(modules, trace.blocks, strict=True))


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_each_block_starts_where_the_one_before_it_ended(norm: str) -> None:
    trace = encoder(norm)(IDS)
    assert trace.blocks[0].input is trace.embedding
    for before, after in zip(trace.blocks, trace.blocks[1:], strict=False):
        assert after.input is before.output


def test_in_a_pre_norm_block_both_outputs_are_added_to_the_stream() -> None:
    module = encoder("pre")
    trace = module(IDS)
    for block, record in blocks_of(module, trace):
        assert torch.equal(record.middle, record.input + record.attention.output)
        assert torch.equal(record.output, record.middle + record.ffn.output)
        normed = layer_norm(as_array(record.input), block.attention_norm)
        assert_allclose(as_array(record.attention.input), normed, atol=1e-5)
        normed = layer_norm(as_array(record.middle), block.ffn_norm)
        assert_allclose(as_array(record.ffn.input), normed, atol=1e-5)
    final = layer_norm(as_array(trace.blocks[-1].output), module.final_norm)
    assert_allclose(as_array(trace.final), final, atol=1e-5)


def test_in_a_pre_norm_encoder_the_stream_is_the_sum_of_all_that_was_written() -> None:
    trace = encoder("pre")(IDS)
    total = as_array(trace.embedding)
    for record in trace.blocks:
        total = total + as_array(record.attention.output) + as_array(record.ffn.output)
    assert_allclose(as_array(trace.blocks[-1].output), total, atol=1e-5)


def test_in_a_post_norm_block_the_sum_is_normed() -> None:
    module = encoder("post")
    trace = module(IDS)
    for block, record in blocks_of(module, trace):
        assert record.attention.input is record.input
        summed = as_array(record.input) + as_array(record.attention.output)
        assert_allclose(
            as_array(record.middle), layer_norm(summed, block.attention_norm), atol=1e-5
        )
        assert record.ffn.input is record.middle
        summed = as_array(record.middle) + as_array(record.ffn.output)
        assert_allclose(as_array(record.output), layer_norm(summed, block.ffn_norm), atol=1e-5)
    assert trace.final is trace.blocks[-1].output


@pytest.mark.parametrize("activation", sorted(ACTIVATIONS))
def test_nothing_is_computed_in_place(activation: str) -> None:
    # `relu_` would leave φ(x W1 + b1) where x W1 + b1 was recorded.
    module = encoder(activation=activation)
    trace = module(IDS)
    trace.logits.sum().backward()
    for block, record in blocks_of(module, trace):
        expected = linear(as_array(record.ffn.input), block.ffn.expand)
        assert_allclose(as_array(record.ffn.pre_activation), expected, atol=1e-5)
        if isinstance(block.ffn, GatedFeedForward):
            expected = linear(as_array(record.ffn.input), block.ffn.gated_value)
            assert_allclose(as_array(vars(record.ffn)["value"]), expected, atol=1e-5)


def test_no_record_can_be_changed() -> None:
    trace = encoder()(IDS)
    block = trace.blocks[0]
    for record in (trace, block, block.attention, block.ffn, encoder(activation="geglu")(IDS)):
        for field in dataclasses.fields(record):
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(record, field.name, None)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_outside_training_dropout_does_nothing(norm: str) -> None:
    assert torch.equal(encoder(norm, dropout=0.5)(IDS).logits, encoder(norm)(IDS).logits)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_in_training_dropout_takes_half_of_all_that_is_added_and_doubles_the_rest(
    norm: str,
) -> None:
    # Without LayerNorms, and with W2 taken out, one sees what was dropped.
    block = Block(EncoderConfig(d_model=24, n_heads=3, d_ff=24, norm=norm, dropout=0.5)).train()
    block.attention_norm = block.ffn_norm = block.ffn.compress = nn.Identity()  # type: ignore[assignment]
    torch.manual_seed(1)
    record = block(torch.randn(50, 24))
    for added, written in (
        (record.middle - record.input, record.attention.output),
        (record.output - record.middle, record.ffn.output),
        (record.ffn.output, record.ffn.hidden),
    ):
        visible = written.abs() > 1e-3  # of a value that is 0 anyway one cannot tell
        dropped = added.abs() < 1e-6
        assert dropped[visible].float().mean().item() == pytest.approx(0.5, abs=0.1)
        torch.testing.assert_close(
            added[visible & ~dropped], 2 * written[visible & ~dropped], atol=1e-5, rtol=1e-5
        )


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_running_on_from_a_recorded_stream_gives_the_rest_of_the_pass(norm: str) -> None:
    module = encoder(norm)
    trace = module(IDS)
    records, final = module.run_blocks(trace.blocks[1].input, first=1)
    assert len(records) == 2
    assert torch.equal(final, trace.final)
    assert torch.equal(records[0].ffn.hidden, trace.blocks[1].ffn.hidden)
