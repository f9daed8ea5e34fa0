"""The stations of a block and what each makes of every token's vector."""

import copy
from dataclasses import dataclass
from enum import Enum

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ffnviz.analysis.lab.decoder import DecoderBlock, DecoderBlockRecord
from ffnviz.analysis.needs import Capability, encoder_of
from ffnviz.models.encoder.block import Block
from ffnviz.models.network import Network
from ffnviz.models.random_init import no_draws
from ffnviz.models.trace import BlockStages, ForwardPass

NEEDS = (Capability.OURS,)


class Kind(Enum):
    """What a station does."""

    STREAM = "stream"
    NORM = "norm"
    ATTENTION = "attention"
    CROSS = "cross"
    FFN = "ffn"
    SUM = "sum"


@dataclass(frozen=True, eq=False)
class Station:
    """One station."""

    name: str  # unique in its block, and the same in pre-LN and post-LN
    kind: Kind
    output: Float[Tensor, "tokens d_model"]  # (T, d_model)
    # of a sum, the station whose output is added to that of the one before
    source: str | None = None
    # of an attention, (n_heads, T, T); of a cross-attention to S tokens, (n_heads, T, S)
    weights: Float[Tensor, "heads tokens sources"] | None = None
    hidden: Float[Tensor, "tokens d_ff"] | None = None  # of an FFN, (T, d_ff)


def encoder_stations(
    record: BlockStages, *, norm_first: bool, kept: slice = slice(None)
) -> tuple[Station, ...]:
    """A block's stations in order, for one text, from its record.

    A norm that changes nothing, as in the first block of some networks, is left out. `kept` are
    the record's tokens among those that its attention reads.

    Pre-LN: x, LN, attention, sum, LN, FFN, sum (Xiong et al. 2020, figure 1 b). Post-LN: x,
    attention, sum, LN, FFN, sum, LN (Vaswani et al. 2017, section 3.1).
    """
    start = Station("x", Kind.STREAM, record.input)
    heads, wrote = record.attention, record.attention.output[kept]
    weights = heads.weights[:, kept, kept]
    attention = Station("attention", Kind.ATTENTION, wrote, weights=weights)
    ffn = Station("ffn", Kind.FFN, record.ffn.output, hidden=record.ffn.hidden)
    if norm_first:
        return (
            start,
            *_norm("norm1", record.input, heads.input[kept]),
            attention,
            Station("sum1", Kind.SUM, record.middle, source="x"),
            *_norm("norm2", record.middle, record.ffn.input),
            ffn,
            Station("sum2", Kind.SUM, record.output, source="sum1"),
        )
    return (
        start,
        attention,
        Station("sum1", Kind.SUM, record.input + wrote, source="x"),
        Station("norm1", Kind.NORM, record.middle),
        ffn,
        Station("sum2", Kind.SUM, record.middle + record.ffn.output, source="norm1"),
        Station("norm2", Kind.NORM, record.output),
    )


def _norm(name: str, stream: Tensor, read: Tensor) -> tuple[Station, ...]:
    return () if torch.equal(stream, read) else (Station(name, Kind.NORM, read),)


def decoder_stations(record: DecoderBlockRecord) -> tuple[Station, ...]:
    """A pre-LN decoder block's stations in order (Vaswani et al. 2017, figure 1, right)."""
    wrote = record.input + record.attention.output
    read = wrote + record.cross.output
    return (
        Station("x", Kind.STREAM, record.input),
        Station("norm1", Kind.NORM, record.attention.input),
        Station(
            "attention", Kind.ATTENTION, record.attention.output, weights=record.attention.weights
        ),
        Station("sum1", Kind.SUM, wrote, source="x"),
        Station("norm2", Kind.NORM, record.cross.input),
        Station("cross", Kind.CROSS, record.cross.output, weights=record.cross.weights),
        Station("sum2", Kind.SUM, read, source="sum1"),
        Station("norm3", Kind.NORM, record.ffn.input),
        Station("ffn", Kind.FFN, record.ffn.output, hidden=record.ffn.hidden),
        Station("sum3", Kind.SUM, record.output, source="sum2"),
    )


@torch.no_grad()
def with_norms_moved(model: Network, trace: ForwardPass, block: int) -> tuple[Station, ...]:
    """The stations with every block's LayerNorms in the other place: post-LN for pre-LN.

    The weights stay as they are, so the network was never trained that way.
    """
    x = trace.embedding
    encoder = encoder_of(model)
    for module in encoder.blocks[: block + 1]:
        record = moved(module)(x)
        x = record.output
    return encoder_stations(record, norm_first=encoder.config.norm != "pre")


def moved(block: Block) -> Block:
    """The same weights, shared and not copied, with the LayerNorms in the other place."""
    copied = copy.deepcopy(block, {id(weight): weight for weight in block.parameters()})
    copied.norm_first = not block.norm_first
    return copied


@torch.no_grad()
def borrowed_decoder(model: Network, block: int) -> DecoderBlock:
    """A decoder block with the weights of a trained encoder block; it was never trained itself.

    Causal attention, LayerNorms and FFN are the encoder block's; the cross-attention has queries
    by the encoder block's W_Q, and keys and values by its W_K and W_V.
    """
    encoder = encoder_of(model)
    lender = encoder.blocks[block]
    with torch.device("meta"), no_draws():
        decoder = DecoderBlock(encoder.config)
    decoder.attention, decoder.ffn = copy.copy(lender.attention), lender.ffn
    decoder.attention.causal = True
    decoder.attention_norm = decoder.cross_norm = lender.attention_norm
    decoder.ffn_norm = lender.ffn_norm
    project, width = lender.attention.project_in, encoder.config.d_model
    _lend(decoder.cross.project_query, project, slice(width))
    _lend(decoder.cross.project_memory, project, slice(width, None))
    decoder.cross.project_out = lender.attention.project_out
    return decoder.eval()


def _lend(to: nn.Linear, project: nn.Linear, rows: slice) -> None:
    to.weight = nn.Parameter(project.weight[rows], requires_grad=False)
    if project.bias is not None:
        to.bias = nn.Parameter(project.bias[rows], requires_grad=False)


@torch.no_grad()
def decode(
    model: Network, trace: ForwardPass, block: int, written: list[int]
) -> tuple[Station, ...]:
    """The stations of a borrowed decoder block on the tokens written so far.

    Its memory is the encoder's last stream of the sentence, normed. Block 2 comes after a borrowed
    block 1.

    Args:
        model: whose weights are borrowed.
        trace: of the sentence that was read.
        block: from 0.
        written: the ids of the tokens written so far.
    """
    x = encoder_of(model).embed(torch.tensor(written, device=model.device))
    for number in range(block + 1):
        record = borrowed_decoder(model, number)(x, trace.final)
        x = record.output
    return decoder_stations(record)
