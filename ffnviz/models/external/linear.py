"""Linear layers of whatever class: which way their weights are stored, found from values."""

from torch import Tensor, nn

from ffnviz.models.external.compare import error, rows
from ffnviz.models.external.watch import Call


def is_linear(module: nn.Module) -> bool:
    """Whether it may be one: a leaf with a matrix."""
    weight = getattr(module, "weight", None)
    leaf = next(module.children(), None) is None
    return leaf and isinstance(weight, Tensor) and weight.dim() == 2 and weight.is_floating_point()


def as_product(call: Call) -> tuple[Tensor, Tensor | None, float]:
    """W, (in, out), and b of output = input W + b, and the equation's error on this call.

    nn.Linear stores Wᵀ, others W; a square one is tried both ways.
    """
    weight: Tensor = call.module.get_parameter(
        "weight"
    ).detach()  # one in memory may want gradients
    bias = getattr(call.module, "bias", None)
    read, wrote = rows(call.input), rows(call.output)
    bias = bias.detach() if isinstance(bias, Tensor) else None
    best: tuple[Tensor, Tensor | None, float] = (weight, bias, float("inf"))
    for matrix in (weight.mT, weight):
        if matrix.shape == (read.shape[1], wrote.shape[1]) and read.dtype == matrix.dtype:
            product = read @ matrix
            apart = error(product if bias is None else product + bias, wrote)
            if apart < best[2]:
                best = (matrix, bias, apart)
    return best
