"""Our block and our stack against PyTorch's own, with the same weights."""

from dataclasses import replace
from itertools import product
from typing import cast

import pytest
import torch
from torch import Tensor, nn

from ffnviz.models.encoder.block import Block
from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.models.encoder.encoder import Encoder
from tests.models.reference import randomise

TOLERANCE = 1e-5  # float32, values of a few units
REAL = EncoderConfig()
SMALL = EncoderConfig(vocab_size=50, d_model=24, n_heads=3, d_ff=40, n_blocks=3)
N_TOKENS = 24

VARIANTS = pytest.mark.parametrize(
    ("norm", "activation", "causal"),
    list(product(["pre", "post"], ["relu", "gelu"], [False, True])),
)


def theirs(ours: Block, config: EncoderConfig) -> nn.TransformerEncoderLayer:
    """PyTorch's layer with our weights."""
    layer = nn.TransformerEncoderLayer(
        config.d_model,
        config.n_heads,
        config.d_ff,
        dropout=0.0,
        activation=config.activation,
        layer_norm_eps=config.layer_norm_eps,
        batch_first=True,
        norm_first=config.norm == "pre",
        bias=config.bias,
    )
    ours_by_their_name: dict[str, Tensor | None] = {
        "self_attn.in_proj_weight": ours.attention.project_in.weight,
        "self_attn.in_proj_bias": ours.attention.project_in.bias,
        "self_attn.out_proj.weight": ours.attention.project_out.weight,
        "self_attn.out_proj.bias": ours.attention.project_out.bias,
        "linear1.weight": ours.ffn.expand.weight,
        "linear1.bias": ours.ffn.expand.bias,
        "linear2.weight": ours.ffn.compress.weight,
        "linear2.bias": ours.ffn.compress.bias,
        "norm1.weight": ours.attention_norm.weight,
        "norm1.bias": ours.attention_norm.bias,
        "norm2.weight": ours.ffn_norm.weight,
        "norm2.bias": ours.ffn_norm.bias,
    }
    layer.load_state_dict({name: t for name, t in ours_by_their_name.items() if t is not None})
    return layer


def mask(config: EncoderConfig) -> Tensor | None:
    """PyTorch's mask: -inf above the diagonal, or none."""
    return nn.Transformer.generate_square_subsequent_mask(N_TOKENS) if config.causal else None


@VARIANTS
@pytest.mark.parametrize("sizes", [REAL, SMALL], ids=["real size", "small"])
def test_a_block_computes_what_the_layer_of_pytorch_computes(
    norm: str, activation: str, causal: bool, sizes: EncoderConfig
) -> None:
    config = replace(sizes, norm=norm, activation=activation, causal=causal)
    ours = randomise(Block(config))
    x = torch.randn(2, N_TOKENS, config.d_model, generator=torch.Generator().manual_seed(1))
    expected = theirs(ours, config)(x, src_mask=mask(config))
    assert (ours(x).output - expected).abs().max() <= TOLERANCE


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_block_without_biases_computes_what_that_layer_of_pytorch_computes(norm: str) -> None:
    config = replace(SMALL, norm=norm, activation="gelu", bias=False)
    ours = randomise(Block(config))
    assert not [name for name, _ in ours.named_parameters() if "bias" in name]
    x = torch.randn(2, N_TOKENS, config.d_model, generator=torch.Generator().manual_seed(1))
    assert (ours(x).output - theirs(ours, config)(x)).abs().max() <= TOLERANCE


@VARIANTS
def test_the_whole_stack_computes_what_the_encoder_of_pytorch_computes(
    norm: str, activation: str, causal: bool
) -> None:
    config = replace(SMALL, norm=norm, activation=activation, causal=causal)
    ours: Encoder = randomise(Encoder(config))
    layers = [theirs(module, config) for module in cast(list[Block], list(ours.blocks))]
    stack = nn.TransformerEncoder(
        layers[0],
        num_layers=len(layers),
        norm=ours.final_norm if norm == "pre" else None,
        enable_nested_tensor=False,
    )
    stack.layers = nn.ModuleList(layers)
    ids = torch.randint(50, (2, N_TOKENS), generator=torch.Generator().manual_seed(1))
    trace = ours(ids)
    positions = torch.arange(N_TOKENS)
    embedding = ours.token_embedding.weight[ids] + ours.position_embedding.weight[positions]
    assert torch.equal(trace.embedding, embedding)
    expected = stack(embedding, mask=mask(config))
    assert len(trace.blocks) == 3
    assert (trace.final - expected).abs().max() <= TOLERANCE
    logits = expected @ ours.token_embedding.weight.T  # the output matrix is the embedding
    assert (trace.logits - logits).abs().max() <= 2 * TOLERANCE


def test_the_output_matrix_is_the_embedding_and_not_a_second_one() -> None:
    encoder = Encoder(SMALL)
    of_vocabulary_size = [n for n, p in encoder.named_parameters() if 50 in p.shape]
    assert of_vocabulary_size == ["token_embedding.weight"]
