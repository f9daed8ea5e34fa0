"""One FFN for all tokens: measured, and compared with the usual nn.Sequential."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ffnviz.analysis.needs import Capability, require
from ffnviz.models.network import Network
from ffnviz.models.trace import ForwardPass

NEEDS = (Capability.PLAIN_FFN,)


@dataclass(frozen=True)
class PositionWise:
    """The largest differences between ways of applying one FFN to T tokens."""

    alone: float  # each token on its own, against all together
    batch: float  # the sentence twice as a batch, (2, T, d_model), against one sentence
    flattened: float  # that batch as 2·T rows, (2·T, d_model), against the batch
    n_parameters: int


@torch.no_grad()
def against_sequential(model: Network, trace: ForwardPass, block: int) -> float:
    """The largest difference to nn.Sequential(Linear, φ, Linear) with the same weights."""
    record = trace.blocks[block].ffn
    return float((_sequential(model, block)(record.input) - record.output).abs().max())


@torch.no_grad()
def position_wise(model: Network, trace: ForwardPass, block: int) -> PositionWise:
    """Apply one block's plain FFN to its input on this sentence in three ways."""
    x, together = trace.blocks[block].ffn.input, trace.blocks[block].ffn.output  # (T, d_model)
    sequential = _sequential(model, block)
    alone = torch.cat([sequential(row[None]) for row in x])
    pair = torch.stack([x, x])  # (B, T, d_model)
    batch = sequential(pair)
    flattened = sequential(pair.flatten(0, 1)).unflatten(0, pair.shape[:2])
    return PositionWise(
        float((alone - together).abs().max()),
        float((batch - together).abs().max()),
        float((flattened - batch).abs().max()),
        sum(parameter.numel() for parameter in sequential.parameters()),
    )


def _sequential(model: Network, block: int) -> nn.Sequential:
    require(model, NEEDS)
    ffn = model.ffn(block)
    first, second = _linear(ffn.keys, ffn.key_bias), _linear(ffn.values.mT, ffn.output_bias)
    return nn.Sequential(first, _Activation(ffn.phi.function), second)


def _linear(weight: Tensor, bias: Tensor | None) -> nn.Linear:
    linear = nn.Linear(weight.shape[1], weight.shape[0], bias is not None, device="meta")
    linear.weight = nn.Parameter(weight, requires_grad=False)
    if bias is not None:
        linear.bias = nn.Parameter(bias, requires_grad=False)
    return linear


class _Activation(nn.Module):
    def __init__(self, function: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Tensor) -> Tensor:
        return self.function(x)
