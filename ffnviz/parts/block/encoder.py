"""The encoder's block as an interactive drawing, as it was trained or with its LayerNorms moved."""

import copy
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from ffnviz.analysis.needs import encoder_of
from ffnviz.models.encoder.block import Block
from ffnviz.models.network import Network
from ffnviz.models.token_slice import index_in_full
from ffnviz.models.trace import BlockStages, ForwardPass
from ffnviz.parts.block import block_view as view
from ffnviz.parts.block.block_view import MeasuredStation
from ffnviz.parts.sheet import Sheet, row, set_to
from ffnviz.pictures.block_picture import BlockView, Station, block_cell
from ffnviz.pictures.cell import Head
from ffnviz.pictures.plot import Array
from ffnviz.pictures.wording import Sentence, listed, number, quoted
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, choice_setting


def encoder_stations(
    record: BlockStages, *, norm_first: bool, kept: slice = slice(None)
) -> tuple[MeasuredStation, ...]:
    """A block's stations in order; `kept` are the record's tokens among those its attention reads.

    Pre-LN: x, LN, attention, sum, LN, FFN, sum (Xiong et al. 2020, figure 1 b). Post-LN: x,
    attention, sum, LN, FFN, sum, LN (Vaswani et al. 2017, section 3.1). A norm that changes
    nothing is left out.
    """
    start = MeasuredStation("x", "stream", record.input)
    heads, wrote = record.attention, record.attention.output[kept]
    weights = heads.weights[:, kept, kept]
    attention = MeasuredStation("attention", "attention", wrote, weights=weights)
    ffn = MeasuredStation("ffn", "ffn", record.ffn.output, hidden=record.ffn.hidden)
    if norm_first:
        return (
            start,
            *_norm_station("norm1", record.input, heads.input[kept]),
            attention,
            MeasuredStation("sum1", "sum", record.middle, source="x"),
            *_norm_station("norm2", record.middle, record.ffn.input),
            ffn,
            MeasuredStation("sum2", "sum", record.output, source="sum1"),
        )
    return (
        start,
        attention,
        MeasuredStation("sum1", "sum", record.input + wrote, source="x"),
        MeasuredStation("norm1", "norm", record.middle),
        ffn,
        MeasuredStation("sum2", "sum", record.middle + record.ffn.output, source="norm1"),
        MeasuredStation("norm2", "norm", record.output),
    )


def _norm_station(name: str, stream: Tensor, read: Tensor) -> tuple[MeasuredStation, ...]:
    return () if torch.equal(stream, read) else (MeasuredStation(name, "norm", read),)


@torch.no_grad()
def with_norms_moved(model: Network, trace: ForwardPass, block: int) -> tuple[MeasuredStation, ...]:
    """The stations with every block's LayerNorms in the other place; nobody trained it that way."""
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


def headline(turns: Sequence[tuple[str, float]], label: str, start: str) -> Sentence:
    """How far each part of the block turns the token; the sentence begins with `start`."""
    parts: list[Sentence] = []
    for place, (what, angle) in enumerate(turns):
        turned = f"{angle:.0f}°"
        if place == len(turns) - 1:
            turned = number(turned)
        verb = "" if parts else f" turns {quoted(label)}"
        parts.append(f"the {what}{verb} by {turned}")
    lane = "Tokens mix only in attention; elsewhere each keeps to its lane."
    return f"{start}{listed(parts)}. {lane}"


def rotations(stations: Sequence[Station], token: int) -> list[tuple[str, float]]:
    """The name of each sum, and the degrees by which it turns the token's vector."""
    outputs = {station.name: station.output[token] for station in stations}
    return [
        (each.title.removeprefix("+ "), view.degrees(outputs[each.source], outputs[each.name]))
        for each in stations
        if each.source is not None
    ]


STATION = choice_setting(
    "station",
    {
        "attention": "attention",
        "x": "stream x",
        "norm1": "LayerNorm 1",
        "sum1": "+ attention",
        "norm2": "LayerNorm 2",
        "ffn": "FFN",
        "sum2": "+ FFN",
    },
)
BUILT = choice_setting("layernorm", {"own": "as trained", "moved": "LayerNorm moved"})
SETTINGS = (STATION, view.HEAD, BUILT)


def sheet(run: Run, values: Values) -> Sheet:
    """The block, and what the chosen station does to the chosen token."""
    block, token = run.state.block, run.token
    n_hidden = len(run.whole.tokens) - len(run.labels)
    is_moved = run.card.ours and values[BUILT] == "moved"
    if is_moved:
        computed = with_norms_moved(run.model, run.trace, block)
    else:
        first = index_in_full(run.trace, 0)
        kept, record = slice(first, first + len(run.labels)), run.trace.blocks[block]
        computed = encoder_stations(record, norm_first=run.card.pre_norm, kept=kept)
    before, after = view.leads(run)
    start: dict[str, Array] = {}
    enters = f"block {block} left it"
    if not block:
        parts = run.model.embedding_parts(run.trace, token)
        start = {name: view.as_array(vector) for name, vector in parts.items()}
        enters = "its word's vector" if "word" in start else "its embedding"
        if "position" in start:
            enters = "its word's vector plus its position's"
    leaves = view.TO_THE_WORDS if run.card.has_word_head else "as the network's output"
    passing = view.TokenInBlock(
        run.labels[token],
        len(run.labels),
        view.awake_on(run, computed, token),
        run.card.phi.label,
        enters,
        f"to block {block + 2}" if after else leaves,
        _norm_of(run),
        run.place - token if run.card.causal else n_hidden,
    )
    stations = view.stations_of(computed, token, passing, start, run.card.ours)
    own, other = ("pre-LN", "post-LN") if run.card.pre_norm else ("post-LN", "pre-LN")
    built = {"own": f"{own}, as trained", "moved": f"{other}, never trained"}
    begin = f"In block {block + 1}, "
    if is_moved:
        begin = f"With its LayerNorms moved ({other}; nobody trained it so), in block {block + 1} "
    sentence = headline(rotations(stations, token), run.labels[token], begin)
    names, chosen = {each.name for each in stations}, values[STATION]
    picture = block_cell(
        Head(sentence, "block", run.card.colour),
        stations,
        run.labels,
        (),
        BlockView(
            chosen if chosen in names else view.FIRST,
            min(values[view.HEAD], view.n_heads(stations)),
            token,
            before,
            after,
            built if run.card.ours else {},
            "moved" if is_moved else "own",
        ),
        key="block-picture",
        actions=replace(view.asks(run, STATION, computed), variant=lambda way: set_to(BUILT, way)),
    )
    return Sheet([row(picture)])


def _norm_of(run: Run) -> str:
    """The kind of the block's norms, by the one in front of its FFN."""
    if run.card.ours:
        return "LayerNorm"
    norm = run.model.ffn(run.state.block).norm
    return "norm" if norm is None else "LayerNorm" if norm.centred else "RMSNorm"
