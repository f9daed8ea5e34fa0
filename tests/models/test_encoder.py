"""The encoder as a whole: its stream, its limits, its gradients, and what it begins with."""

from typing import Any, cast

import pytest
import torch
from jaxtyping import TypeCheckError
from numpy.testing import assert_allclose
from torch import nn

from ffnviz.analysis.sparsity import record_of
from ffnviz.models.encoder.block import Block
from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.models.encoder.encoder import INIT_STD, Encoder, initial_encoder
from ffnviz.models.encoder.feed_forward import FeedForwardRecord, feed_forward
from ffnviz.models.encoder.model import TWINS, load
from tests.models.reference import as_array, layer_norm, randomise

SIZES = {"vocab_size": 20, "max_tokens": 16, "d_model": 24, "n_heads": 3, "d_ff": 40, "n_blocks": 3}
IDS = torch.tensor([[3, 1, 4, 1, 5, 9, 2, 6], [2, 7, 1, 8, 2, 8, 1, 8]])
BOTH_NORMS = pytest.mark.parametrize("norm", ["pre", "post"])


def encoder(**changes: object) -> Encoder:
    config = EncoderConfig.from_dict({**SIZES, **changes})
    module: Encoder = randomise(initial_encoder(config, seed=0))
    return module.eval()


def some_ids(*shape: int) -> torch.Tensor:
    return torch.randint(20, shape, generator=torch.Generator().manual_seed(1))


# The stream adds up from the embedding to the logits, and no record is ever overwritten.


@BOTH_NORMS
def test_the_stream_is_the_sum_of_what_was_written(norm: str) -> None:
    module = encoder(norm=norm)
    trace = module(IDS)
    chained = [trace.embedding, *(record.output for record in trace.blocks)]
    for place, block in enumerate(cast(list[Block], list(module.blocks))):
        record = trace.blocks[place]
        assert record.input is chained[place]
        for before, part, after, its_norm in (
            (record.input, record.attention, record.middle, block.attention_norm),
            (record.middle, record.ffn, record.output, block.ffn_norm),
        ):
            if norm == "pre":
                normed = layer_norm(as_array(before), its_norm)
                assert_allclose(as_array(part.input), normed, atol=1e-5)
                assert torch.equal(after, before + part.output)
            else:
                assert part.input is before
                normed = layer_norm(as_array(before + part.output), its_norm)
                assert_allclose(as_array(after), normed, atol=1e-5)
    if norm == "pre":
        last = layer_norm(as_array(trace.blocks[-1].output), module.final_norm)
        assert_allclose(as_array(trace.final), last, atol=1e-5)
    else:
        assert trace.final is trace.blocks[-1].output


@BOTH_NORMS
def test_dropout_takes_half_of_all_that_is_added_in_training_only(norm: str) -> None:
    assert torch.equal(encoder(norm=norm, dropout=0.5)(IDS).logits, encoder(norm=norm)(IDS).logits)
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


# Limits and gradients.


def test_a_length_without_positions_is_refused_by_name() -> None:
    module = encoder()
    for length in (1, 16):
        assert module(some_ids(length)).logits.isfinite().all()
    for length in (0, 17):
        with pytest.raises(ValueError, match=rf"{length} tokens .* max_tokens = 16"):
            module(some_ids(2, length))


def test_a_wrong_shape_or_type_cannot_pass_unseen() -> None:
    """The import hook of tests/conftest.py is at work."""
    x, wide, wider = torch.zeros(3, 4), torch.zeros(3, 8), torch.zeros(3, 9)
    with pytest.raises(TypeCheckError, match="hidden"):
        FeedForwardRecord(x, wide, wider, x)
    with pytest.raises(TypeCheckError, match="d_model"):
        feed_forward(4, 8, "relu")(torch.zeros(4))
    with pytest.raises(TypeCheckError, match="ids"):
        encoder()(torch.zeros(3))


@BOTH_NORMS
@pytest.mark.parametrize("activation", ["gelu", "swiglu"])
def test_every_gradient_is_that_of_a_finite_difference(norm: str, activation: str) -> None:
    module, step = encoder(norm=norm, activation=activation).double(), 1e-6

    def loss() -> Any:
        return module(some_ids(4, 16)).logits.logsumexp(-1).square().mean()

    loss().backward()
    for name, weight in module.named_parameters():
        assert weight.grad is not None, name
        assert weight.grad.any(), name
        generator = torch.Generator().manual_seed(2)
        direction = torch.randn(weight.shape, generator=generator, dtype=torch.float64)
        sides = []
        for sign in (1, -1):
            with torch.no_grad():
                weight.add_(sign * step * direction)
                sides.append(loss().item())
                weight.sub_(sign * step * direction)
        slope = (sides[0] - sides[1]) / (2 * step)
        assert slope == pytest.approx((weight.grad * direction).sum().item(), rel=1e-4), name


# The twins start from the same weights: they depend on the shapes and the seed alone.


def weights(activation: str = "relu", seed: int = 7, norm: str = "pre") -> dict[str, torch.Tensor]:
    config = EncoderConfig(
        vocab_size=400, max_tokens=32, d_model=64, n_heads=4, d_ff=128,
        activation=activation, norm=norm,
    )  # fmt: skip
    return dict(initial_encoder(config, seed).state_dict())


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def test_only_the_seed_makes_a_difference_and_not_the_chance_of_the_process() -> None:
    torch.manual_seed(1)
    first = weights()
    torch.manual_seed(2)
    state = torch.get_rng_state()
    for activation in ("relu", "gelu", "gelu_tanh", "silu", "identity"):
        assert same(weights(activation), first), activation
    assert torch.equal(torch.get_rng_state(), state)
    other = weights(seed=8)
    for name, tensor in first.items():
        if tensor.ndim > 1:
            assert not torch.isclose(tensor, other[name], atol=1e-9).all(), name


@BOTH_NORMS
def test_matrices_start_near_zero_and_norms_start_as_norms(norm: str) -> None:
    for name, tensor in weights(norm=norm).items():
        if tensor.ndim > 1:
            assert tensor.std().item() == pytest.approx(0.02, rel=0.1), name
            assert abs(tensor.mean().item()) < 0.002, name
        else:
            is_gain = "norm" in name and name.endswith("weight")
            assert (tensor == float(is_gain)).all(), name


def seeded_alone(config: EncoderConfig, seed: int) -> dict[str, torch.Tensor]:
    """As the twins' training began: a seeded process that draws each layer's weights twice."""

    def again(module: nn.Module) -> None:
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=INIT_STD)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return dict(Encoder(config).apply(again).state_dict())


@pytest.mark.parametrize("twin", TWINS)
def test_the_twins_weights_before_training_are_those_that_training_began_with(twin: str) -> None:
    config, seed = load(twin).encoder.config, record_of(load(twin)).seed
    assert same(seeded_alone(config, seed), dict(initial_encoder(config, seed).state_dict()))
