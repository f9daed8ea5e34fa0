"""The encoder as a whole: batches, limits, gradients."""

import pytest
import torch
from numpy.testing import assert_allclose

from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.models.encoder.encoder import Encoder
from tests.models.reference import as_array, randomise

SIZES = {"vocab_size": 20, "max_tokens": 16, "d_model": 24, "n_heads": 3, "d_ff": 40, "n_blocks": 2}


def encoder(**changes: object) -> Encoder:
    module: Encoder = randomise(Encoder(EncoderConfig.from_dict({**SIZES, **changes})))
    return module.eval()


def some_ids(*shape: int) -> torch.Tensor:
    return torch.randint(20, shape, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("causal", [False, True], ids=["bidirectional", "causal"])
def test_a_batch_gives_what_each_sequence_gives_alone(norm: str, causal: bool) -> None:
    module, ids = encoder(norm=norm, causal=causal), some_ids(3, 10)
    together = module(ids)
    for row in range(3):
        alone = module(ids[row])
        assert alone.logits.shape == (10, 20)
        assert_allclose(as_array(together.logits[row]), as_array(alone.logits), atol=1e-5)
        for batched, single in zip(together.blocks, alone.blocks, strict=True):
            assert_allclose(as_array(batched.output[row]), as_array(single.output), atol=1e-5)
            assert_allclose(
                as_array(batched.attention.weights[row]),
                as_array(single.attention.weights),
                atol=1e-6,
            )


def test_the_shapes_are_those_of_the_configuration() -> None:
    trace = encoder(activation="geglu")(some_ids(5, 7))
    record = trace.blocks[1]
    assert trace.embedding.shape == trace.final.shape == record.output.shape == (5, 7, 24)
    assert record.attention.queries.shape == (5, 3, 7, 8)
    assert record.attention.weights.shape == (5, 3, 7, 7)
    assert record.ffn.pre_activation.shape == record.ffn.hidden.shape == (5, 7, 40)
    assert trace.logits.shape == (5, 7, 20)


@pytest.mark.parametrize("length", [0, 17])
def test_a_length_without_positions_is_refused_by_name(length: int) -> None:
    with pytest.raises(ValueError, match=rf"{length} tokens .* max_tokens = 16"):
        encoder()(some_ids(2, length))


@pytest.mark.parametrize("length", [1, 16])
def test_the_shortest_and_the_longest_sequence_pass(length: int) -> None:
    assert encoder()(some_ids(length)).logits.isfinite().all()


def test_the_position_makes_a_difference() -> None:
    trace = encoder()(torch.tensor([4, 4]))
    assert not torch.isclose(trace.embedding[0], trace.embedding[1]).any()


def test_the_logits_can_be_made_at_a_few_positions_only() -> None:
    module, ids = encoder(), some_ids(2, 6)
    chosen = torch.tensor([[True, False, False, True, False, False]] * 2)
    record = module.stream(ids)
    logits = module(ids).logits[chosen]
    assert_allclose(as_array(module.unembed(record.final[chosen])), as_array(logits), atol=1e-5)


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("activation", ["relu", "gelu", "swiglu"])
def test_the_gradient_reaches_every_weight(norm: str, activation: str) -> None:
    module = encoder(norm=norm, activation=activation)
    module(some_ids(4, 16)).logits.logsumexp(-1).mean().backward()
    for name, parameter in module.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.any(), name


def test_the_gradient_is_that_of_a_finite_difference() -> None:
    module = encoder(activation="gelu").double()
    ids = some_ids(5)
    weight = module.get_parameter("blocks.0.ffn.expand.weight")
    module(ids).logits.square().mean().backward()
    assert weight.grad is not None
    step = 1e-6
    sides = []
    for sign in (1, -1):
        with torch.no_grad():
            weight[3, 5] += sign * step
            sides.append(module(ids).logits.square().mean().item())
            weight[3, 5] -= sign * step
    slope = (sides[0] - sides[1]) / (2 * step)
    assert weight.grad[3, 5].item() == pytest.approx(slope, rel=1e-5)
