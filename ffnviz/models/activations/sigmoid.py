"""The logistic sigmoid σ, and what is made of it: SiLU (Swish with β = 1), SwiGLU and tanh."""

import torch
from torch.nn import functional as F

from ffnviz.models.activations.activation import Activation

SIGMOID = Activation(
    "sigmoid",
    "sigmoid",
    r"\sigma(x) = 1 / (1 + e^{-x})",
    torch.sigmoid,
    source="Rumelhart, Hinton & Williams 1986, eq. 2",
    below_zero=False,
    numpy="1 / (1 + np.exp(-z))",
    torch="torch.sigmoid(z)",
    line=("@negative_mid", "dash"),
)
SILU = Activation(
    "silu",
    "SiLU",
    r"x\,\sigma(x)",
    F.silu,
    source="Hendrycks & Gimpel 2016, section 2; Ramachandran et al. 2017",
    numpy="z / (1 + np.exp(-z))",
    torch="F.silu(z)",
    line=("@positive_mid", "dash"),
)
SWIGLU = SILU.with_gate("swiglu", "SwiGLU", "Shazeer 2020, eq. 5")
TANH = Activation(
    "tanh",
    "tanh",
    r"\tanh(x) = 2\,\sigma(2x) - 1",
    torch.tanh,
    source="LeCun et al. 1998 (Efficient BackProp), section 4.4",
    numpy="np.tanh(z)",
    torch="torch.tanh(z)",
    line=("@negative_mid", "solid"),
)
