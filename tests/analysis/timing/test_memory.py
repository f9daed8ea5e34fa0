"""The bytes of an FFN's tensors, against arithmetic and a computation whose peak is known."""

import pytest
import torch
from torch import nn

from ffnviz.analysis.needs import encoder_of
from ffnviz.analysis.timing.memory import (
    at_once,
    in_chunks,
    kept_for_backward,
    memory,
    peak_by_hand,
    peak_of,
)
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.network import NotForThisNetwork
from tests.analysis.networks import network, small_model

FLOAT = 4


def test_the_peak_of_a_computation_known_by_hand() -> None:
    x = torch.ones(100)

    def two_then_one() -> torch.Tensor:
        a, b = x + 1, x + 2  # 200 numbers
        c = a + b  # 300
        del a, b
        return c[:10] + 1  # 100 and 10, as a view keeps all

    assert peak_of(two_then_one, [x]) == 300 * FLOAT
    assert peak_of(lambda: x.view(10, 10), [x]) == 0
    assert peak_of(lambda: x.clone().relu_().mul_(2), [x]) == 100 * FLOAT
    assert peak_of(lambda: x + 1, []) == 100 * FLOAT, "what is there before is not made"


@pytest.mark.parametrize(("phi", "kept"), [(nn.ReLU(), 1), (nn.GELU(), 2)])
def test_gelu_keeps_twice_as_much_for_its_gradients(phi: nn.Module, kept: int) -> None:
    first, second = nn.Linear(8, 32), nn.Linear(32, 8)
    x = torch.randn(5, 8)
    there = [x, *first.parameters(), *second.parameters()]
    assert kept_for_backward(lambda: second(phi(first(x))), there) == kept * 5 * 32 * FLOAT


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_what_is_measured_is_what_arithmetic_says(
    tokenizer: Tokenizer, norm: str, activation: str
) -> None:
    model = small_model(tokenizer, norm, activation)
    shares: list[float] = []
    first, found = memory(model, 1, 64, 2, shares.append)
    assert (first.peaks, first.times) == (found.peaks, ())
    d_model, d_ff = 16, 32
    assert found.chunks == (64, 32, 16, 8)
    assert found.peaks == found.expected
    assert found.expected[0] == FLOAT * 64 * 2 * d_ff
    assert found.expected[2] == FLOAT * (64 * d_model + 16 * 2 * d_ff)
    assert found.kept == FLOAT * 64 * d_ff * {"relu": 1, "gelu": 2}[activation]
    ffn = encoder_of(model).blocks[1].ffn
    assert found.weights == FLOAT * sum(weight.numel() for weight in ffn.parameters())
    assert found.difference < 1e-4
    assert [spread.repeats for spread in found.times] == [2] * 4
    assert shares[-1] == 1


@pytest.mark.parametrize("chunk", [1, 7, 64, 100])
def test_chunks_of_any_size_give_the_same(tokenizer: Tokenizer, chunk: int) -> None:
    model = small_model(tokenizer, "pre")
    ffn, x = encoder_of(model).blocks[0].ffn, torch.randn(30, 16)
    with torch.inference_mode():
        torch.testing.assert_close(in_chunks(ffn, x, chunk), at_once(ffn, x))
        torch.testing.assert_close(at_once(ffn, x), ffn(x).output)
    assert peak_by_hand(30, chunk, 16, 32) <= peak_by_hand(30, 30, 16, 32) + FLOAT * 30 * 16


def test_a_narrow_ffn_has_its_peak_at_the_output() -> None:
    assert peak_by_hand(10, 10, d_model=8, d_ff=4) == FLOAT * 10 * (4 + 8)


@pytest.mark.parametrize("kind", ["gated", "stranger"])
def test_it_is_for_our_plain_ffns(tokenizer: Tokenizer, kind: str) -> None:
    with pytest.raises(NotForThisNetwork):
        next(memory(network(kind, tokenizer), 0, 16, 1))  # type: ignore[arg-type]
