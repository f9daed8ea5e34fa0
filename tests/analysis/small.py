"""A small random model for the analyses, before or after LayerNorm."""

import torch

from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.models.encoder.encoder import initial_encoder
from ffnviz.models.encoder.model import Model
from ffnviz.models.encoder.tokenizer import Tokenizer


def small_model(tokenizer: Tokenizer, norm: str, activation: str = "relu") -> Model:
    """A random model whose biases and gains are not the neutral ones of a new encoder."""
    config = EncoderConfig(
        vocab_size=tokenizer.vocab_size,
        d_model=16,
        n_heads=2,
        d_ff=32,
        n_blocks=3,
        norm=norm,
        activation=activation,
    )
    encoder = initial_encoder(config, seed=3).eval().requires_grad_(False)
    generator = torch.Generator().manual_seed(4)
    for parameter in encoder.parameters():
        parameter.add_(0.2 * torch.randn(parameter.shape, generator=generator))
    return Model("small", encoder, tokenizer, torch.full((tokenizer.vocab_size,), 10_000))
