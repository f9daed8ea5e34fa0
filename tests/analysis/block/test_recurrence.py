"""The recurrent network against PyTorch's own, and gradients against whole derivatives."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from torch import Tensor, nn

from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.parts.block.against_rnn import (
    LONGEST,
    Recurrent,
    arriving,
    hidden_size,
    read_against_the_clock,
    recurrent_like,
    through_blocks,
    through_recurrent,
    untrained_like,
    what_is_read,
)
from tests.analysis.networks import ours

D, H, N = 5, 7, 6
X = torch.randn(N, D, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
TEXT = "The cat sat on it."


def test_it_computes_what_pytorchs_rnn_computes() -> None:
    ours_ = Recurrent(D, H, 1.3, bends=True).double()
    theirs = nn.RNN(D, H, batch_first=True, dtype=torch.float64)
    theirs.load_state_dict({
        "weight_ih_l0": ours_.read, "weight_hh_l0": ours_.keep,
        "bias_ih_l0": torch.full((H,), 0.3).double(), "bias_hh_l0": torch.full((H,), -0.1).double(),
    })  # fmt: skip
    ours_.bias.copy_(torch.full((H,), 0.3).double() + torch.full((H,), -0.1).double())
    expected, _ = theirs(X[None])
    assert_allclose(ours_(X), expected[0].detach(), atol=1e-12)


def test_without_a_bend_its_gradient_is_a_power_of_its_matrix() -> None:
    network = Recurrent(D, H, 1.7, bends=False).double()
    found = arriving(lambda x: network(x)[4], X, directions=H)
    keep, read = network.keep.numpy(), network.read.numpy()
    powers = [np.linalg.matrix_power(keep, 4 - place) @ read for place in range(5)]
    expected = [np.linalg.norm(power) / np.sqrt(H) for power in powers] + [0.0]
    assert_allclose(found, expected, rtol=1e-10)


def test_with_all_directions_the_length_is_that_of_the_whole_derivative() -> None:
    network = Recurrent(D, H, 0.8, bends=True).double()

    def last(x: Tensor) -> Tensor:
        state: Tensor = network(x)[-1]
        return state

    whole = torch.func.jacrev(last)(X).transpose(0, 1)  # (N, H, D)
    expected = whole.flatten(1).norm(dim=1).numpy() / np.sqrt(H)
    assert_allclose(arriving(last, X, directions=H), expected, rtol=1e-10)
    step = 1e-6
    moved = torch.zeros_like(X)
    moved[2, 3] = step
    difference = (last(X + moved) - last(X - moved)) / (2 * step)
    assert_allclose(whole[2, :, 3], difference, rtol=1e-6, atol=1e-9)


def test_few_directions_estimate_it() -> None:
    wide = Recurrent(40, 300, 1.0, bends=True)
    x = torch.randn(5, 40, generator=torch.Generator().manual_seed(3))
    exact = arriving(lambda v: wide(v)[-1], x, directions=300)
    assert_allclose(arriving(lambda v: wide(v)[-1], x), exact, rtol=0.25)


@pytest.mark.parametrize(("gain", "vanishes"), [(0.5, True), (2.0, False)])
def test_without_a_bend_it_vanishes_below_a_gain_of_1_and_explodes_above(
    gain: float, vanishes: bool
) -> None:
    network = Recurrent(30, 200, gain, bends=False)
    x = torch.randn(12, 30, generator=torch.Generator().manual_seed(3))
    found = arriving(lambda v: network(v)[-1], x)
    factor = (found[0] / found[-1]) ** (1 / 11)
    assert factor == pytest.approx(gain, rel=0.1)
    assert (found[0] < found[-1]) == vanishes


def test_both_have_about_as_many_weights(tokenizer: Tokenizer) -> None:
    assert hidden_size(512, 3_152_384) == 1_538
    model = ours(tokenizer)
    wanted = sum(weight.numel() for weight in model.encoder.blocks[0].parameters())
    got = sum(weight.numel() for weight in recurrent_like(model, 0, 1.0, bends=True).parameters())
    assert got == pytest.approx(wanted, rel=0.03)


def test_what_arrives_is_nothing_later_in_the_rnn_and_something_everywhere_in_the_block(
    tokenizer: Tokenizer,
) -> None:
    model = ours(tokenizer)
    trace = model.trace(TEXT)
    token = 3
    read = what_is_read(trace, 1, token)
    recurrent = through_recurrent(model, 1, read, 1.0, bends=True)
    found = through_blocks(model, 1, read)
    assert (recurrent[: token + 1] > 0).all()
    assert (recurrent[token + 1 :] == 0).all()
    assert (found.block > 0).all()
    assert (found.untrained > 0).all()
    block = model.encoder.blocks[1].double()
    x = trace.blocks[1].input.double().clone()
    whole = torch.func.jacrev(lambda x: block(x).output[token])(x)
    expected = whole.transpose(0, 1).flatten(1).norm(dim=1).numpy() / np.sqrt(whole.shape[0])
    exact = arriving(
        lambda x: block(x).output[token], x, directions=whole.shape[0],
    )  # fmt: skip
    assert_allclose(exact, expected, rtol=1e-8)


def test_of_a_long_text_the_tokens_up_to_the_chosen_one_are_read(tokenizer: Tokenizer) -> None:
    model = ours(tokenizer)
    trace = model.trace("a b c d e f g h i j " * 5)
    n = len(trace.tokens)
    read = what_is_read(trace, 0, n - 2)
    assert len(read.x) == LONGEST
    assert read.first == n - 1 - LONGEST
    assert torch.equal(read.x[read.token], trace.blocks[0].input[n - 2])
    assert what_is_read(trace, 0, 3).first == 0


def test_the_clock_runs_on_with_every_step(tokenizer: Tokenizer) -> None:
    model = ours(tokenizer)
    told: list[float] = []
    found = read_against_the_clock(model, model.trace(TEXT), 0, 2, 3, told.append)
    assert (np.diff(found.recurrent) > 0).all()
    assert len(found.recurrent) == len(model.trace(TEXT).tokens)
    assert found.block > 0
    assert told[-1] == 1


def test_an_untrained_block_is_the_same_each_time(tokenizer: Tokenizer) -> None:
    model = ours(tokenizer)
    one, other = untrained_like(model), untrained_like(model)
    for a, b in zip(one.parameters(), other.parameters(), strict=True):
        assert torch.equal(a, b)
