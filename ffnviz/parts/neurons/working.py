"""Show the working: a neuron, one component of the output, or a logit as the sum that it is."""

import io
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from ffnviz.analysis.needs import missing
from ffnviz.analysis.neurons.working import (
    LOGIT_NEEDS,
    DotProduct,
    logit,
    output_component,
    pre_activation,
)
from ffnviz.analysis.prediction import predict
from ffnviz.figures.vocabulary.lens import waterfall
from ffnviz.figures.wording import Sentence, neuron_name, number, quoted
from ffnviz.models.activations import Activation
from ffnviz.models.encoder.feed_forward import GatedFeedForwardRecord
from ffnviz.parts.neurons.choose import chooser
from ffnviz.parts.part import Navigator, live
from ffnviz.pictures.chart import chart
from ffnviz.pictures.head import Head
from ffnviz.pictures.saving import save_button
from ffnviz.state.run import Run
from ffnviz.state.settings import choice_setting, count_setting

WHAT = choice_setting(
    "number", {"neuron": "the neuron", "output": "an output component", "logit": "a logit"}
)
COMPONENT = count_setting("component", 0, 0, 99_999)
WORD = count_setting("logit_word", 0, 0, 9, also=("word",))  # its place among the likeliest
SETTINGS = (WHAT, COMPONENT, WORD)


@dataclass(frozen=True)
class Shown:
    """One number of the network, ready to be shown.

    Attributes:
        found: the sum that it is.
        sentence: what is said above it.
        name: of the number, short.
        file: what the download is called.
        product: the names of the factors in the snippet.
        after: lines of the snippet after the sum.
        terms: what the terms are numbered by.
    """

    found: DotProduct
    sentence: Sentence
    name: str
    file: str
    product: str
    after: str
    terms: str


@live
def render(run: Run, navigator: Navigator) -> None:
    """Which number, its terms, and how to compute it again."""
    neuron = chooser(run, navigator)
    shown = which_number(run, navigator, neuron)
    terms, again = st.columns([1.9, 1], gap="medium")
    with terms:
        its_terms(run, shown)
    with again:
        compute_it_again(shown)


def which_number(run: Run, navigator: Navigator, neuron: int) -> Shown:
    """The controls, and what they ask for."""
    with st.container(horizontal=True, vertical_alignment="center"):
        what = st.segmented_control("Which number", required=True, label_visibility="collapsed",
                                    **navigator.options(WHAT))  # fmt: skip
        if what == "output":
            d_model = run.model.sizes.d_model
            shown = min(navigator.value(COMPONENT), d_model - 1)
            widget = navigator.widget(COMPONENT)
            st.session_state[widget["key"]] = shown
            st.number_input("Component", 0, d_model - 1, step=1, width=150,
                            label_visibility="collapsed", **widget)  # fmt: skip
            return _component(run, shown)
        if what == "logit" and not missing(run.card, LOGIT_NEEDS):
            told = predict(run.model, run.trace, run.token)
            st.segmented_control("Word", range(len(told.words)), required=True,
                                 label_visibility="collapsed",
                                 format_func=lambda place: told.words[place],
                                 **navigator.widget(WORD))  # fmt: skip
            place = navigator.value(WORD)
            return _logit(run, int(told.ids[place]), told.words[place])
    return _neuron(run, neuron)


def _neuron(run: Run, neuron: int) -> Shown:
    block, token, network = run.state.block, run.token, run.card.id
    found = pre_activation(run.model, run.trace, block, token, neuron)
    record = run.trace.blocks[block].ffn
    biased = run.model.ffn(block).key_bias is not None
    added = f"{_added(float(found.terms.sum()), found.bias)} " if biased else ""
    made = f"{run.card.phi.label}({_plain(found.total)})"
    if isinstance(record, GatedFeedForwardRecord):
        made = (
            f"φ({_plain(found.total)}) times the value {_plain(float(record.value[token, neuron]))}"
        )
    sentence: Sentence = [
        f"Neuron {neuron_name(block, neuron)} at ", quoted(run.labels[token]), ": ",
        f"x · key {added}= ", number(_plain(found.total)), f"; then {made} = ",
        number(_plain(float(record.hidden[token, neuron]))), ".",
    ]  # fmt: skip
    file = f"{network}-block{block + 1}-token{token + 1}-neuron{neuron}"
    return Shown(
        found,
        sentence,
        "x · key + b" if biased else "x · key",
        file,
        "x @ key",
        then_phi(run.card.phi),
        "component of x",
    )


def then_phi(phi: Activation) -> str:
    """The lines that make h of z; none of a φ that is not known in NumPy."""
    imported = "import math\n" if "math." in phi.numpy else ""
    return f"\n{imported}h = {phi.numpy}  # {phi.label}" if phi.numpy else ""


def _component(run: Run, component: int) -> Shown:
    block, token, network = run.state.block, run.token, run.card.id
    found = output_component(run.model, run.trace, block, token, component)
    n = int(np.count_nonzero(found.terms))
    sentence: Sentence = [
        f"Component {component} of what block {block + 1}'s FFN writes at ",
        quoted(run.labels[token]), ": ", number(f"{n:,} neurons"), " add to ",
        number(_plain(found.total)), "; the bars name the neurons that add most.",
    ]  # fmt: skip
    file = f"{network}-block{block + 1}-token{token + 1}-output{component}"
    return Shown(found, sentence, "output", file, "hidden @ w2_column", "", "neuron")


def _logit(run: Run, word: int, name: str) -> Shown:
    token, network = run.token, run.card.id
    found = logit(run.model, run.trace, token, word)
    sentence: Sentence = [
        "The logit of ", number(name), " at ", quoted(run.labels[token]), " is ",
        number(_plain(found.total)), f": {len(found.left):,} products of the final vector with "
        "the word's own.",
    ]  # fmt: skip
    file = f"{network}-token{token + 1}-logit{word}"
    return Shown(
        found, sentence, "logit", file, "final @ word_vector", "", "component of the final vector"
    )


def its_terms(run: Run, shown: Shown) -> None:
    """The largest terms, the rest as one, the bias, and the sum."""
    found = shown.found
    n_rest = len(found.left) - len(found.largest)
    names = [*map(str, found.largest), f"{n_rest:,} others"]
    added = [*found.terms[found.largest], found.rest]
    if found.bias:
        names.append("bias")
        added.append(found.bias)
    chart(
        Head(shown.sentence, "working", run.card.colour),
        waterfall(names, np.array(added), found.total, run.card.colour, shown.name, shown.terms),
        "The largest terms of the sum, the rest as one, the bias, and the number they add up to.",
        f"{run.stamp} {shown.file}",
        key="working",
        height=600,
    )


def compute_it_again(shown: Shown) -> None:
    """A file with the factors, and the lines that turn them into the number."""
    left, right = shown.product.split(" @ ")
    st.markdown("**Compute it again** with the numbers of this pass:")
    file = io.BytesIO()
    arrays = shown.found.arrays()
    named: dict[str, Any] = {left: arrays["left"], right: arrays["right"], "bias": arrays["bias"]}
    np.savez(file, **named)
    save_button(
        f"Download {shown.file}.npz",
        file.getvalue(),
        f"{shown.file}.npz",
        "application/octet-stream",
        key="working-file",
    )
    st.code(snippet(shown), language=None, wrap_lines=True)
    total = shown.found.total
    st.markdown(
        f"The terms, the rest and the bias add up to **{total + shown.found.residue:.6f}**; "
        f"the network said **{total:.6f}**. The difference is rounding."
    )


def snippet(shown: Shown) -> str:
    """NumPy that reproduces the number."""
    left, right = shown.product.split(" @ ")
    return (
        "import numpy as np\n"
        f'with np.load("{shown.file}.npz") as f:\n'
        f'    {left}, {right} = f["{left}"], f["{right}"]   # ({len(shown.found.left):,},) each\n'
        f'    z = {shown.product} + f["bias"][0]{shown.after}'
    )


def _plain(value: float) -> str:
    text = f"{value:.4f}"
    return "0" if float(text) == 0 else text.replace("-", "−")


def _added(terms: float, bias: float) -> str:
    return f"+ b = {_plain(terms)} {'−' if bias < 0 else '+'} {_plain(abs(bias))}"
