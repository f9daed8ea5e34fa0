"""The decoder block: it attends to what is written so far, and to the sentence that was read."""

from dataclasses import replace

from ffnviz.parts.block import block_view as view
from ffnviz.parts.block.block_view import TokenInBlock, attends_most, decode
from ffnviz.parts.sheet import Sheet, row, set_to
from ffnviz.pictures.block_picture import BlockView, block_cell
from ffnviz.pictures.cell import Head
from ffnviz.pictures.text import text_cell
from ffnviz.state.run import Run, token_labels
from ffnviz.state.settings import Values, choice_setting, count_setting, text_setting

STATION = choice_setting(
    "decoder_station",
    {"cross": "cross-attention", "x": "stream x", "norm1": "LayerNorm 1", "attention": "attention",
     "sum1": "+ attention", "norm2": "LayerNorm 2", "sum2": "+ cross-attention",
     "norm3": "LayerNorm 3", "ffn": "FFN", "sum3": "+ FFN"},
)  # fmt: skip
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
    passing = TokenInBlock(
        labels[token], len(labels), view.awake_on(run, computed, token), run.card.phi.label,
        f"decoder block {block} left it" if block else "its word's vector plus its position's",
        f"to decoder block {block + 2}" if after else "to the words",
    )  # fmt: skip
    stations = view.stations_of(computed, token, passing, [])
    head = min(values[view.HEAD], view.n_heads(stations))
    weights = next(each.weights for each in stations if each.name == "cross")
    picture = block_cell(
        Head(attends_most(labels[token], run.labels, weights, token), "decoder", run.card.colour),
        stations,
        labels,
        run.labels,
        BlockView(values[STATION], head, token, before, after),
        key="decoder-picture",
        actions=replace(
            view.asks(run, STATION, computed), token=lambda place: set_to(TOKEN, place + 1)
        ),
    )  # fmt: skip
    return Sheet([row(picture)])
