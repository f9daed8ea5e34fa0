"""SiLU (Swish with β = 1) and its gated variant SwiGLU."""

from torch.nn import functional as F

from ffnviz.models.activations.activation import Activation

SILU = Activation(
    name="silu",
    label="SiLU",
    formula=r"x\,\sigma(x)",
    function=F.silu,
    source="Hendrycks & Gimpel 2016, section 2; Ramachandran et al. 2017",
    numpy="z / (1 + np.exp(-z))",
    torch="F.silu(z)",
    line=("@positive_mid", "dash"),
)

SWIGLU = Activation(
    name="swiglu",
    label="SwiGLU",
    formula=r"x\,\sigma(x) \cdot v",
    function=F.silu,
    gated=True,
    source="Shazeer 2020, eq. 5",
)
