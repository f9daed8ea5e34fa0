"""Our stack of blocks against PyTorch's own, with the same weights."""

from dataclasses import replace
from itertools import product
from typing import cast

import pytest
import torch
from torch import nn

from ffnviz.models.encoder.block import Block
from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.models.encoder.encoder import Encoder
from tests.models.reference import randomise

TOLERANCE = 1e-5  # float32, values of a few units
SMALL = EncoderConfig(vocab_size=50, d_model=24, n_heads=3, d_ff=40, n_blocks=3)
N_TOKENS = 24


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
    parts: dict[str, nn.Module] = {
        "self_attn.in_proj_": ours.attention.project_in,
        "self_attn.out_proj.": ours.attention.project_out,
        "linear1.": ours.ffn.expand,
        "linear2.": ours.ffn.compress,
        "norm1.": ours.attention_norm,
        "norm2.": ours.ffn_norm,
    }
    ours_by_their_name = {
        f"{their_name}{kind}": weight
        for their_name, part in parts.items()
        for kind, weight in part.named_parameters()
    }
    layer.load_state_dict(ours_by_their_name)
    return layer


@pytest.mark.parametrize(
    ("norm", "activation", "causal", "bias"),
    [
        *product(["pre", "post"], ["relu", "gelu"], [False, True], [True]),
        *product(["pre", "post"], ["gelu"], [False], [False]),
    ],
)
def test_the_whole_stack_computes_what_the_encoder_of_pytorch_computes(
    norm: str, activation: str, causal: bool, bias: bool
) -> None:
    config = replace(SMALL, norm=norm, activation=activation, causal=causal, bias=bias)
    ours: Encoder = randomise(Encoder(config))
    assert any("bias" in name for name, _ in ours.named_parameters()) == bias
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
    embedding = ours.token_embedding.weight[ids] + ours.position_embedding.weight[:N_TOKENS]
    assert torch.equal(trace.embedding, embedding)
    mask = nn.Transformer.generate_square_subsequent_mask(N_TOKENS) if causal else None
    expected = stack(embedding, mask=mask)
    assert len(trace.blocks) == 3
    assert (trace.final - expected).abs().max() <= TOLERANCE
    logits = expected @ ours.token_embedding.weight.T  # the output matrix is the embedding
    assert (trace.logits - logits).abs().max() <= 2 * TOLERANCE
    of_vocabulary_size = [name for name, weight in ours.named_parameters() if 50 in weight.shape]
    assert of_vocabulary_size == ["token_embedding.weight"]
