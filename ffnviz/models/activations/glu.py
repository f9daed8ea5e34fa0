"""GLU, the first gate: a sigmoid, which opens from 0 to 1 and never turns a sign."""

import torch

from ffnviz.models.activations.activation import Activation

GLU = Activation(
    name="glu",
    label="GLU",
    formula=r"\sigma(x) \cdot v",
    function=torch.sigmoid,
    gated=True,
    source="Dauphin et al. 2017; Shazeer 2020, eq. 4, and in the FFN eq. 6",
    below_zero=False,
)
