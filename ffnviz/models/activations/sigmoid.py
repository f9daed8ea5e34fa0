"""The logistic sigmoid: between 0 and 1, as a neuron's rate of firing was first thought of."""

import torch

from ffnviz.models.activations.activation import Activation

SIGMOID = Activation(
    "sigmoid", "sigmoid", r"\sigma(x) = 1 / (1 + e^{-x})", torch.sigmoid,
    source="Rumelhart, Hinton & Williams 1986, eq. 2", below_zero=False,
    numpy="1 / (1 + np.exp(-z))", torch="torch.sigmoid(z)", line=("@negative_mid", "dash"),
)  # fmt: skip
