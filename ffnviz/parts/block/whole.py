"""The encoder block as an interactive drawing."""

from dataclasses import replace

from ffnviz.models.token_slice import index_in_full
from ffnviz.parts.block import block_view as view
from ffnviz.parts.sheet import Sheet, row, set_to
from ffnviz.pictures.block_picture import BlockView, block_cell
from ffnviz.pictures.cell import Head
from ffnviz.pictures.plot import Array
from ffnviz.pictures.text import text_cell
from ffnviz.state.run import Run, token_labels
from ffnviz.state.settings import Values, choice_setting, count_setting, text_setting

DECODER_STATION = choice_setting(
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
TO_THE_WORDS = "to be compared with all words of the vocabulary"
WRITTEN = text_setting("written", "She opened the window", longest=200).with_control(
    "Written so far"
)
TOKEN = count_setting("written_token", 0, 0, LONGEST)  # from 1; 0 is the last
DECODER_SETTINGS = (DECODER_STATION, view.HEAD, WRITTEN, TOKEN)


def decoder_sheet(run: Run, values: Values) -> Sheet:
    """The block on what is written so far."""
    text = values[WRITTEN]
    tokens = run.model.tokenizer.encode(text, LONGEST).tokens if text.strip() else ()
    if not tokens:
        why = "Nothing is written yet. Type the first words of an answer into “Written so far”."
        return Sheet([row(text_cell("nothing-written", why, tone="info"))])
    token = min(values[TOKEN] or LONGEST, len(tokens)) - 1
    labels, block = token_labels(tokens), run.state.block
    computed = view.decode(run.model, run.trace, block, [each.id for each in tokens])
    before, after = view.leads(run)
    passing = view.TokenInBlock(
        labels[token],
        len(labels),
        view.awake_on(run, computed, token),
        run.card.phi.label,
        f"decoder block {block} left it" if block else "its word's vector plus its position's",
        f"to decoder block {block + 2}" if after else TO_THE_WORDS,
    )
    stations = view.stations_of(computed, token, passing, {})
    head = min(values[view.HEAD], view.n_heads(stations))
    weights = next(each.weights for each in stations if each.name == "cross")
    said = view.attends_most(labels[token], run.labels, weights, token)
    picture = block_cell(
        Head(said, "decoder", run.card.colour),
        stations,
        labels,
        run.labels,
        BlockView(values[DECODER_STATION], head, token, before, after),
        key="decoder-picture",
        actions=replace(
            view.asks(run, DECODER_STATION, computed), token=lambda place: set_to(TOKEN, place + 1)
        ),
    )
    return Sheet([row(picture)])


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
    moved = run.card.ours and values[BUILT] == "moved"
    if moved:
        computed = view.with_norms_moved(run.model, run.trace, block)
    else:
        first = index_in_full(run.trace, 0)
        kept, record = slice(first, first + len(run.labels)), run.trace.blocks[block]
        computed = view.encoder_stations(record, norm_first=run.card.pre_norm, kept=kept)
    before, after = view.leads(run)
    start: dict[str, Array] = {}
    enters = f"block {block} left it"
    if not block:
        parts = run.model.embedding_parts(run.trace, token)
        start = {name: view.as_array(vector) for name, vector in parts.items()}
        enters = "its word's vector" if "word" in start else "its embedding"
        if "position" in start:
            enters = "its word's vector plus its position's"
    leaves = TO_THE_WORDS if run.card.has_word_head else "as the network's output"
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
    if moved:
        begin = f"With its LayerNorms moved ({other}; nobody trained it so), in block {block + 1} "
    sentence = view.headline(view.rotations(stations, token), run.labels[token], begin)
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
            "moved" if moved else "own",
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
