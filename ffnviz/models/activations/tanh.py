"""The hyperbolic tangent: a sigmoid between −1 and 1, with zero in the middle."""

import torch

from ffnviz.models.activations.activation import Activation

TANH = Activation(
    "tanh", "tanh", r"\tanh(x) = 2\,\sigma(2x) - 1", torch.tanh,
    source="LeCun et al. 1998 (Efficient BackProp), section 4.4",
    numpy="np.tanh(z)", torch="torch.tanh(z)", line=("@negative_mid", "solid"),
)  # fmt: skip
