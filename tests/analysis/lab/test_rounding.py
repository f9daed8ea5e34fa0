"""The rounding bounds: no float32 computation exceeds them, and none is needlessly wide."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from ffnviz.analysis.lab.tolerances import ffn_bound, gamma, linear_bound, product_bound
from ffnviz.models.encoder.feed_forward import FeedForward


@given(
    st.integers(0, 10_000),
    st.sampled_from(["relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh", "identity"]),
)
@torch.inference_mode()
def test_float32_stays_within_half_the_bound_of_float64(seed: int, activation: str) -> None:
    torch.manual_seed(seed)
    ffn, x = FeedForward(24, 40, activation), 3 * torch.randn(7, 24)
    single = ffn(x).output.double()
    bound = ffn_bound(ffn, x).double()
    exact = ffn.double()(x.double()).output
    assert ((single - exact).abs() <= bound / 2).all()
    assert bound.max() < 1e-2 * exact.abs().max().clamp_min(1.0)


@torch.inference_mode()
def test_a_linear_layers_bound_is_the_textbooks() -> None:
    layer = torch.nn.Linear(3, 2)
    layer.weight.data = torch.tensor([[1.0, -2.0, 0.5], [0.0, 1.0, 1.0]])
    layer.bias.data = torch.tensor([0.25, -1.0])
    unit = 2.0**-24
    expected = 4 * unit / (1 - 4 * unit) * torch.tensor([[1 + 4 + 1.5 + 0.25, 2 + 3 + 1.0]])
    torch.testing.assert_close(linear_bound(layer, torch.tensor([[1.0, 2.0, -3.0]])), expected)


@given(st.integers(0, 10_000))
def test_a_product_of_matrices_stays_within_its_bound(seed: int) -> None:
    torch.manual_seed(seed)
    a, b, c = torch.randn(5, 9), torch.randn(9, 6), torch.randn(6, 4)
    exact = a.double() @ b.double() @ c.double()
    off = float(((a @ b @ c).double() - exact).norm())
    assert off <= product_bound([a, b, c])


def test_gamma_grows_with_the_sum_and_with_the_precision() -> None:
    assert gamma(10, torch.float32) > gamma(5, torch.float32) > gamma(10, torch.float64)
