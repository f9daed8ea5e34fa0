"""A linear layer as a convolution with kernel 1."""

from torch import nn


def as_convolution(layer: nn.Linear) -> nn.Conv1d:
    """The same weights as Conv1d(kernel 1), (B, d_in, L) -> (B, d_out, L); shared, not copied.

    Vaswani et al. 2017, section 3.3: "two convolutions with kernel size 1".
    """
    convolution = nn.Conv1d(
        layer.in_features, layer.out_features, 1, bias=layer.bias is not None, device="meta"
    )
    # The kernel's one position is the matrix: (d_out, d_in) is (d_out, d_in, 1), and no copy.
    convolution.weight = nn.Parameter(layer.weight[..., None], requires_grad=False)
    if layer.bias is not None:
        convolution.bias = nn.Parameter(layer.bias, requires_grad=False)
    return convolution
