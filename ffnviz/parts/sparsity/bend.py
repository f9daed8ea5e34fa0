"""Where φ bends: the curve over a histogram of what this sentence puts into it."""

import numpy as np

from ffnviz.analysis.sparsity.awake import threshold_for
from ffnviz.analysis.sparsity.bend import Landing, curve, landing, value_range
from ffnviz.figures.layout import escaped, isolated
from ffnviz.figures.sparsity.bend import bend
from ffnviz.figures.wording import Sentence, number, percent
from ffnviz.parts.sheet import Sheet, row
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.head import Head
from ffnviz.state.run import Run, TracedModel
from ffnviz.state.settings import Values

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
