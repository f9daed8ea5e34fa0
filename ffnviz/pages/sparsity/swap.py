"""Swap φ without training again: each twin's weights with the other's activation."""

import streamlit as st

from ffnviz.analysis.prediction import Prediction, predict
from ffnviz.analysis.swap import Swapped, swap
from ffnviz.components.chart import chart
from ffnviz.components.head import Head
from ffnviz.figures.style import palettes
from ffnviz.figures.wording import Sentence, number, percent, quoted
from ffnviz.figures.words import Words, word_bars
from ffnviz.model.activations import ACTIVATIONS
from ffnviz.page import Choices
from ffnviz.run import Run

OTHER = {"relu": "gelu", "gelu": "relu"}


def render(run: Run, choices: Choices) -> None:  # noqa: ARG001
    """Both twins as they are, and with φ swapped."""
    for column, twin in zip(st.columns(len(run.traces), gap="medium"), run.traces, strict=True):
        with column:
            one_twin(run, twin)


def one_twin(run: Run, twin: str) -> None:
    """One twin's weights with its own φ and with the other's."""
    token, block = run.token, run.request.block
    own, other = ACTIVATIONS[twin].label, ACTIVATIONS[OTHER[twin]].label
    told = predict(run.models[twin], run.traces[twin], token)
    swapped = swap(run.models[twin], run.traces[twin], token, OTHER[twin])
    above = percent(float((run.traces[twin].blocks[block].ffn.hidden > 0).float().mean()))
    above_swapped = percent(swapped.awake[block])
    panels = [
        Words(f"{own}'s weights with {own}<br>{above} of block {block + 1} above zero",
              told.words, told.probabilities, f"@{twin}"),
        Words(f"{own}'s weights with {other}<br>{above_swapped} above zero",
              swapped.prediction.words, swapped.prediction.probabilities, f"@{OTHER[twin]}"),
    ]  # fmt: skip
    chart(
        Head(_sentence(run, twin, told, swapped), "swap", twin),
        word_bars(panels),
        f"The ten likeliest words of {own}'s weights with {own} and with {other}.",
        palettes(),
        run.stamp,
        key=f"swap-{twin}",
        height=680,
    )


def _sentence(run: Run, twin: str, told: Prediction, swapped: Swapped) -> Sentence:
    new = swapped.prediction
    return [
        f"With {ACTIVATIONS[OTHER[twin]].label}, {ACTIVATIONS[twin].label}'s weights say ",
        number(f"{new.words[0]} ({percent(float(new.probabilities[0]))})"), " at ",
        quoted(run.labels[run.token]), " instead of ",
        number(f"{told.words[0]} ({percent(float(told.probabilities[0]))})"),
        ": they diverge by ", number(f"{swapped.divergence:.2g} nats"), ".",
    ]  # fmt: skip
