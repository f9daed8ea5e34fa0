"""The arithmetic: a neuron, one component of the output, or a logit as the sum that it is."""

import io
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ffnviz.analysis.needs import missing
from ffnviz.analysis.neurons.working import (
    LOGIT_NEEDS,
    DotProduct,
    logit,
    output_component,
    pre_activation,
)
from ffnviz.analysis.prediction import predict
from ffnviz.figures.wording import Sentence, neuron_name, number, quoted
from ffnviz.models.activations import Activation
from ffnviz.models.encoder.feed_forward import GatedFeedForwardRecord
from ffnviz.parts.neuron_shown import neuron_shown
from ffnviz.parts.neurons.choose import neuron_controls
from ffnviz.parts.sheet import Control, Download, NumberBox, Sheet, row, set_to
from ffnviz.pictures.bars import bars_cell, contributions_to
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.code import code_cell
from ffnviz.pictures.head import Head
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, choice_setting, count_setting

WHAT = choice_setting(
    "number", {"neuron": "the neuron", "output": "an output component", "logit": "a logit"}
).with_control("Which number")
COMPONENT = count_setting("component", 0, 0, 99_999)
# The word's place among the likeliest.
WORD = count_setting("logit_word", 0, 0, 9, also=("word",)).with_control("Word")
SETTINGS = (WHAT, COMPONENT, WORD)


@dataclass(frozen=True)
class Shown:
    """One number of the network, ready to be shown."""

    product: DotProduct  # the sum that it is
    sentence: Sentence  # what is said above it
    name: str  # of the number, short
    file: str  # the name of the download
    factors: tuple[str, str]  # the names of the two in the snippet
    terms: str  # what the terms are numbered by
    after: str = ""  # lines of the snippet after the sum


def sheet(run: Run, values: Values) -> Sheet:
    """The number's terms, over code that computes it again."""
    shown, controls = number_shown(run, values)
    file = shown.file
    download = Download(f"Download {file}", file, "application/octet-stream", saved(shown))
    return Sheet(
        [row(the_terms(run, shown)), row(code_cell("working-code", snippet(shown)))],
        [*neuron_controls(run), *controls, download],
    )


def number_shown(run: Run, values: Values) -> tuple[Shown, list[Control]]:
    """The chosen number, and the controls that choose it."""
    options = dict(WHAT.options)
    if missing(run.card, LOGIT_NEEDS):
        del options["logit"]
    what = replace(WHAT, options=options)
    if values[WHAT] == "output":
        last = run.model.sizes.d_model - 1
        component = min(values[COMPONENT], last)
        box = NumberBox("Component", component, 0, last, lambda n: set_to(COMPONENT, n))
        return _component(run, component), [what, box]
    if values[WHAT] == "logit" and "logit" in options:
        guess = predict(run.model, run.trace, run.token)
        place = values[WORD]
        words = replace(WORD, options=dict(enumerate(guess.words)))
        return _logit(run, int(guess.ids[place]), guess.words[place]), [what, words]
    return _neuron(run, neuron_shown(run)), [what]


def _neuron(run: Run, neuron: int) -> Shown:
    block, token = run.state.block, run.token
    product = pre_activation(run.model, run.trace, block, token, neuron)
    record = run.trace.blocks[block].ffn
    biased = run.model.ffn(block).key_bias is not None
    added = f"{_added(float(product.terms.sum()), product.bias)} " if biased else ""
    z, h = _plain(product.total), _plain(float(record.hidden[token, neuron]))
    activated = f"{run.card.phi.label}({z})"
    if isinstance(record, GatedFeedForwardRecord):
        activated = f"φ({z}) times the value {_plain(float(record.value[token, neuron]))}"
    sentence: Sentence = [
        f"Neuron {neuron_name(block, neuron)} at ", quoted(run.labels[token]), ": ",
        f"x · key {added}= {z}; then {activated} = ", number(h), ".",
    ]  # fmt: skip
    file = _file(run, f"neuron{neuron}")
    name = "x · key + b" if biased else "x · key"
    after = then_phi(run.card.phi)
    return Shown(product, sentence, name, file, ("x", "key"), "component of x", after)


def then_phi(phi: Activation) -> str:
    """The lines that compute h from z; none for a φ without NumPy code."""
    imported = "import math\n" if "math." in phi.numpy else ""
    return f"\n{imported}h = {phi.numpy}  # {phi.label}" if phi.numpy else ""


def _component(run: Run, component: int) -> Shown:
    block = run.state.block
    product = output_component(run.model, run.trace, block, run.token, component)
    n = int(np.count_nonzero(product.terms))
    sentence: Sentence = [
        f"Component {component} of what block {block + 1}'s FFN writes at ",
        quoted(run.labels[run.token]), ": ", f"{n:,} neurons add up to ",
        number(_plain(product.total)), "; the bars name the neurons that add most.",
    ]  # fmt: skip
    file = _file(run, f"output{component}")
    return Shown(product, sentence, "output", file, ("hidden", "w2_column"), "neuron")


def _file(run: Run, name: str) -> str:
    return f"{run.card.id}-block{run.state.block + 1}-token{run.token + 1}-{name}.npz"


def _logit(run: Run, word: int, name: str) -> Shown:
    product = logit(run.model, run.trace, run.token, word)
    sentence: Sentence = [
        f"The logit of {name} at ", quoted(run.labels[run.token]), " is ",
        number(_plain(product.total)), f": the sum of {len(product.left):,} products of the final "
        "vector with the word's vector.",
    ]  # fmt: skip
    file = f"{run.card.id}-token{run.token + 1}-logit{word}.npz"
    terms = "component of the final vector"
    return Shown(product, sentence, "logit", file, ("final", "word_vector"), terms)


def the_terms(run: Run, shown: Shown) -> Cell:
    """The largest terms, the rest as one, the bias, and the sum."""
    product = shown.product
    n_rest = len(product.left) - len(product.largest)
    names = [*map(str, product.largest), f"{n_rest:,} others"]
    added = [*product.terms[product.largest], product.rest]
    if product.bias:
        names.append("bias")
        added.append(product.bias)
    accent, total = run.card.colour, product.total
    under = (
        f"The terms, the rest and the bias add up to {total + product.residue:.6f}; the network "
        f"said {total:.6f}. The difference is rounding.",
    )
    return bars_cell(
        Head(shown.sentence, "working", accent, under=under),
        [contributions_to(shown.name, names, np.array(added), total, accent)],
        alt="The largest terms of the sum, the rest as one, the bias, and what they add up to.",
        of=f"added to {shown.name}, by {shown.terms}",
        named=shown.terms,
    )


def saved(shown: Shown) -> bytes:
    """The bytes of a NumPy file with the factors and the bias."""
    file = io.BytesIO()
    product, (left, right) = shown.product, shown.factors
    bias = np.array([product.bias], np.float32)
    named: dict[str, Any] = {left: product.left, right: product.right, "bias": bias}
    np.savez(file, **named)
    return file.getvalue()


def snippet(shown: Shown) -> str:
    """NumPy code that reproduces the number."""
    left, right = shown.factors
    return (
        f"# Compute it again with the numbers of this pass: download {shown.file}\n"
        "import numpy as np\n"
        f'with np.load("{shown.file}") as f:\n'
        f'    {left}, {right} = f["{left}"], f["{right}"]   # ({len(shown.product.left):,},) each\n'
        f'    z = {left} @ {right} + f["bias"][0]{shown.after}'
    )


def _plain(value: float) -> str:
    text = f"{value:.4f}"
    return "0" if float(text) == 0 else text.replace("-", "−")


def _added(terms: float, bias: float) -> str:
    return f"+ b = {_plain(terms)} {'−' if bias < 0 else '+'} {_plain(abs(bias))}"
