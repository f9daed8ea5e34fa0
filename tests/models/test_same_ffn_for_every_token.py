"""The FFN treats each token alone, and all of them alike.

Alike exactly, as far as the arithmetic goes: a matrix product may sum a row's terms in an order
that depends on the row's place and the number of threads, and then real numbers are rounded
differently in the seventh digit. So exactness is tested with numbers that need no rounding, and
real ones are compared up to rounding.
"""

from collections.abc import Iterator

import pytest
import torch

from ffnviz.models.encoder.feed_forward import FeedForward, feed_forward
from tests.models.reference import randomise

LENGTHS = [2, 7, 10, 24, 128]  # matrix products are cut in tiles; no remainder may matter
ROUNDING = 1e-5  # float32 sums of 2,048 terms, values up to a few units


@pytest.fixture(scope="module", params=["relu", "gelu", "swiglu"])
def ffn(request: pytest.FixtureRequest) -> FeedForward:
    """At the real size, where a matrix product is really cut in tiles."""
    module: FeedForward = randomise(feed_forward(512, 2_048, request.param))
    return module.requires_grad_(False)


@pytest.fixture(params=[1, 2], ids=["one thread", "two threads"])
def threads(request: pytest.FixtureRequest) -> Iterator[None]:
    """One thread, as when many use the app, and two, as when one does."""
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield
    torch.set_num_threads(before)


def tokens(n: int) -> torch.Tensor:
    return torch.randn(n, 512, generator=torch.Generator().manual_seed(n))


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("activation", ["relu", "reglu", "identity"])
def test_equal_inputs_give_exactly_equal_outputs(activation: str, n: int) -> None:
    # Small whole numbers: every product and sum is exact in float32, in any order.
    module = feed_forward(512, 2_048, activation).requires_grad_(False)
    generator = torch.Generator().manual_seed(n)
    for parameter in module.parameters():
        whole = torch.randint(-1, 2, parameter.shape, generator=generator)
        kept = torch.rand(parameter.shape, generator=generator) < 0.1
        parameter.copy_((whole * kept).float())
    x = torch.randint(-2, 3, (n, 512), generator=generator).float()
    x[-1] = x[n // 2] = x[0]
    record = module(x)
    assert record.output.abs().max() < 2**24  # beyond that whole numbers are rounded
    for stage in (record.pre_activation, record.hidden, record.output):
        assert torch.equal(stage[-1], stage[0])
        assert torch.equal(stage[n // 2], stage[0])


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("n", LENGTHS)
def test_equal_inputs_give_equal_outputs_up_to_rounding(ffn: FeedForward, n: int) -> None:
    x = tokens(n)
    x[-1] = x[n // 2] = x[0]
    record = ffn(x)
    for stage in (record.pre_activation, record.hidden, record.output):
        assert (stage[-1] - stage[0]).abs().max() <= ROUNDING
        assert (stage[n // 2] - stage[0]).abs().max() <= ROUNDING


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("n", LENGTHS)
def test_changing_one_token_changes_no_bit_of_another_output(ffn: FeedForward, n: int) -> None:
    x = tokens(n)
    changed = x.clone()
    changed[1] += 1
    before, after = ffn(x), ffn(changed)
    others = torch.arange(n) != 1
    assert torch.equal(after.hidden[others], before.hidden[others])
    assert torch.equal(after.output[others], before.output[others])
    assert not torch.isclose(after.output[1], before.output[1]).all()


@pytest.mark.usefixtures("threads")
def test_the_order_of_the_tokens_does_not_matter(ffn: FeedForward) -> None:
    x = tokens(7)
    assert (ffn(x.flip(0)).output - ffn(x).output.flip(0)).abs().max() <= ROUNDING
