"""A model's card, and its FFNs and norms as the equations have them."""

from pathlib import Path

import torch
from torch import Tensor, nn

from ffnviz.models.activations import ACTIVATIONS
from ffnviz.models.card import Card, Provenance, seed_in
from ffnviz.models.encoder.block import Block
from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.models.encoder.feed_forward import GatedFeedForward
from ffnviz.models.encoder.folder import TRAINING
from ffnviz.models.encoder.linear import linear
from ffnviz.models.learned import is_learned
from ffnviz.models.views import AttentionView, FfnView, Norm


def model_card(
    name: str,
    label: str,
    colour: str,
    config: EncoderConfig,
    folder: Path | None,
    provenance: Provenance,
) -> Card:
    """The card; its usual label is φ's, its colour that of its kind, or if a visitor trained it."""
    phi = ACTIVATIONS[config.activation]
    learned = folder is not None and is_learned(folder)
    colours = ("learned", "learned_other") if learned else ("relu", "gelu")
    return Card(
        id=name,
        label=label or phi.label,
        phi=phi,
        colour=colour or colours[not phi.exact_zeros],
        gated=phi.gated,
        causal=config.causal,
        has_mask=True,
        has_word_head=True,
        has_word_vectors=True,
        pre_norm=config.norm == "pre",
        attention_seen=True,
        in_order=True,
        ours=True,
        provenance=provenance,
    )


def provenance_of(folder: Path | None, token_counts: Tensor, index: Path | None) -> Provenance:
    """Where the weights come from, with the training record if the folder has one."""
    record = folder and folder / TRAINING
    if record is None or not record.is_file():
        return Provenance(token_counts=token_counts, index=index)
    return Provenance(record, seed_in(record), token_counts, index)


def ffn_view(block: Block) -> FfnView:
    """A block's FFN: the weights themselves, not copies."""
    ffn = block.ffn
    gated = ffn.gated_value if isinstance(ffn, GatedFeedForward) else None
    norm = norm_view(block.ffn_norm) if block.norm_first else None
    return FfnView(
        keys=ffn.expand.weight,
        key_bias=ffn.expand.bias,
        values=ffn.compress.weight.mT,
        output_bias=ffn.compress.bias,
        gated_value=None if gated is None else gated.weight,
        gated_value_bias=None if gated is None else gated.bias,
        phi=ffn.activation,
        norm=norm,
        # In a post-LN block the stream before the FFN is the attention's LayerNorm.
        word_norm=norm or norm_view(block.attention_norm),
        stages=ffn,
        product=linear,
    )


def attention_view(block: Block) -> AttentionView:
    """A block's heads: the weights themselves, not copies."""
    out = block.attention.project_out
    outputs = torch.unflatten(out.weight.mT, 0, (block.attention.n_heads, -1))
    return AttentionView(outputs, out.bias)


def norm_view(module: nn.LayerNorm) -> Norm:
    """A LayerNorm as the equation has it."""
    return Norm(module.weight, module.bias, module.eps)
