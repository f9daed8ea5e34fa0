"""The decoder block against PyTorch's own, with the same weights."""

import torch
from torch import nn

from ffnviz.analysis.lab.decoder import DecoderBlock
from ffnviz.models.encoder.config import EncoderConfig

CONFIG = EncoderConfig(vocab_size=10, d_model=16, n_heads=4, d_ff=32, activation="gelu")


def pair() -> tuple[DecoderBlock, nn.TransformerDecoderLayer]:
    """Ours, with weights of an everyday size, and PyTorch's with the same."""
    torch.manual_seed(3)
    ours = DecoderBlock(CONFIG).double().eval()
    for parameter in ours.parameters():
        nn.init.normal_(parameter, std=0.3)
    theirs = nn.TransformerDecoderLayer(
        16, 4, 32, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
    ).double()
    theirs.eval()
    cross = ours.cross
    theirs.self_attn.load_state_dict({
        "in_proj_weight": ours.attention.project_in.weight,
        "in_proj_bias": ours.attention.project_in.bias,
        "out_proj.weight": ours.attention.project_out.weight,
        "out_proj.bias": ours.attention.project_out.bias,
    })  # fmt: skip
    theirs.multihead_attn.load_state_dict({
        "in_proj_weight": torch.cat([cross.project_query.weight, cross.project_memory.weight]),
        "in_proj_bias": torch.cat([cross.project_query.bias, cross.project_memory.bias]),
        "out_proj.weight": cross.project_out.weight,
        "out_proj.bias": cross.project_out.bias,
    })  # fmt: skip
    for mine, other in (
        (ours.attention_norm, theirs.norm1), (ours.cross_norm, theirs.norm2),
        (ours.ffn_norm, theirs.norm3), (ours.ffn.expand, theirs.linear1),
        (ours.ffn.compress, theirs.linear2),
    ):  # fmt: skip
        other.load_state_dict(mine.state_dict())
    return ours, theirs


@torch.inference_mode()
def test_the_decoder_block_is_pytorchs() -> None:
    ours, theirs = pair()
    x, memory = torch.randn(2, 5, 16).double(), torch.randn(2, 7, 16).double()
    mask = nn.Transformer.generate_square_subsequent_mask(5, dtype=torch.float64)
    expected = theirs(x, memory, tgt_mask=mask, tgt_is_causal=True)
    record = ours(x, memory)
    torch.testing.assert_close(record.output, expected, rtol=0, atol=1e-12)
    assert record.cross.weights.shape == (2, 4, 5, 7)
    torch.testing.assert_close(record.cross.weights.sum(-1), torch.ones(2, 4, 5).double())


@torch.inference_mode()
def test_the_recorded_weights_mix_the_recorded_values() -> None:
    ours, _ = pair()
    cross = ours(torch.randn(5, 16).double(), torch.randn(7, 16).double()).cross
    mixed = (cross.weights @ cross.values).transpose(-3, -2).flatten(-2)
    torch.testing.assert_close(ours.cross.project_out(mixed), cross.output)


@torch.inference_mode()
def test_what_comes_later_changes_nothing_but_the_memory_does() -> None:
    ours, _ = pair()
    x, memory = torch.randn(5, 16).double(), torch.randn(7, 16).double()
    before = ours(x, memory).output
    later = x.clone()
    later[3:] = torch.randn(2, 16).double()
    assert torch.equal(ours(later, memory).output[:3], before[:3])
    assert (ours(x, 2 * memory).output - before).abs().amax(dim=-1).min() > 1e-3
