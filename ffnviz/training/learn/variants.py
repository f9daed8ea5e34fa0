"""The variants of the small network, which a bet compares with the usual one."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ffnviz.models.encoder.block import Block, Stream
from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.models.encoder.encoder import Encoder, initial_encoder
from ffnviz.training.learn.text import MAX_TOKENS

D_MODEL, D_FF = 64, 256
FEW = 2_000  # sentences, so that each is read a hundred times
LARGER = 3.0  # initial weights than of a wide network: so small a one then learns sooner


@dataclass(frozen=True)
class Variant:
    """One way to build the network."""

    label: str  # on pages
    phi: str = "relu"  # φ of the FFN
    d_ff: int = D_FF  # hidden neurons of each FFN
    norm: str = "pre"  # where LayerNorm stands: "pre", "post" or "none"
    residual: bool = True  # whether attention and FFN are added to the stream, or replace it
    dropout: float = 0.0  # share of values dropped while it trains
    ffn: str = "own"  # each block's "own", one "shared" by all, or "none"
    n_blocks: int = 2  # how many blocks
    sentences: int | None = None  # how many are trained on; None: all

    @property
    def can_be_saved(self) -> bool:
        """Whether a model folder can hold it: its equations are then those of a configuration."""
        return self.norm != "none" and self.residual

    def config(self, vocab_size: int) -> EncoderConfig:
        """The encoder's configuration."""
        norm = "pre" if self.norm == "none" else self.norm
        return EncoderConfig(
            vocab_size,
            MAX_TOKENS,
            D_MODEL,
            n_heads=4,
            d_ff=self.d_ff,
            n_blocks=self.n_blocks,
            activation=self.phi,
            norm=norm,
            dropout=self.dropout,
        )


VARIANTS = {
    "relu": Variant("ReLU"),
    "gelu": Variant("GELU", phi="gelu"),
    "swiglu": Variant("SwiGLU, d_ff × ⅔", phi="swiglu", d_ff=D_FF * 2 // 3),
    "identity": Variant("no φ", phi="identity"),
    "no-ffn": Variant("no FFN", ffn="none"),
    "shared-ffn": Variant("one FFN for both blocks", ffn="shared"),
    "half": Variant("d_ff × ½", d_ff=D_FF // 2),
    "double": Variant("d_ff × 2", d_ff=2 * D_FF),
    "quadruple": Variant("d_ff × 4", d_ff=4 * D_FF),
    "gelu-half": Variant("GELU, d_ff × ½", phi="gelu", d_ff=D_FF // 2),
    "gelu-quadruple": Variant("GELU, d_ff × 4", phi="gelu", d_ff=4 * D_FF),
    "eightfold": Variant("d_ff × 8", d_ff=8 * D_FF),
    "no-residual": Variant("no residual", residual=False),
    "post-norm": Variant("post-LayerNorm", norm="post"),
    "no-norm": Variant("no LayerNorm", norm="none"),
    "dropout": Variant("dropout 10%", dropout=0.1),
    # As many parameters as the usual one, within 1%: what the FFNs have is shared out otherwise.
    "one-block": Variant("1 block, d_ff × 2.5", n_blocks=1, d_ff=643),
    "four-blocks": Variant("4 blocks, d_ff × ¼", n_blocks=4, d_ff=62),
    "attention-only": Variant("6 blocks of attention only", n_blocks=6, d_ff=1, ffn="none"),
    "few": Variant(f"{FEW:,} sentences", sentences=FEW),
    "few-dropout": Variant(f"{FEW:,} sentences, dropout 10%", sentences=FEW, dropout=0.1),
}


class BlockWithoutResidual(Block):
    """A block whose attention and FFN replace the stream: m = Attention(LN(x)); y = FFN(LN(m))."""

    def add_attention(self, x: Stream, output: Stream) -> Stream:  # noqa: ARG002
        """What attention wrote, without x."""
        written: Tensor = self.dropout(output)
        return written

    def add_ffn(self, middle: Stream, output: Stream) -> Stream:  # noqa: ARG002
        """What the FFN wrote, without the stream."""
        written: Tensor = self.dropout(output)
        return written


def new_encoder(variant: Variant, vocab_size: int, seed: int) -> Encoder:
    """An untrained network; weights of the usual shape begin as in the usual network."""
    encoder = initial_encoder(variant.config(vocab_size), seed)
    usual = initial_encoder(VARIANTS["relu"].config(vocab_size), seed).state_dict()
    own = encoder.state_dict()
    alike = [name for name in usual if name in own and own[name].shape == usual[name].shape]
    encoder.load_state_dict({name: usual[name] for name in alike}, strict=False)
    with torch.no_grad():
        for weights in encoder.parameters():
            if weights.ndim > 1:
                weights.mul_(LARGER)
    if not variant.residual:
        blocks: nn.ModuleList = encoder.get_submodule("blocks")  # type: ignore[assignment]
        for place, block in enumerate(blocks):
            blocks[place] = BlockWithoutResidual(encoder.config)
            blocks[place].load_state_dict(block.state_dict())
    if variant.norm == "none":
        encoder.final_norm = nn.Identity()
        for block in encoder.blocks:
            block.attention_norm = block.ffn_norm = nn.Identity()  # type: ignore[assignment]
    if variant.ffn == "shared":
        for block in encoder.blocks:
            block.ffn = encoder.blocks[0].ffn
    if variant.ffn == "none":  # it writes nothing, and learns nothing
        for block in encoder.blocks:
            block.ffn.requires_grad_(False)
            for weights in block.ffn.parameters():
                weights.zero_()
    return encoder
