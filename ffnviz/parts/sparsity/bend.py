"""Where φ bends: the curve over a histogram of what this sentence puts into it."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from ffnviz.analysis.sparsity.awake import threshold_for
from ffnviz.models.activations import Activation
from ffnviz.models.trace import ForwardPass
from ffnviz.parts.sheet import Sheet, row
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.plot import Figure, axis, escaped, figure, isolated, line_trace
from ffnviz.pictures.wording import Sentence, number, percent
from ffnviz.state.run import Run, TracedModel
from ffnviz.state.settings import Values


@dataclass(frozen=True)
class Curve:
    """An activation function and its derivative."""

    x: NDArray[np.float32]  # (n,)
    value: NDArray[np.float32]  # φ(x), (n,)
    slope: NDArray[np.float32]  # φ′(x), (n,), by automatic differentiation


@dataclass(frozen=True)
class Landing:
    """A histogram of a block's pre-activations, and the shares that end up near zero."""

    edges: NDArray[np.float64]  # of the bins, (n + 1,)
    shares: NDArray[np.float64]  # share of the sentence's values in each bin, (n,); they sum to 1
    token_shares: NDArray[np.float64]  # the same for the chosen token alone, (n,)
    below_zero: float  # share of the pre-activations below zero, from 0 to 1
    near_zero: float  # share of the hidden values within the threshold of zero
    exactly_zero: float  # share of the hidden values that are 0


def curve(phi: Activation, low: float, high: float, n: int = 241) -> Curve:
    """φ and φ′ at n points from low to high; of a gated activation, its φ without the gate."""
    with torch.inference_mode(False), torch.enable_grad():
        x = torch.linspace(low, high, n, requires_grad=True)
        value = phi.function(x)
        (slope,) = torch.autograd.grad(value.sum(), x)
    return Curve(x.detach().numpy(), value.detach().numpy(), slope.numpy())


def value_range(trace: ForwardPass, block: int) -> tuple[float, float]:
    """A range in half units around the pre-activations of a block."""
    values = trace.blocks[block].ffn.pre_activation
    return np.floor(float(values.min()) * 2) / 2 - 0.5, np.ceil(float(values.max()) * 2) / 2 + 0.5


def landing(
    trace: ForwardPass, block: int, token: int, edges: NDArray[np.float64], threshold: float
) -> Landing:
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
    curve: tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]],
    edges: NDArray[np.float64],
    shares: NDArray[np.float64],
    kept: NDArray[np.bool_],
    token: tuple[str, NDArray[np.float64]],
) -> Figure:
    """One activation function and what it meets.

    Args:
        twin: its accent.
        label: how φ is called.
        curve: x, φ(x) and φ'(x).
        edges: of the bins, (n + 1,).
        shares: of the sentence's values in each bin, (n,).
        kept: which bins φ leaves further from zero than the threshold, (n,).
        token: the chosen token's label, already escaped, and its shares, (n,).
    """
    x, value, slope = curve
    middles = (edges[1:] + edges[:-1]) / 2
    reach = [float(edges[0]), float(edges[-1])]
    # Filled steps, not bars: one path each instead of one a bin, which is drawn much quicker.
    histogram = [
        {"type": "scatter", "mode": "lines", "name": name, "x": middles,
         "y": np.where(selected, 100 * shares, 0), "yaxis": "y2", "fill": "tozeroy",
         "fillcolor": colour, "line": {"shape": "hvh", "width": 0, "color": colour},
         "showlegend": False}
        for name, selected, colour in (("left near zero by φ", ~kept, "@muted/0.45"),
                                       ("kept by φ", kept, f"@{twin}"))
    ]  # fmt: skip
    return figure(
        [
            line_trace(f"φ = {label}", x, value, f"@{twin}", 4),
            line_trace("slope φ′", x, slope, "@muted", 2.5, "dash"),
            *histogram,
            {"type": "scatter", "mode": "lines", "name": f"{token[0]} alone", "x": middles,
             "y": 100 * token[1], "yaxis": "y2",
             "line": {"color": "@text", "width": 2, "shape": "hvh"}},
        ],
        axis("pre-activation x W₁ + b₁", range=reach, anchor="y2"),
        axis("φ(x)", domain=[0.46, 1], range=[-1.1, 3.2]),
        yaxis2=axis("% of values", domain=[0, 0.36], rangemode="tozero"),
    )  # fmt: skip


BIN = 0.25


def sheet(run: Run, values: Values) -> Sheet:  # noqa: ARG001
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
    figure = bend(
        card.colour,
        card.phi.label,
        (phi.x, phi.value, phi.slope),
        edges,
        landed.shares,
        np.abs(at_middles) > threshold,
        (isolated(escaped(run.labels[run.token])), landed.token_shares),
    )
    return chart_cell(
        Head(_sentence(landed, card.phi.label, block, threshold), "bend", card.colour),
        figure,
        f"The curve of {card.phi.label} and its slope, over a histogram of this "
        "sentence's pre-activations.",
        key=f"bend-{card.id}",
        height=640,
    )


def _sentence(landed: Landing, label: str, block: int, threshold: float) -> Sentence:
    where, below = f"In block {block + 1}, ", percent(landed.below_zero)
    said = " of the pre-activations are below zero"
    if threshold == 0:
        return [where, number(below), f"{said}, and {label} sets every one of them to exactly 0."]
    return [f"{where}{below}{said}; {label} makes them small. ", number(percent(landed.near_zero)),
            f" of the activations are within {threshold:g} of zero, and "
            f"{percent(landed.exactly_zero)} are exactly 0, by rounding in float32."]  # fmt: skip
