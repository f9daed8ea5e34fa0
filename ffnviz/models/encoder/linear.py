"""x Wᵀ + b by oneDNN where that is much quicker on this processor than what PyTorch takes.

MKL, PyTorch's own choice on x86, leaves AVX-512 unused on AMD's processors; oneDNN, which comes
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
    """nn.Linear, by the quicker of both ways."""

    def forward(self, input: Float[Tensor, "*rows n_in"]) -> Float[Tensor, "*rows n_out"]:  # noqa: A002
        """x Wᵀ + b, (…, n_in) -> (…, n_out)."""
        return linear(input, self.weight, self.bias)


def linear(
    x: Float[Tensor, "*rows n_in"],
    weight: Float[Tensor, "n_out n_in"],
    bias: Float[Tensor, "n_out"] | None = None,
) -> Float[Tensor, "*rows n_out"]:
    """x Wᵀ + b, (…, n_in) -> (…, n_out), by the quicker of both ways."""
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
    """Whether this process takes oneDNN's products: measured once, unless it was decided."""
    return _decided[-1] if _decided else _measured()


def take_onednn(decided: bool) -> None:
    """Have this process decide like another, so that both compute the same to the bit.

    It is not taken where it is missing.
    """
    _decided[:] = [decided and _is_right()]


def _by_onednn(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    product: Tensor = torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")
    return product


@cache
def _measured() -> bool:
    if not _is_right():
        return False
    tried = _tried()
    ways: tuple[Product, ...] = F.linear, _by_onednn
    took: list[list[float]] = [[], []]
    for _ in range(REPEATS):  # in turn: a busy moment is no one's alone
        for way, seconds in zip(ways, took, strict=True):
            started = perf_counter()
            way(*tried)
            seconds.append(perf_counter() - started)
    plain, onednn = map(min, took)
    return onednn <= QUICKER * plain


@cache
@torch.inference_mode()
def _is_right() -> bool:
    """Whether this PyTorch has oneDNN's product, which is no public name, and it is right."""
    if not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
        return False
    try:
        found, wanted = _by_onednn(*_tried()), F.linear(*_tried())
    except (AttributeError, RuntimeError):
        return False
    return bool((found - wanted).abs().max() <= TOLERANCE * wanted.abs().max())


def _tried() -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    return (
        torch.randn(ROWS, D_MODEL, generator=generator),
        torch.randn(D_FF, D_MODEL, generator=generator),
        torch.randn(D_FF, generator=generator),
    )
