"""All activation functions: their curves and slopes, and the gated ones as surfaces."""

from dataclasses import dataclass

import numpy as np
import torch

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
from ffnviz.pictures.wording import number, percent, quoted, signed
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
    colour: str, label: str, phi: BendCurve, landed: Landing, threshold: float, token: str
) -> Figure:
    """One activation function and what it meets; `token` is the chosen one's label, escaped."""
    edges = landed.edges
    middles = (edges[1:] + edges[:-1]) / 2
    kept = np.abs(np.interp(middles, phi.x, phi.value)) > threshold
    # Filled steps, not bars: one path each instead of one a bin, which is drawn much quicker.
    line = {"color": "@text", "width": 2, "shape": "hvh"}
    steps: plot.Options = {"yaxis": "y2", "line": line}
    histogram = [
        {"type": "scatter", "mode": "lines", "name": name, "x": middles,
         "y": np.where(selected, 100 * landed.shares, 0), "yaxis": "y2", "fill": "tozeroy",
         "fillcolor": fill, "line": {"shape": "hvh", "width": 0, "color": fill},
         "showlegend": False}
        for name, selected, fill in (("left near zero by φ", ~kept, "@muted/0.45"),
                                     ("kept by φ", kept, f"@{colour}"))
    ]  # fmt: skip
    alone = 100 * landed.token_shares
    return plot.figure(
        [
            plot.line_trace(f"φ = {label}", phi.x, phi.value, f"@{colour}", 4),
            plot.line_trace("slope φ′", phi.x, phi.slope, "@muted", 2.5, "dash"),
            *histogram,
            plot.line_trace(f"{token} alone", middles, alone, "@text", 2, **steps),
        ],
        plot.axis(
            "pre-activation x W₁ + b₁", range=[float(edges[0]), float(edges[-1])], anchor="y2"
        ),
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
    threshold, label = threshold_for(card.phi), card.phi.label
    landed = landing(traced.trace, block, token, edges, threshold)
    where, below = f"In block {block + 1}, ", percent(landed.below_zero)
    said = " of the pre-activations are below zero"
    sentence = f"{where}{number(below)}{said}, and {label} sets every one of them to exactly 0."
    if threshold:
        near_zero = number(percent(landed.near_zero))
        sentence = (
            f"{where}{below}{said}, where {label} makes them small. {near_zero} of the activations "
            f"are within {threshold:g} of zero, and {percent(landed.exactly_zero)} are exactly 0, "
            "by rounding in float32."
        )
    named = plot.isolated(plot.escaped(run.labels[run.token]))
    figure = bend(card.colour, label, curve(card.phi, low, high), landed, threshold, named)
    over = "over a histogram of this sentence's pre-activations"
    alt = f"The curve of {label} and its slope, {over}."
    head = Head(sentence, "bend", card.colour)
    return chart_cell(head, figure, alt, key=f"bend-{card.id}", height=640)


def curves_figure(zoo: Zoo) -> Figure:
    """φ of all plain ones, and beside it φ′; GELU's minimum is marked."""
    traces: list[Trace] = []
    right = {"xaxis": "x2", "yaxis": "y2", "showlegend": False}
    for each in zoo.curves:
        label, (colour, dash) = ACTIVATIONS[each.name].label, ACTIVATIONS[each.name].line
        traces.append(plot.line_trace(label, zoo.x, each.value, colour, 3, dash, legendgroup=label))
        of_slope: plot.Options = {"legendgroup": label, **right}
        traces.append(
            plot.line_trace(f"{label}, slope", zoo.x, each.slope, colour, 3, dash, **of_slope)
        )
    at, least = zoo.minimum
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
    at, least = zoo.minimum
    sentence = (
        f"GELU has its minimum at x = {signed(at)}: {number(f'{least:.4f}'.replace('-', '−'))}; "
        f"its tanh formula is off by at most {short(zoo.apart[0])}."
    )
    alt = "Every plain activation's curve, and its slope beside it."
    head = Head(sentence, "lab-curves", run.card.colour)
    curves = chart_cell(head, curves_figure(zoo), alt, height=400)
    return Sheet([row(curves), row(verdicts_of(run, "lab-zoo", zoo.findings[1:]))])


def gated(run: Run, values: Values) -> Sheet:
    """What a gate does to the chosen token beside what a gated FFN costs."""
    zoo, gate = cached_result(run, "zoo", visit_zoo), values[GATE]
    verdicts = verdicts_of(run, "lab-zoo", zoo.findings[:1])  # the first is about gated FFNs
    cells = one_gate(run, zoo, gate), [verdicts, parameters(run, zoo)]
    return Sheet([row(*cells, widths=(1.2, 1))])


def one_gate(run: Run, zoo: Zoo, gate: str) -> Cell:
    """φ(g)·v as a surface, with the chosen token's own pairs of g and v on it."""
    name = ("gate", gate, run.state.block, run.token)
    result = run.subject.per_sentence(name, lambda: through_gate(experiment_subject(run), gate))
    label = ACTIVATIONS[gate].label
    closed, turned = number(percent(result.closed)), percent(result.turned)
    sentence = (
        f"Of the {len(result.gate):,} gates of an untrained {label}, {closed} are closed "
        f"(exactly 0) at {quoted(run.labels[run.token])}, and {turned} flip the sign of v."
    )
    figure = surface_figure(zoo.axis, zoo.gated[gate], label, (result.gate, result.value))
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
