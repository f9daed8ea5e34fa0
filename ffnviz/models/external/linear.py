"""Linear layers of any class: which way their weights are stored, found from values."""

from torch import Tensor, nn

from ffnviz.models.external.compare import error, rows
from ffnviz.models.external.watch import Call, is_leaf


def is_linear(module: nn.Module) -> bool:
    """Whether it may be a linear layer: a leaf with a matrix."""
    weight = getattr(module, "weight", None)
    is_matrix = isinstance(weight, Tensor) and weight.dim() == 2 and weight.is_floating_point()
    return is_matrix and is_leaf(module)


def as_product(call: Call) -> tuple[Tensor, Tensor | None, float]:
    """W, (in, out), and b of output = input W + b, and the equation's error on this call.

    nn.Linear stores Wᵀ, others W; a square one is tried both ways.
    """
    # Detached, as the weights of a network in memory may require gradients.
    weight: Tensor = call.module.get_parameter("weight").detach()
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
