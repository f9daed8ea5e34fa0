"""ReLU and its gated variant ReGLU. A ReLU zero is exact."""

from torch.nn import functional as F

from ffnviz.models.activations.activation import Activation

RELU = Activation(
    "relu",
    "ReLU",
    r"\max(0, x)",
    F.relu,
    source="Nair & Hinton 2010; in the Transformer: Vaswani et al. 2017, eq. 2",
    exact_zeros=True,
    below_zero=False,
    numpy="np.maximum(z, 0)",
    torch="torch.relu(z)",
    line=("@relu", "solid"),
)
REGLU = RELU.with_gate("reglu", "ReGLU", "Shazeer 2020, eq. 5")
