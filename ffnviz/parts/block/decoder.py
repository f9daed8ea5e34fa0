"""The decoder block: it sees what is written so far, and asks the sentence that was read."""

import streamlit as st

from ffnviz.analysis.block.stations import decode
from ffnviz.figures.block.stations import Passing, asked_most
from ffnviz.parts.block.block_view import (
    HEAD,
    as_array,
    asks,
    awake_on,
    leads,
    n_heads,
    stations_of,
)
from ffnviz.parts.part import Navigator, live
from ffnviz.pictures.block_picture import Asks, Shown, block_picture
from ffnviz.pictures.head import Head
from ffnviz.state.run import Run, token_labels
from ffnviz.state.settings import choice_setting, count_setting, text_setting

STATION = choice_setting(
    "decoder_station",
    {"cross": "cross-attention", "x": "stream x", "norm1": "LayerNorm 1", "attention": "attention",
     "sum1": "+ attention", "norm2": "LayerNorm 2", "sum2": "+ cross-attention",
     "norm3": "LayerNorm 3", "ffn": "FFN", "sum3": "+ FFN"},
)  # fmt: skip
LONGEST = 24  # tokens
WRITTEN = text_setting("written", "She opened the window", longest=200)
TOKEN = count_setting("written_token", 0, 0, LONGEST)  # from 1; 0 is the last
SETTINGS = (STATION, HEAD, WRITTEN, TOKEN)


@live
def render(run: Run, navigator: Navigator) -> None:
    """What is written so far, in a box, and the block at work on it."""
    with st.container(horizontal=True, vertical_alignment="center", key="written"):
        st.markdown("Written so far:", width="content")
        st.text_input(
            "Written so far", **navigator.widget(WRITTEN), label_visibility="collapsed",
            autocomplete="off",
        )  # fmt: skip
    text = navigator.value(WRITTEN)
    tokens = run.model.tokenizer.encode(text, LONGEST).tokens if text.strip() else ()
    if not tokens:
        st.info("Nothing is written yet. Type the first words of an answer into the box above.")
        return
    chosen = navigator.value(TOKEN)
    token = min(chosen, len(tokens)) - 1 if chosen else len(tokens) - 1
    labels, block = token_labels(tokens), run.state.block
    computed = decode(run.model, run.trace, block, [each.id for each in tokens])
    hidden = next(as_array(each.hidden)[token] for each in computed if each.hidden is not None)
    before, after = leads(run)
    passing = Passing(
        labels[token], len(labels), awake_on(run, hidden), run.card.phi.label,
        f"decoder block {block} left it" if block else "its word's vector plus its position's",
        f"to decoder block {block + 2}" if after else "to the words",
    )  # fmt: skip
    stations = stations_of(computed, token, passing, [])
    weights = next(each.weights for each in stations if each.name == "cross")
    clicks = asks(navigator, STATION, "x", None)
    block_picture(
        Head(asked_most(labels[token], run.labels, weights, token), "decoder", run.card.colour),
        stations,
        labels,
        run.labels,
        Shown(
            navigator.value(STATION), min(navigator.value(HEAD), n_heads(stations)), token,
            before, after,
        ),
        f"{run.stamp} {text}",
        key="decoder-picture",
        asks=Asks(clicks.station, clicks.head, lambda place: navigator.choose(TOKEN, place + 1),
                  clicks.block, clicks.variant),
    )  # fmt: skip
