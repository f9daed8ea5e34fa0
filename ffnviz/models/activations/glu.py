"""GLU, the first gated unit: a sigmoid gate, from 0 to 1, which never changes a sign."""

import torch

from ffnviz.models.activations.activation import Activation

GLU = Activation(
    "glu",
    "GLU",
    r"\sigma(x) \cdot v",
    torch.sigmoid,
    gated=True,
    below_zero=False,
    source="Dauphin et al. 2017; Shazeer 2020, eq. 4, and in the FFN eq. 6",
)
