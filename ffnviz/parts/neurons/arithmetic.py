"""The arithmetic: a neuron, one component of the output, or a logit as the sum that it is."""

import io
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.needs import Capability, missing, word_head
from ffnviz.analysis.prediction import predict
from ffnviz.models.activations import Activation
from ffnviz.models.encoder.feed_forward import GatedFeedForwardRecord
from ffnviz.models.network import Network
from ffnviz.models.trace import ForwardPass
from ffnviz.parts.neuron_shown import neuron_shown
from ffnviz.parts.neurons.choose import neuron_controls
from ffnviz.parts.sheet import Control, Download, NumberBox, Sheet, row, set_to
from ffnviz.pictures.bars import bars_cell, contributions_to
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.plot import Array
from ffnviz.pictures.text import code_cell
from ffnviz.pictures.wording import Sentence, counted, neuron_name, number, quoted
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, choice_setting, count_setting

LOGIT_NEEDS = (Capability.WORD_HEAD, Capability.WORD_VECTORS)


@dataclass(frozen=True)
class DotProduct:
    """left · right + bias = total, with its largest terms."""

    # left, right: the factors, (n,)
    left: Array
    right: Array
    bias: float
    total: float  # as the network computed it
    largest: NDArray[np.int64]  # indices of the largest terms, most positive to most negative, (k,)

    @property
    def terms(self) -> Array:
        """All products, (n,), in float64."""
        return self.left.astype(np.float64) * self.right

    @property
    def rest(self) -> float:
        """The sum of all but the largest terms."""
        return float(self.terms.sum() - self.terms[self.largest].sum())

    @property
    def residue(self) -> float:
        """The difference between the sum and the network's number, due to rounding."""
        return float(self.terms.sum()) + self.bias - self.total


def _dot_product(left: Tensor, right: Tensor, bias: float, total: float, k: int) -> DotProduct:
    a, b = left.float().cpu().numpy(), right.float().cpu().numpy()
    terms = a.astype(np.float64) * b
    order = np.argsort(-terms, kind="stable")
    above, below = order[:k], order[-k:]
    largest = np.concatenate([above[terms[above] > 0], below[terms[below] < 0]])
    return DotProduct(a, b, bias, total, largest)


@torch.no_grad()
def pre_activation(
    model: Network, trace: ForwardPass, block: int, token: int, neuron: int, k: int = 6
) -> DotProduct:
    """x · key + b for one neuron at one token: d_model terms."""
    record, ffn = trace.blocks[block].ffn, model.ffn(block)
    total, bias = record.pre_activation[token, neuron], _entry(ffn.key_bias, neuron)
    return _dot_product(record.input[token], ffn.keys[neuron], bias, float(total), k)


@torch.no_grad()
def output_component(
    model: Network, trace: ForwardPass, block: int, token: int, component: int, k: int = 6
) -> DotProduct:
    """hidden · W2[:, component] + b2 for one component of the FFN's output: d_ff terms."""
    record, ffn = trace.blocks[block].ffn, model.ffn(block)
    total, bias = record.output[token, component], _entry(ffn.output_bias, component)
    return _dot_product(record.hidden[token], ffn.values[:, component], bias, float(total), k)


@torch.no_grad()
def logit(model: Network, trace: ForwardPass, token: int, word: int, k: int = 6) -> DotProduct:
    """final · E_w (+ the word's bias, if there is one) at one token: d_model terms."""
    head, words = word_head(model)
    total = float(trace.logits_at(token)[word])
    stream = trace.blocks[-1].output[token]
    final = stream if head.norm is None else head.norm(stream)
    return _dot_product(final, words.vectors[word], _entry(head.bias, word), total, k)


def _entry(bias: Tensor | None, place: int) -> float:
    return 0.0 if bias is None else float(bias[place])


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
    rows = [row(the_terms(run, shown)), row(code_cell("working-code", snippet(shown)))]
    return Sheet(rows, [*neuron_controls(run), *controls, download])


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
    terms, bias = _plain(float(product.terms.sum())), product.bias
    added = f"+ b = {terms} {'−' if bias < 0 else '+'} {_plain(abs(bias))} " if biased else ""
    z, h = _plain(product.total), _plain(float(record.hidden[token, neuron]))
    activated = f"{run.card.phi.label}({z})"
    if isinstance(record, GatedFeedForwardRecord):
        value = _plain(float(record.value[token, neuron]))
        activated = f"φ({z}) times the second projection {value}"
    sentence = (
        f"Neuron {neuron_name(block, neuron)} at {quoted(run.labels[token])}: x · key {added}= "
        f"{z}; then {activated} = {number(h)}."
    )
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
    sentence = (
        f"Component {component} of what block {block + 1}'s FFN writes at "
        f"{quoted(run.labels[run.token])}: {counted(n, 'neuron')} add{'s' * (n == 1)} up to "
        f"{number(_plain(product.total))}; the bars name the neurons that add most."
    )
    file = _file(run, f"output{component}")
    return Shown(product, sentence, "output", file, ("hidden", "w2_column"), "neuron")


def _file(run: Run, name: str) -> str:
    return f"{run.card.id}-block{run.state.block + 1}-token{run.token + 1}-{name}.npz"


def _logit(run: Run, word: int, name: str) -> Shown:
    product = logit(run.model, run.trace, run.token, word)
    sentence = (
        f"The logit of {name} at {quoted(run.labels[run.token])} is "
        f"{number(_plain(product.total))}: the sum of {len(product.left):,} products of the final "
        "vector with the word's vector."
    )
    file = f"{run.card.id}-token{run.token + 1}-logit{word}.npz"
    terms = "component of the final vector"
    return Shown(product, sentence, "logit", file, ("final", "word_vector"), terms)


def the_terms(run: Run, shown: Shown) -> Cell:
    """The largest terms, the rest as one, the bias, and the sum."""
    product = shown.product
    n_rest = len(product.left) - len(product.largest)
    names = [*map(str, product.largest), counted(n_rest, "other")]
    added = [*product.terms[product.largest], product.rest]
    if product.bias:
        names.append("bias")
        added.append(product.bias)
    accent, total = run.card.colour, product.total
    under = (
        f"The terms, the rest and the bias add up to {total + product.residue:.6f}; the network "
        f"said {total:.6f}. The difference is rounding."
    )
    head = Head(shown.sentence, "working", accent, under=under)
    of = f"added to {shown.name}, by {shown.terms}"
    panels = [contributions_to(shown.name, names, np.array(added), total, accent)]
    alt = "The largest terms of the sum, the rest as one, the bias, and what they add up to."
    return bars_cell(head, panels, alt=alt, of=of, named=shown.terms)


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
