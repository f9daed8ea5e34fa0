"""Compare: two sentences side by side, and the neurons that tell them apart."""

from dataclasses import replace

import numpy as np
import streamlit as st

from ffnviz.analysis.neurons.compare import Comparison, compare
from ffnviz.figures.layout import isolated
from ffnviz.figures.neurons import compare as figures
from ffnviz.figures.wording import Sentence, neuron_name, number, quoted, signed
from ffnviz.models.trace import Trace
from ffnviz.parts.part import Navigator, live
from ffnviz.pictures.chart import chart
from ffnviz.pictures.head import Head
from ffnviz.state.actions import Type
from ffnviz.state.run import Run, token_labels
from ffnviz.state.settings import Setting, text_setting

OTHER = text_setting("other", "He opened the [MASK] and looked out.")
OTHER_NEXT = replace(OTHER, default="He opened the door and looked out at the")  # without [MASK]
SETTINGS = (OTHER,)
COLUMNS = 24
BARS = 14


@live
def render(run: Run, navigator: Navigator) -> None:
    """The second sentence, all differences, and those of the chosen token."""
    other_setting = OTHER if run.card.has_mask else OTHER_NEXT
    second_sentence(navigator, other_setting)
    text = navigator.value(other_setting)
    if not text:
        st.info("Type a second sentence to compare the first with.")
        return
    read = run.model.trace(text)
    if read.n_left_out:
        st.caption(f"Of the second sentence, the first {len(read.tokens)} tokens are read.")
    other = run.subject.shown(read)
    names = token_labels(other.tokens)
    found = compare(run.trace, other, run.state.block, COLUMNS)
    if not len(found.pairs):
        st.info("No token of one sentence corresponds to one of the other.")
        return
    at = np.flatnonzero(found.pairs[:, 0] == run.token)
    pair = int(at[0]) if len(at) else int(np.abs(found.difference).max(axis=1).argmax())
    everywhere, here = st.columns([1.6, 1], gap="medium")
    with everywhere:
        all_pairs(run, navigator, other, names, found, pair)
    with here:
        one_pair(run, navigator, other, names, found, pair)


def second_sentence(navigator: Navigator, setting: Setting[str]) -> None:
    """The box, and a pair to try."""

    def try_pair() -> None:
        navigator.do(Type("The dog is in the house."))
        navigator.choose(setting, "The dogs are in the house.")

    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input("Second sentence", live=True, autocomplete="off", **navigator.widget(setting))
        st.button("Try “The dog is …” and “The dogs are …”", on_click=try_pair)


def _pair_name(run: Run, names: list[str], pair: np.ndarray) -> str:
    one, two = run.labels[pair[0]], names[pair[1]]
    return one if one == two else f"{isolated(one)} → {isolated(two)}"


def _second(other: Trace) -> str:
    return f"Second sentence: {quoted(other.text)[0]}"


def all_pairs(
    run: Run, navigator: Navigator, other: Trace, names: list[str], found: Comparison, pair: int
) -> None:
    """The neurons that differ most, on every pair of tokens."""
    apart = np.abs(found.difference)
    row, column = np.unravel_index(int(apart.argmax()), apart.shape)
    sentence: Sentence = [
        "Neuron ", number(neuron_name(run.state.block, found.neurons[column])),
        " differs most, on ",
        quoted(_pair_name(run, names, found.pairs[row])), ": ",
        number(f"{signed(found.first[row, column])} → {signed(found.second[row, column])}"),
        f"; {len(found.pairs)} pairs of tokens.",
    ]  # fmt: skip
    chart(
        Head(sentence, "compared", run.card.colour, _second(other)),
        figures.differences(
            [_pair_name(run, names, p) for p in found.pairs], found.neurons, found.difference, pair
        ),
        "For each pair of tokens, how the neurons that differ most differ.",
        f"{run.stamp} {names}",
        key="compared",
        height=620,
        on_choose=lambda neuron: navigator.meet(run.neuron(neuron), "wakes"),
    )


def one_pair(
    run: Run, navigator: Navigator, other: Trace, names: list[str], found: Comparison, pair: int
) -> None:
    """The neurons that differ most on one pair of tokens."""
    here = compare(run.trace, other, run.state.block, BARS, pair)
    one, two = found.pairs[pair]
    apart = np.linalg.norm(
        (other.blocks[run.state.block].ffn.hidden[two]
         - run.trace.blocks[run.state.block].ffn.hidden[one]).cpu().numpy()
    )  # fmt: skip
    size = float(run.trace.blocks[run.state.block].ffn.hidden[one].norm())
    sentence: Sentence = [
        "On ", quoted(_pair_name(run, names, found.pairs[pair])),
        " the vector of all activations moves by ",
        number(f"{apart:.2f}"), f"; its length there is {size:.2f}. Click another token above.",
    ]  # fmt: skip
    chart(
        Head(sentence, "pair", run.card.colour, _second(other)),
        figures.both_values(
            (f"first: {isolated(run.labels[one])}", f"second: {isolated(names[two])}"),
            here.neurons,
            here.first[pair], here.second[pair], run.card.colour,
        ),
        "The neurons that differ most on one pair of tokens, in both sentences.",
        f"{run.stamp} {names}",
        key="pair",
        height=620,
        on_choose=lambda neuron: navigator.meet(run.neuron(neuron), "wakes"),
    )  # fmt: skip
