"""The encoder block as a drawing that is alive."""

from dataclasses import replace

from ffnviz.analysis.block.stations import encoder_stations, with_norms_moved
from ffnviz.figures.block.stations import Passing, headline
from ffnviz.parts.block import block_view as view
from ffnviz.parts.sheet import Sheet, row, set_to
from ffnviz.pictures.block_picture import Shown, block_cell
from ffnviz.pictures.head import Head
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, choice_setting

STATION = choice_setting(
    "station",
    {"attention": "attention", "x": "stream x", "norm1": "LayerNorm 1", "sum1": "+ attention",
     "norm2": "LayerNorm 2", "ffn": "FFN", "sum2": "+ FFN"},
)  # fmt: skip
BUILT = choice_setting("layernorm", {"own": "as trained", "moved": "LayerNorm moved"})
SETTINGS = (STATION, view.HEAD, BUILT)


def sheet(run: Run, values: Values) -> Sheet:
    """The block, and what the chosen station does to the chosen token."""
    block, token = run.state.block, run.token
    moved = values[BUILT] == "moved"
    if moved:
        computed = with_norms_moved(run.model, run.trace, block)
    else:
        computed = encoder_stations(run.trace.blocks[block], norm_first=run.card.pre_norm)
    before, after = view.leads(run)
    passing = Passing(
        run.labels[token], len(run.labels), view.awake_on(run, computed, token), run.card.phi.label,
        f"block {block} left it" if block else "its word's vector plus its position's",
        f"to block {block + 2}" if after else "to the words",
    )  # fmt: skip
    start = [] if block else [
        (name, view.as_array(vector))
        for name, vector in run.model.embedding_parts(run.trace, token).items()
    ]  # fmt: skip
    stations = view.stations_of(computed, token, passing, start)
    own, other = ("pre-LN", "post-LN") if run.card.pre_norm else ("post-LN", "pre-LN")
    begin = f"In block {block + 1}, " if not moved else (
        f"With its LayerNorms moved ({other}; nobody trained it so), in block {block + 1} "
    )  # fmt: skip
    sentence = headline(view.turns_of(stations, token), run.labels[token], begin)
    picture = block_cell(
        Head(sentence, "block", run.card.colour),
        stations,
        run.labels,
        (),
        Shown(
            values[STATION], min(values[view.HEAD], view.n_heads(stations)), token,
            before, after, {"own": f"{own}, as trained", "moved": f"{other}, not trained so"},
            values[BUILT],
        ),
        key="block-picture",
        asks=replace(view.asks(run, STATION, computed), variant=lambda way: set_to(BUILT, way)),
    )  # fmt: skip
    return Sheet([row(picture)])
