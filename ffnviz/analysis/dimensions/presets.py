"""The shapes of well-known Transformers, with sources."""

from dataclasses import dataclass, replace

from ffnviz.analysis.dimensions.cost import Shape


@dataclass(frozen=True)
class Preset:
    """A published network by its shape."""

    name: str
    shape: Shape  # n_tokens is a length to compare at
    source: str  # of the sizes, and what is counted
    phi: str  # the name of its activation function
    phi_source: str  # where φ is published


T5 = Shape(
    d_model=768, d_ff=3_072, n_heads=12, n_tokens=512, vocab_size=32_128, n_blocks=24, n_cross=12,
    biases=False, norm_vectors=1, extra_norms=2, extra_rows=0, extra_parameters=2 * 32 * 12,
)  # fmt: skip

PRESETS = {
    "twins": Preset(
        "ffnviz's twins", Shape(), "this repository, assets/models/*/training.json",
        "relu", "one twin; the other has GELU",
    ),
    "base": Preset(
        "Transformer base",
        Shape(n_tokens=512, vocab_size=37_000, n_blocks=12, n_cross=6, extra_norms=0, extra_rows=0),
        "Vaswani et al. 2017, table 3: 65 million; encoder and decoder, one shared embedding",
        "relu", "Vaswani et al. 2017, eq. 2",
    ),
    "big": Preset(
        "Transformer big",
        Shape(d_model=1_024, d_ff=4_096, n_heads=16, n_tokens=512, vocab_size=37_000, n_blocks=12,
              n_cross=6, extra_norms=0, extra_rows=0),
        "Vaswani et al. 2017, table 3: 213 million; encoder and decoder, one shared embedding",
        "relu", "Vaswani et al. 2017, eq. 2",
    ),
    "bert": Preset(
        "BERT-base",
        Shape(d_model=768, d_ff=3_072, n_heads=12, n_tokens=512, vocab_size=30_522, n_blocks=12,
              extra_rows=512 + 2),
        "Devlin et al. 2019, section 3: 110 million, with a pooler that is not counted here",
        "gelu", "Devlin et al. 2019, section A.2",
    ),
    "gpt2": Preset(
        "GPT-2 small",
        Shape(d_model=768, d_ff=3_072, n_heads=12, n_tokens=1_024, vocab_size=50_257, n_blocks=12,
              extra_rows=1_024),
        "Radford et al. 2019, table 2; 124,439,808 in the released weights, where d_ff stands",
        "gelu_tanh", "the released code",
    ),
    "t5": Preset(
        "T5-base", T5,
        "Raffel et al. 2020, section 3.1.1; 222,903,552 in the released weights, encoder and "
        "decoder",
        "relu", "Raffel et al. 2020, section 3.1.1",
    ),
    "t5v11": Preset(
        "T5 v1.1 base (GEGLU)", replace(T5, d_ff=2_048, gated=True, tied=False),
        "the released checkpoint; 247,577,856 in the released weights, encoder and decoder",
        "geglu", "the notes of its release; Shazeer 2020",
    ),
    "llama": Preset(
        "Llama 2 7B (SwiGLU)",
        Shape(d_model=4_096, d_ff=11_008, n_heads=32, n_tokens=4_096, vocab_size=32_000, gated=True,
              n_blocks=32, biases=False, norm_vectors=1, extra_rows=0, tied=False),
        "Touvron et al. 2023, table 1; 6,738,415,616 in the released weights, where d_ff stands",
        "swiglu", "Touvron et al. 2023, section 2.2",
    ),
}  # fmt: skip
