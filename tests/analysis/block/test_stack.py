"""A stack with parts taken away, against PyTorch's encoder, closed forms, and the paper's bound."""

from itertools import combinations

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from torch import Tensor

from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.parts.block.strip import (
    D_FF,
    D_MODEL,
    MOST_TOKENS,
    N_HEADS,
    PARTS,
    entered,
    layer,
    of_the_network,
    strip,
    told_apart,
    untrained,
    watch,
)
from tests.analysis.networks import ours
from tests.models.test_against_pytorch import theirs

N = 6
X = torch.randn(N, D_MODEL, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
CONFIG = EncoderConfig(d_model=D_MODEL, n_heads=N_HEADS, d_ff=D_FF, activation="gelu")


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
    assert torch.equal(one.ffn.expand.weight, same.ffn.expand.weight)
    assert not torch.equal(one.ffn.expand.weight, other.ffn.expand.weight)
    assert float(one.ffn.expand.weight.std()) == pytest.approx(
        np.sqrt(2 / (D_MODEL + D_FF)), rel=0.02
    )


def test_tokens_that_look_at_all_alike_are_equal_after_one_layer() -> None:
    (block,) = untrained(1, "relu", 3)
    block.attention.project_in.weight[:D_MODEL] = 0  # no queries: every weight is 1 / T
    after = layer(block, X, ("ffn", "residual"))
    assert told_apart(after) < 1e-14
    assert told_apart(layer(block, X, ("ffn",))) > 0.1, "the residual keeps what they were"


def norm_1_inf(x: Tensor) -> float:
    """Dong et al. 2021, section 2: √(‖X‖₁ ‖X‖_∞), the largest column sum and row sum."""
    sizes = x.abs()
    return float((sizes.sum(0).max() * sizes.sum(1).max()).sqrt())


@pytest.mark.parametrize("seed", range(4))
def test_attention_alone_keeps_to_the_papers_bound(seed: int) -> None:
    """Dong et al. 2021, lemma A.1, one head: ‖res(SA(X))‖ ≤ 4‖W_QK‖₁‖W_V‖₁,∞/√d ‖res(X)‖³."""
    (block,) = untrained(1, "relu", seed)
    attention = block.attention
    attention.n_heads = 1
    attention.project_out.weight.copy_(torch.eye(D_MODEL))
    attention.project_in.weight.mul_(0.05)
    queries, keys, values = attention.project_in.weight.reshape(3, D_MODEL, D_MODEL)
    x = 0.05 * X
    apart = x - x.mean(dim=0)
    after = layer(block, x, ("ffn", "residual", "norm"))
    left = norm_1_inf(after - after.mean(dim=0))
    product = queries.mT @ keys
    largest = float(product.abs().sum(0).max())
    bound = 4 * largest * norm_1_inf(values.mT) / np.sqrt(D_MODEL) * norm_1_inf(apart) ** 3
    # The paper's residual takes away the nearest row in its norm; the mean may be 2 times as far.
    assert left <= 2 * bound


def test_attention_alone_collapses_ever_faster_and_the_residual_stops_it() -> None:
    alone = strip(X, 4, 1, ("ffn", "residual"), "relu", 1).apart
    drops = alone[1:4] / alone[:3]
    assert (np.diff(drops) < 0).all()
    assert alone[-1] < 1e-9
    assert strip(X, 4, 1, ("ffn",), "relu", 1).apart[-1] > 0.3


def test_without_phi_the_ffn_is_affine() -> None:
    (block,) = untrained(1, "identity", 4)
    without = ("attention", "residual", "norm")
    one, other, both = (layer(block, x, without) for x in (X, 2 * X + 1, 1.5 * X + 0.5))
    assert_allclose(both, (one + other) / 2, atol=1e-12)
    found = strip(X, 1, 0, (*without, "phi"), "relu", 4)
    assert found.scale[1] == pytest.approx(float(one.square().mean().sqrt()), rel=1e-12)


def test_with_attention_and_ffn_away_nothing_happens() -> None:
    found = strip(X, 5, 1, ("attention", "ffn"), "relu", 1)
    assert_allclose(found.apart, found.apart[0])
    assert_allclose(found.scale, found.scale[0])
    assert_allclose(found.gradient, 1)


@pytest.mark.parametrize("without", [(), ("residual",), ("norm", "phi")])
def test_the_gradient_is_that_of_finite_differences(without: tuple[str, ...]) -> None:
    """What arrives at the input: its part along any direction is the slope of vᵀ output there."""
    token, depth, step = 2, 3, 1e-6
    blocks = untrained(depth, "identity" if "phi" in without else "gelu", 1)
    direction = torch.randn(
        D_MODEL, generator=torch.Generator().manual_seed(0), dtype=torch.float64
    )
    direction /= direction.norm()

    def along(x: Tensor) -> Tensor:
        for block in blocks:
            x = layer(block, x, without)
        return x[token] @ direction

    found = torch.func.jacrev(along)(X)
    for row in (0, token):
        for column in range(0, D_MODEL, 16):
            moved = torch.zeros_like(X)
            moved[row, column] = step
            slope = (along(X + moved) - along(X - moved)) / (2 * step)
            assert float(found[row, column]) == pytest.approx(float(slope), rel=1e-4, abs=1e-8)
    told = strip(X, depth, token, without, "gelu", 1).gradient
    assert told[0] == pytest.approx(float(found.norm()), rel=1e-9)
    assert told[-1] == pytest.approx(1)


def test_how_far_apart_tokens_are_in_closed_form() -> None:
    assert told_apart(torch.ones(4, 3)) == 0
    assert told_apart(torch.tensor([[1.0, 0.0], [-1.0, 0.0]])) == 1
    assert told_apart(torch.tensor([[3.0, 1.0], [3.0, -1.0]])) == pytest.approx(np.sqrt(0.1))
    assert told_apart(torch.zeros(2, 2)) == 0


def test_similarity_is_the_mean_cosine_of_two_different_tokens() -> None:
    x = torch.tensor([[1.0, 0.0], [0.0, 2.0], [3.0, 3.0]], dtype=torch.float64)
    found = watch([], x, 0)
    assert found.similarity[0] == pytest.approx((0 + np.sqrt(0.5) + np.sqrt(0.5)) / 3)
    assert_allclose(found.cosines[0][2], [np.sqrt(0.5), np.sqrt(0.5), 1])


@pytest.mark.parametrize("n_tokens", [1, 2])
def test_any_combination_of_parts_may_be_taken_away(n_tokens: int) -> None:
    for size in range(len(PARTS) + 1):
        for without in combinations(PARTS, size):
            found = strip(X[:n_tokens], 2, 0, without, "relu", 1)
            for values in (found.apart, found.similarity, found.scale, found.gradient):
                assert len(values) == 3
                assert np.isfinite(values).all()


def test_what_enters_is_the_sentence_in_fewer_dimensions(tokenizer: Tokenizer) -> None:
    model = ours(tokenizer)
    trace = model.trace("the cat the cat " * 15)
    x = entered(trace, 3)
    assert x.shape == (MOST_TOKENS, D_MODEL)
    assert float(x.square().mean()) == pytest.approx(1)
    embedding = trace.embedding[:MOST_TOKENS].double()
    solved = torch.linalg.lstsq(embedding, x)
    assert_allclose(embedding @ solved.solution, x, atol=1e-6)


def test_the_networks_own_blocks_are_watched_as_they_are(tokenizer: Tokenizer) -> None:
    model = ours(tokenizer)
    trace = model.trace("The cat sat on it.")
    found = of_the_network(model, trace, 1)
    streams = [trace.embedding, *(block.output for block in trace.blocks)]
    assert_allclose(found.apart, [told_apart(stream) for stream in streams], rtol=1e-5)
