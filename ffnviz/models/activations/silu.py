"""SiLU (Swish with β = 1) and its gated variant SwiGLU."""

from torch.nn import functional as F

from ffnviz.models.activations.activation import Activation

SILU = Activation(
    "silu", "SiLU", r"x\,\sigma(x)", F.silu,
    source="Hendrycks & Gimpel 2016, section 2; Ramachandran et al. 2017",
    numpy="z / (1 + np.exp(-z))", torch="F.silu(z)", line=("@positive_mid", "dash"),
)  # fmt: skip
SWIGLU = SILU.with_gate("swiglu", "SwiGLU", "Shazeer 2020, eq. 5")
