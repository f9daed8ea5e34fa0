"""Which neuron: by number, or one of the strongest on the chosen token."""

import streamlit as st

from ffnviz.analysis.index_file import INDEXES, IndexFileError, read_index
from ffnviz.analysis.neuron_index import NeuronIndex
from ffnviz.analysis.neurons import strongest_neuron, strongest_neurons
from ffnviz.page import Choices
from ffnviz.run import Run

STRONGEST = 8


def neuron_shown(run: Run) -> int:
    """The chosen neuron's number, in whatever twin it was chosen; else the token's strongest."""
    chosen = run.request.neuron
    if chosen is not None and chosen[1] < run.model.encoder.config.d_ff:
        return chosen[1]
    return strongest_neuron(run.trace, run.request.block, run.token)


def chooser(run: Run, choices: Choices) -> int:
    """The controls; returns the neuron shown."""
    twin, shown = run.request.twin, neuron_shown(run)
    strongest = strongest_neurons(run.trace, run.request.block, run.token, STRONGEST)
    by_number, by_strength = "neuron-number", "neuron-strongest"
    st.session_state[by_number] = shown
    st.session_state[by_strength] = shown if shown in strongest else None

    def choose(key: str) -> None:
        if st.session_state[key] is not None:
            choices.neuron(twin, int(st.session_state[key]))

    with st.container(horizontal=True, vertical_alignment="center", key="choose-neuron"):
        st.markdown("**Neuron**", width="content")
        st.number_input(
            "Neuron, by its number", 0, run.model.encoder.config.d_ff - 1, step=1, key=by_number,
            on_change=choose, args=(by_number,), label_visibility="collapsed", width=150,
        )  # fmt: skip
        st.markdown("or the strongest on this token:", width="content")
        st.pills(
            "The strongest on this token", strongest, key=by_strength, on_change=choose,
            args=(by_strength,), label_visibility="collapsed", width="content",
        )  # fmt: skip
    return shown


def index_of(run: Run) -> NeuronIndex | None:
    """The twin's index; where it cannot be read, says so and gives None."""
    config = run.model.encoder.config
    path = INDEXES / f"{run.request.twin}.npz"
    try:
        index: NeuronIndex = run.once(
            "neuron index", lambda: read_index(path, config.d_ff, config.n_blocks)
        )
    except IndexFileError as error:
        st.error(
            "The index of what wakes each neuron cannot be read. `ffnviz index` makes it anew."
        )
        st.text(str(error))
        return None
    return index
