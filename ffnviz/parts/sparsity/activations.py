"""All activation functions: their curves and slopes, and the gated ones as surfaces."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from ffnviz.analysis.lab.experiment import Finding
from ffnviz.analysis.lab.zoo import Zoo, through_gate, visit_zoo
from ffnviz.analysis.number_format import short
from ffnviz.analysis.sparsity import threshold_for
from ffnviz.models.activations import ACTIVATIONS, Activation
from ffnviz.models.trace import ForwardPass
from ffnviz.parts.experiments import cached_result, experiment_subject, verdicts_of
from ffnviz.parts.sheet import Sheet, row
from ffnviz.pictures import plot
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.plot import Array, Figure, Trace
from ffnviz.pictures.text import table_cell
from ffnviz.pictures.wording import Sentence, number, percent, quoted, signed
from ffnviz.state.run import Run, TracedModel
from ffnviz.state.settings import Values, choice_setting


@dataclass(frozen=True)
class BendCurve:
    """An activation function and its derivative."""

    x: Array  # (n,)
    value: Array  # φ(x), (n,)
    slope: Array  # φ′(x), (n,), by automatic differentiation


@dataclass(frozen=True)
class Landing:
    """A histogram of a block's pre-activations, and the shares that end up near zero."""

    edges: Array  # of the bins, (n + 1,)
    shares: Array  # share of the sentence's values in each bin, (n,); they sum to 1
    token_shares: Array  # the same for the chosen token alone, (n,)
    below_zero: float  # share of the pre-activations below zero, from 0 to 1
    near_zero: float  # share of the hidden values within the threshold of zero
    exactly_zero: float  # share of the hidden values that are 0


def curve(phi: Activation, low: float, high: float, n: int = 241) -> BendCurve:
    """φ and φ′ at n points from low to high; of a gated activation, its φ without the gate."""
    with torch.inference_mode(False), torch.enable_grad():
        x = torch.linspace(low, high, n, requires_grad=True)
        value = phi.function(x)
        (slope,) = torch.autograd.grad(value.sum(), x)
    return BendCurve(x.detach().numpy(), value.detach().numpy(), slope.numpy())


def value_range(trace: ForwardPass, block: int) -> tuple[float, float]:
    """A range in half units around the pre-activations of a block."""
    values = trace.blocks[block].ffn.pre_activation
    return np.floor(float(values.min()) * 2) / 2 - 0.5, np.ceil(float(values.max()) * 2) / 2 + 0.5


def landing(trace: ForwardPass, block: int, token: int, edges: Array, threshold: float) -> Landing:
    """A histogram of a block's pre-activations, (T, d_ff), and how many φ leaves near zero.

    All pre-activations must lie between the first and the last edge, (n + 1,). A hidden value is
    near zero where |hidden| is at most the threshold.
    """
    record = trace.blocks[block].ffn
    values = record.pre_activation.cpu().numpy()  # (T, d_ff)
    counts = np.histogram(values, edges)[0]
    token_counts = np.histogram(values[token], edges)[0]
    return Landing(
        edges,
        counts / values.size,
        token_counts / values.shape[1],
        float((values < 0).mean()),
        float((record.hidden.abs() <= threshold).float().mean()),
        float((record.hidden == 0).float().mean()),
    )


def bend(
    twin: str,
    label: str,
    curve: tuple[Array, Array, Array],
    edges: Array,  # of the bins, (n + 1,)
    shares: Array,  # of the sentence's values in each bin, (n,)
    kept: NDArray[np.bool_],  # which bins φ leaves further from zero than the threshold
    token: tuple[str, Array],  # the chosen one's label, escaped, and its shares
) -> Figure:
    """One activation function and what it meets."""
    x, value, slope = curve
    middles = (edges[1:] + edges[:-1]) / 2
    reach = [float(edges[0]), float(edges[-1])]
    # Filled steps, not bars: one path each instead of one a bin, which is drawn much quicker.
    line = {"color": "@text", "width": 2, "shape": "hvh"}
    steps: plot.Options = {"yaxis": "y2", "line": line}
    histogram = [
        {"type": "scatter", "mode": "lines", "name": name, "x": middles,
         "y": np.where(selected, 100 * shares, 0), "yaxis": "y2", "fill": "tozeroy",
         "fillcolor": colour, "line": {"shape": "hvh", "width": 0, "color": colour},
         "showlegend": False}
        for name, selected, colour in (("left near zero by φ", ~kept, "@muted/0.45"),
                                       ("kept by φ", kept, f"@{twin}"))
    ]  # fmt: skip
    return plot.figure(
        [
            plot.line_trace(f"φ = {label}", x, value, f"@{twin}", 4),
            plot.line_trace("slope φ′", x, slope, "@muted", 2.5, "dash"),
            *histogram,
            plot.line_trace(f"{token[0]} alone", middles, 100 * token[1], "@text", 2, **steps),
        ],
        plot.axis("pre-activation x W₁ + b₁", range=reach, anchor="y2"),
        plot.axis("φ(x)", domain=[0.46, 1], range=[-1.1, 3.2]),
        yaxis2=plot.axis("% of values", domain=[0, 0.36], rangemode="tozero"),
    )


BIN = 0.25


def bend_sheet(run: Run, _: Values) -> Sheet:
    """Both networks side by side."""
    return Sheet([row(*(one_network(run, traced) for traced in run.both))])


def one_network(run: Run, traced: TracedModel) -> Cell:
    """One network's φ and its pre-activations in the chosen block."""
    block, card, token = run.block_of(traced), traced.card, int(run.tokens_of(traced)[run.token])
    reaches = [value_range(each.trace, run.block_of(each)) for each in run.both]
    low, high = min(low for low, _ in reaches), max(high for _, high in reaches)
    edges = np.linspace(low, high, round((high - low) / BIN) + 1)
    threshold = threshold_for(card.phi)
    landed = landing(traced.trace, block, token, edges, threshold)
    phi = curve(card.phi, low, high)
    at_middles = np.interp((edges[1:] + edges[:-1]) / 2, phi.x, phi.value)
    label, of_phi = card.phi.label, (phi.x, phi.value, phi.slope)
    alone = plot.isolated(plot.escaped(run.labels[run.token])), landed.token_shares
    kept = np.abs(at_middles) > threshold
    figure = bend(card.colour, label, of_phi, edges, landed.shares, kept, alone)
    head = Head(_sentence(landed, label, block, threshold), "bend", card.colour)
    over = "over a histogram of this sentence's pre-activations"
    alt = f"The curve of {label} and its slope, {over}."
    return chart_cell(head, figure, alt, key=f"bend-{card.id}", height=640)


def _sentence(landed: Landing, label: str, block: int, threshold: float) -> Sentence:
    where, below = f"In block {block + 1}, ", percent(landed.below_zero)
    said = " of the pre-activations are below zero"
    if threshold == 0:
        return f"{where}{number(below)}{said}, and {label} sets every one of them to exactly 0."
    return (
        f"{where}{below}{said}, where {label} makes them small. "
        f"{number(percent(landed.near_zero))} of the activations are within {threshold:g} of zero, "
        f"and {percent(landed.exactly_zero)} are exactly 0, by rounding in float32."
    )


Curve = tuple[str, Array, Array, str, str]


def curves_figure(x: Array, shown: Sequence[Curve], minimum: tuple[float, float]) -> Figure:
    """φ, and beside it φ′; `minimum` is where GELU is least, and its value."""
    traces: list[Trace] = []
    right = {"xaxis": "x2", "yaxis": "y2", "showlegend": False}
    for label, value, slope, colour, dash in shown:
        traces.append(plot.line_trace(label, x, value, colour, 3, dash, legendgroup=label))
        of_slope: plot.Options = {"legendgroup": label, **right}
        traces.append(plot.line_trace(f"{label}, slope", x, slope, colour, 3, dash, **of_slope))
    at, least = minimum
    least_at = f"GELU's minimum<br>{least:.4f} at {at:.4f}".replace("-", "−")
    arrow = {"ax": -60, "ay": -70, "showarrow": True, "arrowcolor": "@text", "font": {"size": 16}}
    return plot.figure(
        traces,
        plot.axis("x", anchor="y", range=[-4, 4], domain=[0, 0.47]),
        plot.axis("", range=[-1.1, 3.2]),
        xaxis2=plot.axis("x", anchor="y2", range=[-4, 4], domain=[0.53, 1]),
        yaxis2=plot.axis("", anchor="x2", range=[-0.25, 1.25]),
        meta={"panels": 2},
        annotations=[
            plot.panel_title("φ(x)", 0, inside=True),
            plot.panel_title("its slope, φ′(x)", 0.53, inside=True),
            {"text": least_at, "x": at, "y": least, "xref": "x", "yref": "y", **arrow},
        ],
        margin={"l": 70, "r": 20, "t": 66, "b": 56},
    )


def surface_figure(side: Array, values: Array, label: str, points: tuple[Array, Array]) -> Figure:
    """A gate's φ(g)·v, a row a v, on the signed scale, and a token's units as points (g, v)."""
    largest = float(np.abs(values).max())
    reach = [float(side[0]), float(side[-1])]
    return plot.figure(
        [
            plot.heatmap(label, values, -largest, largest, x=side, y=side,
                         colorscale=[[0, "@negative"], [0.25, "@negative_mid"],
                                     [0.5, "@background"], [0.75, "@positive_mid"],
                                     [1, "@positive"]],
                         colorbar={"title": {"text": "φ(g)·v", "side": "top"}, "thickness": 14},
                         hovertemplate="g = %{x:.1f}, v = %{y:.1f}: %{z:.2f}<extra></extra>"),
            plot.dots("its neurons", points[0], points[1], {"color": "@text/0.55", "size": 3.5},
                      hoverinfo="skip"),
        ],
        plot.axis("gate g", range=reach), plot.axis("value v", range=reach),
        margin={"l": 64, "r": 10, "t": 16, "b": 56}, showlegend=False,
    )  # fmt: skip


GATES = {name: each.label for name, each in ACTIVATIONS.items() if each.gated}
# ReGLU if a link has none.
GATE = choice_setting("gate", {"reglu": GATES["reglu"], **GATES}).with_control("Gate")


def all_of_them(run: Run, _: Values) -> Sheet:
    """The curves of the plain ones over the verdicts on them."""
    zoo = cached_result(run, "zoo", visit_zoo)
    return Sheet([row(all_curves(run, zoo)), row(claims(run, zoo.findings[1:]))])


def gated(run: Run, values: Values) -> Sheet:
    """What a gate does to the chosen token beside what a gated FFN costs."""
    zoo, gate = cached_result(run, "zoo", visit_zoo), values[GATE]
    costs = [claims(run, zoo.findings[:1]), parameters(run, zoo)]  # the first is about gated FFNs
    return Sheet([row(one_gate(run, gate, zoo.gated[gate], zoo.axis), costs, widths=(1.2, 1))])


def claims(run: Run, findings: Sequence[Finding]) -> Cell:
    """The verdicts of some of the experiment's findings."""
    return verdicts_of(run, "lab-zoo", findings)


def all_curves(run: Run, zoo: Zoo) -> Cell:
    """φ and φ′ of all plain ones."""
    at, least = zoo.minimum
    sentence = (
        f"GELU has its minimum at x = {signed(at)}: {number(f'{least:.4f}'.replace('-', '−'))}; "
        f"its tanh formula is off by at most {short(zoo.apart[0])}."
    )
    lines = [
        (ACTIVATIONS[c.name].label, c.value, c.slope, *ACTIVATIONS[c.name].line) for c in zoo.curves
    ]
    figure = curves_figure(zoo.x, lines, zoo.minimum)
    alt = "Every plain activation's curve, and its slope beside it."
    return chart_cell(Head(sentence, "lab-curves", run.card.colour), figure, alt, height=400)


def one_gate(run: Run, gate: str, surface: Array, axis: Array) -> Cell:
    """φ(g)·v as a surface, with the chosen token's own pairs of g and v on it."""
    name = ("gate", gate, run.state.block, run.token)
    result = run.subject.per_sentence(name, lambda: through_gate(experiment_subject(run), gate))
    label = ACTIVATIONS[gate].label
    closed, turned = number(percent(result.closed)), percent(result.turned)
    sentence = (
        f"Of the {len(result.gate):,} gates of an untrained {label}, {closed} are closed "
        f"(exactly 0) at {quoted(run.labels[run.token])}, and {turned} flip the sign of v."
    )
    figure = surface_figure(axis, surface, label, (result.gate, result.value))
    alt = f"{label} as a surface over gate and value, with the chosen token's neurons as points."
    return chart_cell(Head(sentence, "lab-gate", run.card.colour), figure, alt, height=516)


def parameters(run: Run, zoo: Zoo) -> Cell:
    """Gated and plain at equal parameters."""
    d_model = run.model.sizes.d_model
    of_size: dict[tuple[int, int], list[str]] = {}
    for name, size in zoo.parameters.items():
        of_size.setdefault(size, []).append(ACTIVATIONS[name].label)
    rows = [
        (", ".join(labels), f"{d_ff:,}", f"{count:,}") for (d_ff, count), labels in of_size.items()
    ]
    why = f"A gate needs a third matrix, so at d_model = {d_model:,} its d_ff is cut to 2/3:"
    head = Head(why, "", run.card.colour)
    return table_cell("lab-parameters", head, ["FFN", "d_ff", "parameters"], rows)
