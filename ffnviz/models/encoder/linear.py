"""x Wᵀ + b by oneDNN where that is much quicker on this processor than PyTorch's own choice.

MKL, that choice on x86, leaves AVX-512 unused on AMD's processors; oneDNN, which comes
with PyTorch, uses it. Both read the weights as they lie. Gradients, other devices, other types and
small matrices stay with `F.linear`.
"""

from collections.abc import Callable
from functools import cache
from time import perf_counter

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

ROWS, D_MODEL, D_FF = 24, 512, 2_048  # of the product that decides
REPEATS = 12  # of which the quickest counts; 10 ms in all
QUICKER = 0.75  # of F.linear's time: far from 1, so that one machine always decides alike
SMALL = 2**17  # weights: below, calling oneDNN takes longer than it saves
TOLERANCE = 1e-4  # of the largest result

Product = Callable[[Tensor, Tensor, Tensor | None], Tensor]
_decided: list[bool] = []


class Linear(nn.Linear):
    """nn.Linear by the quicker of both kernels."""

    def forward(self, input: Float[Tensor, "*rows n_in"]) -> Float[Tensor, "*rows n_out"]:  # noqa: A002
        """x Wᵀ + b, (…, n_in) -> (…, n_out)."""
        return linear(input, self.weight, self.bias)


def linear(
    x: Float[Tensor, "*rows n_in"],
    weight: Float[Tensor, "n_out n_in"],
    bias: Float[Tensor, "n_out"] | None = None,
) -> Float[Tensor, "*rows n_out"]:
    """x Wᵀ + b, (…, n_in) -> (…, n_out), by the quicker of both kernels."""
    if (
        weight.numel() >= SMALL
        and x.dtype == weight.dtype == torch.float32
        and x.device.type == weight.device.type == "cpu"
        and not torch.is_grad_enabled()
        and x.numel()
        and onednn_is_quicker()
    ):
        return _by_onednn(x, weight, bias)
    return F.linear(x, weight, bias)


def onednn_is_quicker() -> bool:
    """Whether this process uses oneDNN: measured once, unless `take_onednn` decided it."""
    return _decided[-1] if _decided else _measured()


def take_onednn(decided: bool) -> None:
    """Decide as another process did, so that both compute the same to the bit, if oneDNN works."""
    _decided[:] = [decided and _is_right()]


def _by_onednn(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    product: Tensor = torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")
    return product


@cache
def _measured() -> bool:
    if not _is_right():
        return False
    operands = _operands()
    products: tuple[Product, ...] = F.linear, _by_onednn
    times: list[list[float]] = [[], []]
    for _ in range(REPEATS):  # in turn: a busy moment slows both
        for product, seconds in zip(products, times, strict=True):
            started = perf_counter()
            product(*operands)
            seconds.append(perf_counter() - started)
    plain, onednn = map(min, times)
    return onednn <= QUICKER * plain


@cache
@torch.no_grad()
def _is_right() -> bool:
    """Whether this PyTorch has oneDNN's product, a private name, and it is right."""
    if not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
        return False
    try:
        result, expected = _by_onednn(*_operands()), F.linear(*_operands())
    except (AttributeError, RuntimeError):
        return False
    return bool((result - expected).abs().max() <= TOLERANCE * expected.abs().max())


def _operands() -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    return (
        torch.randn(ROWS, D_MODEL, generator=generator),
        torch.randn(D_FF, D_MODEL, generator=generator),
        torch.randn(D_FF, generator=generator),
    )
