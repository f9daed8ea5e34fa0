"""Input influence: which inputs each output depends on, in every kind of layer.

I = F(x + u + v) − F(x + u) − F(x + v) + F(x), the second difference of an FFN along two directions.
It is 0 for any affine map; for small steps it is Σ_n φ″(z_n) (u · k_n) (v · k_n) v_n.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.lab import influence
from ffnviz.analysis.lab.influence import DEEPEST, LONGEST_MAP, LOUDEST, RNN, Influence
from ffnviz.analysis.lab.local_map import Terms, derivative, terms_of
from ffnviz.analysis.measuring import Progress
from ffnviz.analysis.number_format import short
from ffnviz.models.activations import ACTIVATIONS, Activation
from ffnviz.models.network import Network
from ffnviz.parts.experiments import experiment_subject, verdicts_of
from ffnviz.parts.lab.positions import Map, maps
from ffnviz.parts.neuron_shown import open_neuron
from ffnviz.parts.sheet import Measured, Measurement, Row, Sheet, Soon, row
from ffnviz.pictures.bars import Bars, bars_cell
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.plot import axis, lines, vertical_line
from ffnviz.pictures.wording import counted, neuron_name, number, percent, quoted
from ffnviz.state.run import Run
from ffnviz.state.settings import (
    Values,
    choice_setting,
    count_setting,
    count_slider,
    number_setting,
    number_slider,
)

# Pairs of sentences that differ in one thing, each with the word at which it is read.
PAIRS: dict[str, tuple[tuple[str, str, str, str], ...]] = {
    "singular → plural": (
        ("The dog ran away.", "dog", "The dogs ran away.", "dogs"),
        ("She saw the tree.", "tree", "She saw the trees.", "trees"),
        ("He took the book home.", "book", "He took the books home.", "books"),
        ("The girl sat down.", "girl", "The girls sat down.", "girls"),
    ),
    "present → past": (
        ("I walk to the house.", "walk", "I walked to the house.", "walked"),
        ("They look at the sea.", "look", "They looked at the sea.", "looked"),
        ("We live in the town.", "live", "We lived in the town.", "lived"),
        ("You call the boy.", "call", "You called the boy.", "called"),
    ),
    "he → she": (
        ("Then he came in.", "he", "Then she came in.", "she"),
        ("It was his hat.", "his", "It was her hat.", "her"),
        ("The man was old.", "man", "The woman was old.", "woman"),
        ("The boy was ill.", "boy", "The girl was ill.", "girl"),
    ),
}
STEPS = np.geomspace(1e-4, 4, 93)
MOST_NAMED = 12  # neurons that are named

Array = NDArray[np.float64]
Changed = Callable[[Tensor], Tensor]


@torch.no_grad()
def direction(model: Network, block: int, name: str) -> Tensor:
    """The mean difference of an FFN's inputs over the pairs of that name, (d_model,) in float64."""

    def read(text: str, word: str) -> Tensor:
        trace, last = model.trace(text), text.index(word) + len(word) - 1
        at = next(k for k, token in enumerate(trace.tokens) if token.start <= last < token.end)
        return trace.blocks[block].ffn.input[at].cpu().double()

    return torch.stack([read(*pair[2:]) - read(*pair[:2]) for pair in PAIRS[name]]).mean(dim=0)


@dataclass(frozen=True)
class Interaction:
    """The interaction I of two directions, relative to ‖F(x)‖."""

    steps: Array  # a, by which both are multiplied, (n,)
    with_phi: Array  # ‖I‖ at each, (n,)
    without: Array  # the same of W₁ and W₂ alone, (n,)
    second: Array  # a² times the norm of the second derivative along both, (n,)
    until: float  # the largest a up to which no neuron switches at any of the four places
    neurons: NDArray[np.int64]  # those that write most of I at the chosen a, at most FIRST
    lengths: Array  # ‖their part of I‖, as many
    chosen: float  # ‖I‖ at the chosen a
    chosen_without: float  # likewise without φ


def difference(f: Changed, x: Tensor, u: Tensor, v: Tensor) -> Tensor:
    """f(x + u + v) − f(x + u) − f(x + v) + f(x), of rows."""
    return f(x + u + v) - f(x + u) - f(x + v) + f(x)


def interaction(terms: Terms, x: Tensor, u: Tensor, v: Tensor, step: float) -> Interaction:
    """The interaction of two directions at an FFN's input, (d_model,) each."""
    x, u, v = (each.detach().cpu().double().clone() for each in (x, u, v))
    plain = replace(terms, phi=ACTIVATIONS["identity"])
    a = torch.from_numpy(np.append(STEPS, step))[:, None]
    size = terms.output(x).norm().clamp_min(1e-300)
    bent, flat = (
        (difference(each.output, x, a * u, a * v).norm(dim=-1) / size).numpy()
        for each in (terms, plain)
    )
    second = _second(terms, x, u, v).norm() / size
    # Each neuron's part is its hidden value's interaction times its row of W₂.
    parts = difference(terms.hidden, x, step * u, step * v)
    lengths = parts.abs() * terms.writes[: terms.d_ff].norm(dim=-1) / size
    best = lengths.topk(min(MOST_NAMED, len(lengths)))
    return Interaction(
        steps=STEPS,
        with_phi=bent[:-1],
        without=flat[:-1],
        second=float(second) * STEPS**2,
        until=_until(terms, x, u, v),
        neurons=best.indices.numpy(),
        lengths=best.values.numpy(),
        chosen=float(bent[-1]),
        chosen_without=float(flat[-1]),
    )


def _second(terms: Terms, x: Tensor, u: Tensor, v: Tensor) -> Tensor:
    """The second derivative of F along u and v, (d_model,).

    Plain, Σ φ″(z_n) (u · k_n) (v · k_n) v_n; gated, with the value g of each neuron, by the product
    rule: φ″ g z_u z_v + φ′ (z_u g_v + z_v g_u).
    """
    d_ff = terms.d_ff
    z, g = terms.before_phi(x)
    along = [each @ terms.reads.mT for each in (u, v)]
    (zu, gu), (zv, gv) = ((each[:d_ff], each[d_ff:]) for each in along)
    hidden = second_derivative(terms.phi, z) * zu * zv
    if terms.gated:
        hidden = hidden * g + derivative(terms.phi, z) * (zu * gv + zv * gu)
    written: Tensor = hidden @ terms.writes[:d_ff]
    return written


def second_derivative(phi: Activation, z: Tensor) -> Tensor:
    """φ″ at each z, any shape to the same shape; 0 where PyTorch has no second derivative."""
    with torch.inference_mode(False), torch.enable_grad():
        at = z.detach().clone().requires_grad_()
        (slope,) = torch.autograd.grad(phi.function(at).sum(), at, create_graph=True)
        if not slope.requires_grad:
            return torch.zeros_like(z)
        (curved,) = torch.autograd.grad(slope.sum(), at, materialize_grads=True)
    return curved


def _until(terms: Terms, x: Tensor, u: Tensor, v: Tensor) -> float:
    """The smallest a > 0 at which a pre-activation changes sign at x + au, x + av or x + au + av.

    Pre-activations are linear in a, so each changes sign at most once.
    """
    z, _ = terms.before_phi(x)
    slopes = (torch.stack([u, v, u + v]) @ terms.reads[: terms.d_ff].mT).flatten()
    at = -z.repeat(3) / slopes
    return float(at[at > 0].min()) if bool((at > 0).any()) else float("inf")


NAMES = {name.split()[0]: name for name in PAIRS}
FIRST, *OTHERS = NAMES.items()
U = choice_setting("change_u", NAMES).with_control("u")
V = choice_setting("change_v", dict([*OTHERS, FIRST])).with_control("v")  # by default, another
STOPS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0)
STEP = number_slider("change", 1.0, STOPS, "length of both, a", "{:g}×")
INTERACTION_SETTINGS = (STEP, U, V)
LEAST = 1e-17  # on a logarithmic axis


def interaction_sheet(run: Run, values: Values) -> Sheet:
    """The interaction against the length of the steps, and the neurons that make it."""
    u, v, step = values[U], values[V], values[STEP]
    block = run.state.block
    x = run.trace.blocks[block].ffn.input[run.token]

    def interact() -> Interaction:
        terms = terms_of(run.model.ffn(block))
        return interaction(terms, x, _along(run, u), _along(run, v), step)

    result = run.subject.per_sentence(("interaction", block, run.token, u, v, step), interact)
    return Sheet([row(the_curves(run, result, step), its_neurons(run, result), widths=(1.4, 1))])


def _along(run: Run, name: str) -> Tensor:
    block = run.state.block
    return run.subject.per_network(
        f"direction {name} {block}", lambda: direction(run.model, block, NAMES[name])
    )


def the_curves(run: Run, result: Interaction, step: float) -> Cell:
    """The interaction's norm ‖I‖ against the length a of the steps."""
    sentence = (
        f"At {quoted(run.labels[run.token])} the two changes together add a vector that neither "
        f"adds alone, {number(percent(result.chosen))} as long as the FFN's output (without φ, "
        f"{short(result.chosen_without)} of it)."
    )
    if run.card.phi.exact_zeros and not run.card.gated and math.isfinite(result.until):
        sentence += (
            f" Up to a = {short(result.until)}, this vector is almost zero: no neuron has "
            "switched yet."
        )
    series = {
        f"with {run.card.phi.label}": (result.with_phi, f"@{run.card.colour}", "solid"),
        **({"φ″ says": (result.second, "@text", "dot")} if result.second.any() else {}),
        "without φ": (result.without, "@muted", "dash"),
    }
    figure = lines(
        result.steps,
        {name: (np.maximum(values, LEAST), *style) for name, (values, *style) in series.items()},
        axis("length a of both steps", type="log", exponentformat="power", dtick=1),
        axis("‖I‖ / ‖F(x)‖", type="log", exponentformat="power", dtick=4, range=[-17.2, 1]),
        margin={"l": 84, "r": 20, "t": 60, "b": 56},
        dots=0,
        shapes=[vertical_line(step)],
    )
    alt = "What two changes of the FFN's input add only together, against their length."
    return chart_cell(Head(sentence, "interaction", run.card.colour), figure, alt, height=600)


def its_neurons(run: Run, result: Interaction) -> Cell:
    """The neurons that write most of the interaction."""
    names = [neuron_name(run.state.block, int(neuron)) for neuron in result.neurons]
    sentence = (
        f"Neuron {number(names[0])} writes the largest part of the interaction, "
        f"{percent(float(result.lengths[0]))} of the output's length: both changes reach its φ."
    )
    return bars_cell(
        Head(sentence, "interaction-neurons", run.card.colour),
        [Bars("", names, 100 * result.lengths, run.card.colour, result.neurons)],
        alt="The neurons that write most of the interaction.",
        of="part of I, % of the output's length",
        named="neuron",
        on_choose=partial(open_neuron, run),
    )


LENGTHS = (2, 4, 6, 8, 10, 12, 16, 20, LONGEST_MAP)
N = count_setting("n", influence.LENGTH, LENGTHS[0], LONGEST_MAP, also=("length",)).with_control(
    "tokens, at most", LENGTHS
)
LAYERS = count_slider("depth", influence.DEPTH, range(1, DEEPEST + 1), "layers")
GAINS = (1.0, 2.0, 4.0, 6.0, 8.0, 12.0, LOUDEST)
LOUDER = number_setting("recurrent", influence.GAIN, GAINS[0], LOUDEST).with_control(
    "recurrent weight scale", GAINS, lambda stop: f"×{stop:g}", "of the third recurrent network"
)
SETTINGS = (N, LAYERS)
GRADIENT_SETTINGS = (*SETTINGS, LOUDER)
ACROSS = 5
LABEL = "Differentiate"
DASHES = ("solid", "dash", "dot")


def sheet(run: Run, values: Values) -> Sheet:
    """The maps over what textbooks say of them."""
    soon = Soon("lab-influence", "Which inputs each output depends on, in ten kinds of layers", 342)
    return _measured(run, values, soon, all_maps, over_distance=False)


def gradients_sheet(run: Run, values: Values) -> Sheet:
    """How gradients change over a distance, over what textbooks say of it."""
    soon = Soon("lab-decay", "How a gradient fades over a distance", 360)
    return _measured(run, values, soon, decay, over_distance=True)


def _measured(
    run: Run,
    values: Values,
    soon: Soon,
    picture: Callable[[Run, Influence], Cell],
    *,
    over_distance: bool,  # whether the findings are those of gradients over a distance
) -> Sheet:
    """The one measurement behind both views: a picture over findings."""
    args = values[N], values[LAYERS], values[LOUDER]
    setup = (run.card.id, run.device, run.state.block, run.state.sentence, *args)
    before = row(soon), row(Soon("lab-hears", "What textbooks say of it", 200))
    doing = "Computing the gradients of ten kinds of layers …"

    def after(measured: Measured[Influence]) -> list[Row]:
        result = measured.result
        fading = influence.fading_findings(result.fading, result.gain)  # the last of the findings
        findings = fading if over_distance else result.findings[: -len(fading)]
        return [row(picture(run, result)), row(verdicts_of(run, "lab-hears", findings))]

    return Sheet([Measurement("hears", setup, differentiate, after, args, before, LABEL, doing)])


def differentiate(run: Run, progress: Progress, n: int, depth: int, gain: float) -> Influence:
    """Differentiate all kinds of layers."""
    return influence.input_influence(experiment_subject(run), n, depth, progress, gain)


def all_maps(run: Run, result: Influence) -> Cell:
    """One map per layer; the network's own are in its accent."""
    n = len(result.memory)
    labels = run.labels[:n] if n <= 12 else []
    own = f"@{run.card.colour}"
    shown = [
        Map(layer.name, layer.share, own if layer.trained else "@muted", labels, [])
        for layer in result.maps
    ]
    shown.insert(5, Map("decoder: sentence", result.memory, "@muted", labels, []))
    rnn = next(layer for layer in result.maps if layer.name == RNN)
    steps = number(counted(rnn.steps, "sequential step"))
    sentence = (
        f"Over {counted(n, 'token')} in {counted(result.depth, 'layer')} an RNN takes {steps}; "
        f"attention takes {result.depth}, one for each layer."
    )
    figure = maps(shown, ACROSS, "of all its inputs", ("output", "input"))
    alt = "Ten maps of how much each output depends on each input."
    head = Head(sentence, "lab-influence", run.card.colour)
    return chart_cell(head, figure, alt, key="lab-hears", height=342)


def decay(run: Run, result: Influence) -> Cell:
    """The gradients against the distance; not as shares, so that exploding ones are seen."""
    sentence = "It takes three tokens to see how a gradient changes over a distance."
    if len(result.memory) >= 3:
        means = (float(np.exp(np.log(layer.factors).mean())) for layer in result.fading)
        rnn, lstm, scaled = map(short, means)
        sentence = (
            f"Each step back multiplies an RNN's gradient by {number(rnn)}, an LSTM's by {lstm}, "
            f"and an RNN's with recurrent weights × {result.gain:g} by {scaled}."
        )
    own, loud = f"@{run.card.colour}", f"RNN, weights × {result.gain:g}"
    curves = [
        (layer.name, layer.by_distance, own if layer.trained else "@muted")
        for layer in result.maps
        if layer.name not in ("FFN", RNN, influence.LSTM)
    ]
    curves += [
        (loud if layer.name == influence.LOUD else layer.name, layer.slopes.mean(axis=0), "@text")
        for layer in result.fading
    ]
    series = {
        name: (np.where(slopes > 0, slopes, np.nan), colour, DASHES[place % len(DASHES)])
        for place, (name, slopes, colour) in enumerate(curves)
    }
    figure = lines(
        np.arange(len(result.memory)),
        series,
        axis("distance between output and input"),
        axis("gradient", type="log", dtick=2, exponentformat="power"),
        legend={"orientation": "v", "x": 1.01, "y": 1, "font": {"size": 14}},
        font={"size": 16},
        margin={"l": 76, "r": 16, "t": 10, "b": 56},
    )
    alt = "How steeply outputs depend on inputs over a distance, for each kind of layer."
    return chart_cell(Head(sentence, "lab-decay", run.card.colour), figure, alt, height=360)
