"""A stack with parts taken away and a recurrent network: against PyTorch's and closed forms."""

from itertools import combinations

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from torch import Tensor, nn

from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.parts.block import against_rnn
from ffnviz.parts.block import strip as stack
from ffnviz.parts.block.strip import D_FF, D_MODEL, layer, strip, told_apart, untrained
from tests.analysis.networks import ours
from tests.models.test_against_pytorch import theirs
from tests.run_factory import run_of

N = 6
X = torch.randn(N, D_MODEL, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
CONFIG = EncoderConfig(d_model=D_MODEL, n_heads=stack.N_HEADS, d_ff=D_FF, activation="gelu")


def test_with_nothing_taken_away_it_is_pytorchs_encoder() -> None:
    # PyTorch's layer is made in float32: weights that it can hold.
    blocks = [block.float().double() for block in untrained(3, "gelu", 7)]
    layers = [theirs(block, CONFIG).double() for block in blocks]
    expected = X[None]
    for each in layers:
        expected = each(expected)
    x = X
    for block in blocks:
        x = layer(block, x, ())
    assert_allclose(x, expected[0].detach(), atol=1e-12)
    found = strip(X, 3, 2, (), "gelu", 7)
    assert found.apart[-1] == pytest.approx(told_apart(x), rel=1e-5)
    assert found.scale[-1] == pytest.approx(float(x.square().mean().sqrt()), rel=1e-5)


def test_the_weights_follow_glorots_rule_and_the_seed() -> None:
    (one,), (same,), (other,) = (untrained(1, "relu", seed) for seed in (1, 1, 2))
    weight, glorot = one.ffn.expand.weight, np.sqrt(2 / (D_MODEL + D_FF))
    assert torch.equal(weight, same.ffn.expand.weight)
    assert not torch.equal(weight, other.ffn.expand.weight)
    assert float(weight.std()) == pytest.approx(glorot, rel=0.02)
    # Tokens that look at all alike are equal after one layer.
    one.attention.project_in.weight[:D_MODEL] = 0  # no queries: every weight is 1 / T
    assert told_apart(layer(one, X, ("ffn", "residual"))) < 1e-14
    assert told_apart(layer(one, X, ("ffn",))) > 0.1, "the residual keeps what they were"


def test_attention_alone_collapses_ever_faster_and_the_residual_stops_it() -> None:
    alone = strip(X, 4, 1, ("ffn", "residual"), "relu", 1).apart
    drops = alone[1:4] / alone[:3]
    assert (np.diff(drops) < 0).all()
    assert alone[-1] < 1e-9
    assert strip(X, 4, 1, ("ffn",), "relu", 1).apart[-1] > 0.3
    found = strip(X, 5, 1, ("attention", "ffn"), "relu", 1)  # nothing happens
    assert_allclose(found.apart, found.apart[0])
    assert_allclose(found.scale, found.scale[0])
    assert_allclose(found.gradient, 1)


def test_without_phi_the_ffn_is_affine() -> None:
    (block,) = untrained(1, "identity", 4)
    without = ("attention", "residual", "norm")
    one, other, both = (layer(block, x, without) for x in (X, 2 * X + 1, 1.5 * X + 0.5))
    assert_allclose(both, (one + other) / 2, atol=1e-12)
    found = strip(X, 1, 0, (*without, "phi"), "relu", 4)
    assert found.scale[1] == pytest.approx(float(one.square().mean().sqrt()), rel=1e-12)


@pytest.mark.parametrize("without", [(), ("residual",), ("norm", "phi")])
def test_the_gradient_is_autograds_along_a_direction(without: tuple[str, ...]) -> None:
    token, depth = 2, 3
    blocks = untrained(depth, "identity" if "phi" in without else "gelu", 1)
    direction = torch.randn(
        D_MODEL, generator=torch.Generator().manual_seed(0), dtype=torch.float64
    )
    direction /= direction.norm()

    def along(x: Tensor) -> Tensor:
        for block in blocks:
            x = layer(block, x, without)
        return x[token] @ direction

    found = strip(X, depth, token, without, "gelu", 1).gradient
    assert found[0] == pytest.approx(float(torch.func.jacrev(along)(X).norm()), rel=1e-9)
    assert found[-1] == pytest.approx(1)


def test_how_far_apart_and_how_similar_tokens_are_in_closed_form() -> None:
    assert told_apart(torch.ones(4, 3)) == 0
    assert told_apart(torch.tensor([[1.0, 0.0], [-1.0, 0.0]])) == 1
    assert told_apart(torch.tensor([[3.0, 1.0], [3.0, -1.0]])) == pytest.approx(np.sqrt(0.1))
    assert told_apart(torch.zeros(2, 2)) == 0
    x = torch.tensor([[1.0, 0.0], [0.0, 2.0], [3.0, 3.0]], dtype=torch.float64)
    found = stack.watch([], x, 0)
    assert found.similarity[0] == pytest.approx((0 + np.sqrt(0.5) + np.sqrt(0.5)) / 3)
    assert_allclose(found.cosines[0][2], [np.sqrt(0.5), np.sqrt(0.5), 1])


def test_any_combination_of_parts_may_be_taken_away() -> None:
    parts = stack.PARTS
    combined = [each for size in range(len(parts) + 1) for each in combinations(parts, size)]
    alone = [(1, each) for each in ((), parts)]  # a single token
    for n_tokens, without in [*alone, *((2, each) for each in combined)]:
        found = strip(X[:n_tokens], 2, 0, without, "relu", 1)
        for values in (found.apart, found.similarity, found.scale, found.gradient):
            assert len(values) == 3
            assert np.isfinite(values).all()


def test_what_enters_is_the_sentence_in_fewer_dimensions(tokenizer: Tokenizer) -> None:
    model = ours(tokenizer)
    trace = model.trace("the cat the cat " * 15)
    x = stack.entered(trace, 3)
    assert x.shape == (stack.MOST_TOKENS, D_MODEL)
    assert float(x.square().mean()) == pytest.approx(1)
    embedding = trace.embedding[: stack.MOST_TOKENS].double()
    solved = torch.linalg.lstsq(embedding, x)
    assert_allclose(embedding @ solved.solution, x, atol=1e-6)
    # The network's own blocks are watched as they are.
    trace = model.trace("The cat sat on it.")
    streams = [trace.embedding, *(block.output for block in trace.blocks)]
    apart = stack.of_the_network(model, trace, 1).apart
    assert_allclose(apart, [told_apart(stream) for stream in streams], rtol=1e-5)


D, H = 5, 7
INPUT = torch.randn(6, D, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
TEXT = "The cat sat on it."


def test_it_computes_what_pytorchs_rnn_computes() -> None:
    ours_ = against_rnn.Recurrent(D, H, 1.3, bends=True).double()
    theirs = nn.RNN(D, H, batch_first=True, dtype=torch.float64)
    theirs.load_state_dict({
        "weight_ih_l0": ours_.read, "weight_hh_l0": ours_.keep,
        "bias_ih_l0": torch.full((H,), 0.3).double(), "bias_hh_l0": torch.full((H,), -0.1).double(),
    })  # fmt: skip
    ours_.bias.copy_(torch.full((H,), 0.3).double() + torch.full((H,), -0.1).double())
    expected, _ = theirs(INPUT[None])
    assert_allclose(ours_(INPUT), expected[0].detach(), atol=1e-12)


def test_without_a_bend_its_gradient_is_a_power_of_its_matrix() -> None:
    network = against_rnn.Recurrent(D, H, 1.7, bends=False).double()
    found = against_rnn.arriving(lambda x: network(x)[4], INPUT, directions=H)
    keep, read = network.keep.numpy(), network.read.numpy()
    powers = [np.linalg.matrix_power(keep, 4 - place) @ read for place in range(5)]
    expected = [np.linalg.norm(power) / np.sqrt(H) for power in powers] + [0.0]
    assert_allclose(found, expected, rtol=1e-10)


def test_few_directions_estimate_it_and_below_a_gain_of_1_it_vanishes() -> None:
    x = torch.randn(12, 30, generator=torch.Generator().manual_seed(3))
    wide = against_rnn.Recurrent(30, 200, 1.0, bends=True)
    exact = against_rnn.arriving(lambda v: wide(v)[-1], x[:5], directions=200)
    assert_allclose(against_rnn.arriving(lambda v: wide(v)[-1], x[:5]), exact, rtol=0.25)
    for gain in (0.5, 2.0):  # without a bend it explodes above
        network = against_rnn.Recurrent(30, 200, gain, bends=False)
        found = against_rnn.arriving(lambda v: network(v)[-1], x)  # noqa: B023
        factor = (found[0] / found[-1]) ** (1 / 11)
        assert factor == pytest.approx(gain, rel=0.1)
        assert (found[0] < found[-1]) == (gain < 1)


def test_both_have_about_as_many_weights_and_are_the_same_each_time(tokenizer: Tokenizer) -> None:
    model = ours(tokenizer)
    recurrent = against_rnn.recurrent_like(model, 0, 1.0, bends=True)
    wanted, got = (
        sum(weight.numel() for weight in module.parameters())
        for module in (model.encoder.blocks[0], recurrent)
    )
    assert got == pytest.approx(wanted, rel=0.03)
    one, other = against_rnn.untrained_like(model), against_rnn.untrained_like(model)
    assert all(map(torch.equal, one.parameters(), other.parameters()))


def test_nothing_later_arrives_in_the_rnn_and_all_in_the_block(tokenizer: Tokenizer) -> None:
    model, token = ours(tokenizer), 3
    read = against_rnn.what_is_read(model.trace(TEXT), 1, token)
    recurrent = against_rnn.through_recurrent(model, 1, read, 1.0, bends=True)
    found = against_rnn.through_blocks(model, 1, read)
    assert (recurrent[: token + 1] > 0).all()
    assert (recurrent[token + 1 :] == 0).all()
    assert (found.block > 0).all()
    assert (found.untrained > 0).all()


def test_of_a_long_text_the_tokens_up_to_the_chosen_one_are_read(tokenizer: Tokenizer) -> None:
    model = ours(tokenizer)
    trace = model.trace("a b c d e f g h i j " * 5)
    n = len(trace.tokens)
    read = against_rnn.what_is_read(trace, 0, n - 2)
    assert len(read.x) == against_rnn.LONGEST
    assert read.first == n - 1 - against_rnn.LONGEST
    assert torch.equal(read.x[read.token], trace.blocks[0].input[n - 2])
    assert against_rnn.what_is_read(trace, 0, 3).first == 0


def test_the_clock_runs_on_with_every_step(
    tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(against_rnn, "RUNS", 3)
    told: list[float] = []
    run = run_of(ours(tokenizer), TEXT, token=2)
    found = against_rnn.read_against_the_clock(run, told.append)
    assert (np.diff(found.recurrent) > 0).all()
    assert len(found.recurrent) == len(run.trace.tokens)
    assert found.block > 0
    assert told[-1] == 1
