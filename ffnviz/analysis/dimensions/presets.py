"""The shapes of well-known Transformers, with what their authors say."""

from dataclasses import dataclass

from ffnviz.analysis.dimensions.cost import Shape


@dataclass(frozen=True)
class Preset:
    """A network by its shape.

    Attributes:
        name: how it is called.
        shape: its numbers; n_tokens is the length it was trained on.
        source: where they stand, and what is counted.
    """

    name: str
    shape: Shape
    source: str


PRESETS = {
    "twins": Preset("ffnviz's twins", Shape(), "this repository"),
    "base": Preset(
        "Transformer base",
        Shape(n_tokens=512, vocab_size=37_000, n_blocks=12, n_cross=6, extra_norms=0, extra_rows=0),
        "Vaswani et al. 2017, table 3: 65 million; encoder and decoder, one shared embedding",
    ),
    "big": Preset(
        "Transformer big",
        Shape(
            d_model=1_024,
            d_ff=4_096,
            n_heads=16,
            n_tokens=512,
            vocab_size=37_000,
            n_blocks=12,
            n_cross=6,
            extra_norms=0,
            extra_rows=0,
        ),
        "Vaswani et al. 2017, table 3: 213 million; encoder and decoder, one shared embedding",
    ),
    "bert": Preset(
        "BERT-base",
        Shape(
            d_model=768,
            d_ff=3_072,
            n_heads=12,
            n_tokens=512,
            vocab_size=30_522,
            n_blocks=12,
            extra_rows=512 + 2,
        ),
        "Devlin et al. 2019: 110 million, with a pooler that is not counted here",
    ),
    "gpt2": Preset(
        "GPT-2 small",
        Shape(
            d_model=768,
            d_ff=3_072,
            n_heads=12,
            n_tokens=1_024,
            vocab_size=50_257,
            n_blocks=12,
            extra_rows=1_024,
        ),
        "Radford et al. 2019; 124,439,808 in the released weights",
    ),
    "t5": Preset(
        "T5-base",
        Shape(
            d_model=768,
            d_ff=3_072,
            n_heads=12,
            n_tokens=512,
            vocab_size=32_128,
            n_blocks=24,
            n_cross=12,
            biases=False,
            norm_vectors=1,
            extra_norms=2,
            extra_rows=0,
            extra_parameters=2 * 32 * 12,
        ),
        "Raffel et al. 2020; 222,903,552 in the released weights, encoder and decoder",
    ),
    "llama": Preset(
        "Llama 2 7B (SwiGLU)",
        Shape(
            d_model=4_096,
            d_ff=11_008,
            n_heads=32,
            n_tokens=4_096,
            vocab_size=32_000,
            gated=True,
            n_blocks=32,
            biases=False,
            norm_vectors=1,
            extra_rows=0,
            tied=False,
        ),
        "Touvron et al. 2023; 6,738,415,616 in the released weights",
    ),
}
