"""GELU: exact, its tanh approximation, and the gated variant GEGLU."""

from functools import partial

from torch.nn import functional as F

from ffnviz.models.activations.activation import Activation

GELU = Activation(
    "gelu",
    "GELU",
    r"x\,\Phi(x)",
    F.gelu,
    source="Hendrycks & Gimpel 2016, section 2",
    numpy="z * 0.5 * (1 + np.vectorize(math.erf)(z / math.sqrt(2)))",
    torch="F.gelu(z)",
    line=("@gelu", "solid"),
)
GELU_TANH = Activation(
    "gelu_tanh",
    "GELU (tanh)",
    r"\tfrac{x}{2}\left(1 + \tanh\left[\sqrt{2/\pi}\,(x + 0.044715\,x^3)\right]\right)",
    partial(F.gelu, approximate="tanh"),
    source=GELU.source,
    numpy="0.5 * z * (1 + np.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3)))",
    torch='F.gelu(z, approximate="tanh")',
    line=("@text", "dot"),
)
GEGLU = GELU.with_gate("geglu", "GEGLU", "Shazeer 2020, eq. 5")
