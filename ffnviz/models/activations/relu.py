"""ReLU and its gated variant ReGLU. A ReLU zero is exact."""

from torch.nn import functional as F

from ffnviz.models.activations.activation import Activation

RELU = Activation(
    name="relu",
    label="ReLU",
    formula=r"\max(0, x)",
    function=F.relu,
    source="Nair & Hinton 2010; in the Transformer: Vaswani et al. 2017, eq. 2",
    exact_zeros=True,
    below_zero=False,
    numpy="np.maximum(z, 0)",
    torch="torch.relu(z)",
    line=("@relu", "solid"),
)

REGLU = Activation(
    name="reglu",
    label="ReGLU",
    formula=r"\max(0, x) \cdot v",
    function=F.relu,
    gated=True,
    source="Shazeer 2020, eq. 5",
    exact_zeros=True,
    below_zero=False,
)
