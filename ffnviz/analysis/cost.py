"""What the parts of a Transformer cost, by its shape; and the shapes of well-known ones."""

from dataclasses import dataclass, replace

from ffnviz.models.activations import ACTIVATIONS
from ffnviz.models.encoder.config import EncoderConfig

PARTS = ("embedding", "attention", "FFN", "LayerNorm", "output")
BYTES = {"float32": 4, "float16": 2, "bfloat16": 2}


@dataclass(frozen=True)
class Shape:
    """The sizes that determine a Transformer's parameters and multiply-adds."""

    d_model: int = 512  # width of the residual stream
    d_ff: int = 2_048  # neurons of each FFN
    n_heads: int = 8  # attention heads of width d_model / n_heads; they change no count
    n_tokens: int = 128  # length of the sequence, n
    vocab_size: int = 8_192  # entries of the vocabulary
    gated: bool = False  # three matrices an FFN instead of two (Shazeer 2020)
    n_blocks: int = 2  # blocks, each with one FFN and one self-attention
    n_cross: int = 0  # blocks that attend to a second sequence too, of the same length
    biases: bool = True  # whether attention and FFN have bias vectors
    norm_vectors: int = 2  # per normalisation: 2 (LayerNorm: gain and bias) or 1 (RMSNorm)
    extra_norms: int = 1  # normalisations beyond one per sub-layer
    extra_rows: int = 128  # embedding rows besides the vocabulary's: positions, segments
    extra_parameters: int = 0  # further parameters of the embedding: relative positions
    tied: bool = True  # the output matrix is the embedding matrix: no parameters of its own

    @property
    def ffn_matrices(self) -> int:
        """Matrices of d_model × d_ff in one FFN."""
        return 3 if self.gated else 2

    @property
    def n_attentions(self) -> int:
        """Attention sub-layers in all blocks."""
        return self.n_blocks + self.n_cross


def shape_of(config: EncoderConfig, n_tokens: int | None = None) -> Shape:
    """The shape of one of our encoders, for sequences of n_tokens or else of its longest."""
    return Shape(
        d_model=config.d_model,
        d_ff=config.d_ff,
        n_heads=config.n_heads,
        n_tokens=n_tokens or config.max_tokens,
        vocab_size=config.vocab_size,
        gated=ACTIVATIONS[config.activation].gated,
        n_blocks=config.n_blocks,
        biases=config.bias,
        norm_vectors=2 if config.bias else 1,
        extra_norms=1 if config.norm == "pre" else 0,
        extra_rows=config.max_tokens,
    )


def parameters(shape: Shape) -> dict[str, int]:
    """The parameters of each of PARTS (Vaswani et al. 2017, sections 3.2 and 3.3)."""
    d = shape.d_model
    attention = 4 * d * d + (4 * d if shape.biases else 0)
    ffn = shape.ffn_matrices * d * shape.d_ff
    if shape.biases:
        ffn += (shape.ffn_matrices - 1) * shape.d_ff + d
    norms = shape.n_attentions + shape.n_blocks + shape.extra_norms
    return {
        "embedding": (shape.vocab_size + shape.extra_rows) * d + shape.extra_parameters,
        "attention": shape.n_attentions * attention,
        "FFN": shape.n_blocks * ffn,
        "LayerNorm": norms * shape.norm_vectors * d,
        "output": 0 if shape.tied else shape.vocab_size * d,
    }


def multiply_adds(shape: Shape) -> dict[str, int]:
    """The multiply-adds of each of PARTS in matrix products, for one sequence of n tokens.

    A block's attention takes 4·n·d_model² for its projections and 2·n²·d_model for scores and
    mixing, without the saving that a causal mask allows; its FFN 2·n·d_model·d_ff (gated: 3).
    Looking up embeddings and normalising count as 0: they are not matrix products.
    """
    n, d = shape.n_tokens, shape.d_model
    return {
        "embedding": 0,
        "attention": shape.n_attentions * (4 * n * d * d + 2 * n * n * d),
        "FFN": shape.n_blocks * shape.ffn_matrices * n * d * shape.d_ff,
        "LayerNorm": 0,
        "output": n * d * shape.vocab_size,
    }


def memory(shape: Shape) -> dict[str, int]:
    """The bytes that the parameters occupy in each number format."""
    count = sum(parameters(shape).values())
    return {name: count * size for name, size in BYTES.items()}


def ffn_share(shape: Shape, n_tokens: float) -> float:
    """The FFNs' share, from 0 to 1, of the multiply-adds of all blocks at a sequence length."""
    d = shape.d_model
    ffn = shape.n_blocks * shape.ffn_matrices * d * shape.d_ff
    return ffn / (ffn + shape.n_attentions * (4 * d * d + 2 * n_tokens * d))


def overtaking_length(shape: Shape) -> float:
    """The length at which attention takes as many multiply-adds as the FFNs; may be below 0."""
    ffn = shape.n_blocks * shape.ffn_matrices * shape.d_ff / shape.n_attentions
    return (ffn - 4 * shape.d_model) / 2


@dataclass(frozen=True)
class Preset:
    """A published network by its shape."""

    name: str
    phi: str  # the name of its activation function
    shape: Shape  # n_tokens is a length to compare at
    source: str  # of the sizes, and what is counted


T5 = Shape(
    d_model=768, d_ff=3_072, n_heads=12, n_tokens=512, vocab_size=32_128, n_blocks=24, n_cross=12,
    biases=False, norm_vectors=1, extra_norms=2, extra_rows=0, extra_parameters=2 * 32 * 12,
)  # fmt: skip

PRESETS = {
    "twins": Preset(
        "ffnviz's networks", "relu", Shape(), "this repository, assets/models/*/training.json",
    ),
    "base": Preset(
        "Transformer base", "relu",
        Shape(n_tokens=512, vocab_size=37_000, n_blocks=12, n_cross=6, extra_norms=0, extra_rows=0),
        "Vaswani et al. 2017, table 3: 65 million; encoder and decoder, one shared embedding",
    ),
    "big": Preset(
        "Transformer big", "relu",
        Shape(d_model=1_024, d_ff=4_096, n_heads=16, n_tokens=512, vocab_size=37_000, n_blocks=12,
              n_cross=6, extra_norms=0, extra_rows=0),
        "Vaswani et al. 2017, table 3: 213 million; encoder and decoder, one shared embedding",
    ),
    "bert": Preset(
        "BERT-base", "gelu",
        Shape(d_model=768, d_ff=3_072, n_heads=12, n_tokens=512, vocab_size=30_522, n_blocks=12,
              extra_rows=512 + 2),
        "Devlin et al. 2019, section 3: 110 million, with a last layer that is not counted here",
    ),
    "gpt2": Preset(
        "GPT-2 small", "gelu_tanh",
        Shape(d_model=768, d_ff=3_072, n_heads=12, n_tokens=1_024, vocab_size=50_257, n_blocks=12,
              extra_rows=1_024),
        "Radford et al. 2019, table 2; 124,439,808 in the released weights, which also give d_ff",
    ),
    "t5": Preset(
        "T5-base", "relu", T5,
        "Raffel et al. 2020, section 3.1.1; 222,903,552 in the released weights, encoder and "
        "decoder",
    ),
    "t5v11": Preset(
        "T5 v1.1 base (GEGLU)", "geglu", replace(T5, d_ff=2_048, gated=True, tied=False),
        "its configuration; 247,577,856 in the released weights, encoder and decoder",
    ),
    "llama": Preset(
        "Llama 2 7B (SwiGLU)", "swiglu",
        Shape(d_model=4_096, d_ff=11_008, n_heads=32, n_tokens=4_096, vocab_size=32_000, gated=True,
              n_blocks=32, biases=False, norm_vectors=1, extra_rows=0, tied=False),
        "Touvron et al. 2023, table 1; 6,738,415,616 in the released weights, which also give d_ff",
    ),
}  # fmt: skip
