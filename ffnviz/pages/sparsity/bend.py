"""Where φ bends: the curve over a histogram of what this sentence puts into it."""

import numpy as np
import streamlit as st

from ffnviz.analysis.bend import Landing, curve, landing, reach
from ffnviz.analysis.sparsity import threshold_for
from ffnviz.components.chart import chart
from ffnviz.components.head import Head
from ffnviz.figures.bend import bend
from ffnviz.figures.layout import escaped
from ffnviz.figures.style import palettes
from ffnviz.figures.wording import Sentence, number, percent
from ffnviz.model.activations import ACTIVATIONS
from ffnviz.page import Choices
from ffnviz.run import Run

BIN = 0.25


def render(run: Run, choices: Choices) -> None:  # noqa: ARG001
    """Both twins side by side."""
    for column, twin in zip(st.columns(len(run.traces), gap="medium"), run.traces, strict=True):
        with column:
            one_twin(run, twin)


def one_twin(run: Run, twin: str) -> None:
    """One twin's φ and its pre-activations in the chosen block."""
    block = run.request.block
    low, high = reach(list(run.traces.values()), block)
    edges = np.linspace(low, high, round((high - low) / BIN) + 1)
    threshold = threshold_for(twin)
    landed = landing(run.traces[twin], block, run.token, edges, threshold)
    drawn = curve(twin, low, high)
    at_middles = np.interp((edges[1:] + edges[:-1]) / 2, drawn.x, drawn.value)
    figure = bend(
        twin,
        ACTIVATIONS[twin].label,
        (drawn.x, drawn.value, drawn.slope),
        edges,
        landed.shares,
        np.abs(at_middles) > threshold,
        (escaped(run.labels[run.token]), landed.token_shares),
    )
    chart(
        Head(_sentence(landed, twin, block, threshold), "bend", twin),
        figure,
        f"The curve of {ACTIVATIONS[twin].label} and its slope, over a histogram of this "
        "sentence's pre-activations.",
        palettes(),
        run.stamp,
        key=f"bend-{twin}",
        height=680,
    )


def _sentence(landed: Landing, twin: str, block: int, threshold: float) -> Sentence:
    label = ACTIVATIONS[twin].label
    below = number(percent(landed.below_zero))
    if threshold == 0:
        return [f"In block {block + 1}, ", below, " of what comes in lies below zero, and ",
                f"{label} makes every one of them exactly 0."]  # fmt: skip
    return [f"In block {block + 1}, ", below, f" lies below zero; {label} lets a little of it "
            "through and leaves ", number(percent(landed.near_zero)),
            f" of all values within {threshold:g} of zero, but hardly one at it."]  # fmt: skip
