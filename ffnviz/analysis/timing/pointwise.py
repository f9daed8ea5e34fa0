"""A linear layer as a convolution with kernel 1, whole or in groups of channels."""

import torch
from torch import nn


def as_convolution(layer: nn.Linear, groups: int = 1) -> nn.Conv1d:
    """The same weights as Conv1d(kernel 1), (B, d_in, L) -> (B, d_out, L).

    In one group the weights are shared, not copied (Vaswani et al. 2017, section 3.3: "two
    convolutions with kernel size 1"); in more, only the blocks on the matrix's diagonal are kept.
    """
    d_in, d_out, bias = layer.in_features, layer.out_features, layer.bias is not None
    convolution = nn.Conv1d(d_in, d_out, 1, groups=groups, bias=bias, device="meta")
    blocks = torch.unflatten(torch.unflatten(layer.weight, 0, (groups, -1)), -1, (groups, -1))
    # (groups, d_out / groups, groups, d_in / groups): those where both groups are the same.
    diagonal = blocks.diagonal(dim1=0, dim2=2).movedim(-1, 0)
    kernel = diagonal.reshape(d_out, d_in // groups, 1)
    convolution.weight = nn.Parameter(kernel, requires_grad=False)
    if layer.bias is not None:
        convolution.bias = nn.Parameter(layer.bias, requires_grad=False)
    return convolution
