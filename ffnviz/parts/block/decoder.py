"""The decoder's block: an untrained one with an encoder block's weights, on what is written."""

import copy
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import nn

from ffnviz.analysis.lab.decoder import DecoderBlock, DecoderBlockRecord
from ffnviz.analysis.needs import encoder_of
from ffnviz.models.network import Network
from ffnviz.models.torch_shortcuts import no_draws
from ffnviz.models.trace import ForwardPass
from ffnviz.parts.block import block_view as view
from ffnviz.parts.block.block_view import MeasuredStation
from ffnviz.parts.sheet import Sheet, row, set_to
from ffnviz.pictures.block_picture import BlockView, block_cell
from ffnviz.pictures.cell import Head
from ffnviz.pictures.plot import Array
from ffnviz.pictures.text import text_cell
from ffnviz.pictures.wording import Sentence, number, percent, quoted
from ffnviz.state.run import Run, token_labels
from ffnviz.state.settings import Values, choice_setting, count_setting, text_setting


def decoder_stations(record: DecoderBlockRecord) -> tuple[MeasuredStation, ...]:
    """A pre-LN decoder block's stations in order (Vaswani et al. 2017, figure 1, right)."""
    wrote = record.input + record.attention.output
    read = wrote + record.cross.output
    return (
        MeasuredStation("x", "stream", record.input),
        MeasuredStation("norm1", "norm", record.attention.input),
        MeasuredStation(
            "attention", "attention", record.attention.output, weights=record.attention.weights
        ),
        MeasuredStation("sum1", "sum", wrote, source="x"),
        MeasuredStation("norm2", "norm", record.cross.input),
        MeasuredStation("cross", "cross", record.cross.output, weights=record.cross.weights),
        MeasuredStation("sum2", "sum", read, source="sum1"),
        MeasuredStation("norm3", "norm", record.ffn.input),
        MeasuredStation("ffn", "ffn", record.ffn.output, hidden=record.ffn.hidden),
        MeasuredStation("sum3", "sum", record.output, source="sum2"),
    )


@torch.no_grad()
def borrowed_decoder(model: Network, block: int) -> DecoderBlock:
    """An untrained decoder block: all its parts have the weights of a trained encoder block."""
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
) -> tuple[MeasuredStation, ...]:
    """The stations of a borrowed decoder, which reads the encoder's last stream."""
    x = encoder_of(model).embed(torch.tensor(written, device=model.device))
    for index in range(block + 1):
        record = borrowed_decoder(model, index)(x, trace.final)
        x = record.output
    return decoder_stations(record)


def attends_most(label: str, read: Sequence[str], weights: Array | None, token: int) -> Sentence:
    """Where a written token attends most in the sentence that was read, on average over heads."""
    mean = np.zeros(len(read)) if weights is None else weights[:, token].mean(axis=0)
    most = int(mean.argmax())
    return (
        f"{quoted(label)} sees what has been written so far, never what follows. In the sentence "
        f"at the top it attends most to {quoted(read[most])} "
        f"({number(percent(float(mean[most])))}). No decoder was trained: this one borrows the "
        "encoder's weights."
    )


STATION = choice_setting(
    "decoder_station",
    {
        "cross": "cross-attention",
        "x": "stream x",
        "norm1": "LayerNorm 1",
        "attention": "attention",
        "sum1": "+ attention",
        "norm2": "LayerNorm 2",
        "sum2": "+ cross-attention",
        "norm3": "LayerNorm 3",
        "ffn": "FFN",
        "sum3": "+ FFN",
    },
)
LONGEST = 24  # tokens
WRITTEN = text_setting("written", "She opened the window", longest=200).with_control(
    "Written so far"
)
TOKEN = count_setting("written_token", 0, 0, LONGEST)  # from 1; 0 is the last
SETTINGS = (STATION, view.HEAD, WRITTEN, TOKEN)


def sheet(run: Run, values: Values) -> Sheet:
    """The block on what is written so far."""
    text = values[WRITTEN]
    tokens = run.model.tokenizer.encode(text, LONGEST).tokens if text.strip() else ()
    if not tokens:
        why = "Nothing is written yet. Type the first words of an answer into “Written so far”."
        return Sheet([row(text_cell("nothing-written", why, tone="info"))])
    token = min(values[TOKEN] or LONGEST, len(tokens)) - 1
    labels, block = token_labels(tokens), run.state.block
    computed = decode(run.model, run.trace, block, [each.id for each in tokens])
    before, after = view.leads(run)
    passing = view.TokenInBlock(
        labels[token],
        len(labels),
        view.awake_on(run, computed, token),
        run.card.phi.label,
        f"decoder block {block} left it" if block else "its word's vector plus its position's",
        f"to decoder block {block + 2}" if after else view.TO_THE_WORDS,
    )
    stations = view.stations_of(computed, token, passing, {})
    head = min(values[view.HEAD], view.n_heads(stations))
    weights = next(each.weights for each in stations if each.name == "cross")
    said = attends_most(labels[token], run.labels, weights, token)
    picture = block_cell(
        Head(said, "decoder", run.card.colour),
        stations,
        labels,
        run.labels,
        BlockView(values[STATION], head, token, before, after),
        key="decoder-picture",
        actions=replace(
            view.asks(run, STATION, computed), token=lambda place: set_to(TOKEN, place + 1)
        ),
    )
    return Sheet([row(picture)])
