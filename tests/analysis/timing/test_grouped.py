"""An FFN cut into groups, against masked matrices and gradients."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from ffnviz.analysis.needs import encoder_of
from ffnviz.analysis.timing.grouped import GroupedFfn, grouped
from ffnviz.models.encoder.model import Model
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.network import NotForThisNetwork
from tests.analysis.networks import network
from tests.analysis.small import small_model

TEXT = "The cat sat on the [MASK]."


def mask(d_out: int, d_in: int, groups: int) -> torch.Tensor:
    """1 where output and input channel are of the same group."""
    rows, columns = torch.arange(d_out) * groups // d_out, torch.arange(d_in) * groups // d_in
    return (rows[:, None] == columns).float()


def cut(model: Model, block: int, x: torch.Tensor, groups: int) -> torch.Tensor:
    """The same by whole matrices with zeros outside the blocks, in float64."""
    ffn = encoder_of(model).blocks[block].ffn
    first, second = ffn.expand, ffn.compress
    w1 = (first.weight * mask(32, 16, groups)).double()
    w2 = (second.weight * mask(16, 32, groups)).double()
    hidden = torch.relu(x.double() @ w1.mT + first.bias.double())
    return hidden @ w2.mT + second.bias.double()


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_groups_are_the_blocks_on_the_diagonal(tokenizer: Tokenizer, norm: str) -> None:
    model = small_model(tokenizer, norm)
    trace = model.trace(TEXT)
    found = grouped(model, trace, 1, 2, repeats=2)
    assert found.groups == (1, 2, 4, 8, 16)
    record = trace.blocks[1].ffn
    for place, groups in enumerate(found.groups):
        output = cut(model, 1, record.input, groups)
        error = float((output - record.output).norm() / record.output.norm())
        assert found.errors[place] == pytest.approx(error, abs=1e-5)
        rows = model.stream_with(trace, 1, output.float())
        logits = model.logits(rows[2]).softmax(-1)
        best = logits.topk(5)
        assert found.predictions[place].ids.tolist() == best.indices.tolist()
        assert_allclose(found.predictions[place].probabilities, best.values, rtol=1e-3)
    assert_allclose(found.weights, 2 * 16 * 32 / np.array(found.groups))
    assert found.errors[0] < 1e-5 < found.errors[1]
    assert [spread.repeats for spread in found.times] == [2] * 5


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("groups", [1, 2, 4, 16])
def test_a_channel_is_heard_where_its_gradient_is_not_zero(
    tokenizer: Tokenizer, groups: int, shuffle: bool
) -> None:
    model = small_model(tokenizer, "pre", "gelu")
    made = GroupedFfn(encoder_of(model).blocks[0].ffn, groups, shuffle)
    x = torch.randn(1, 16, 1, generator=torch.Generator().manual_seed(1))
    slopes = torch.autograd.functional.jacobian(lambda at: made(at).flatten(), x).reshape(16, 16)  # type: ignore[no-untyped-call]
    share = float((slopes != 0).float().mean())
    found = grouped(model, model.trace(TEXT), 0, 0, repeats=1)
    expected = (found.reach_shuffled if shuffle else found.reach)[found.groups.index(groups)]
    assert expected == pytest.approx(share)
    assert shuffle or share == pytest.approx(1 / groups)


@pytest.mark.parametrize("kind", ["gated", "stranger"])
def test_it_is_for_our_plain_ffns(tokenizer: Tokenizer, kind: str) -> None:
    model = network(kind, tokenizer)
    with pytest.raises(NotForThisNetwork):
        grouped(model, model.trace(TEXT), 0, 0, 1)  # type: ignore[arg-type]
