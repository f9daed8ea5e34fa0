"""Swap φ without training again: each network's weights with the other's activation."""

import streamlit as st

from ffnviz.analysis.needs import ours
from ffnviz.analysis.number_format import short
from ffnviz.analysis.prediction import Prediction, predict
from ffnviz.analysis.sparsity.swap import Swapped, swap
from ffnviz.figures.wording import Sentence, number, percent, quoted
from ffnviz.figures.words import Words, word_bars
from ffnviz.models.card import Card
from ffnviz.parts.guess import under_guess
from ffnviz.parts.part import Navigator
from ffnviz.pictures.chart import chart
from ffnviz.pictures.head import Head
from ffnviz.state.run import Run, TracedModel


def render(run: Run, navigator: Navigator) -> None:  # noqa: ARG001
    """Both networks as they are, and with φ swapped."""
    pairs = zip(st.columns(len(run.both), gap="medium"), run.both, run.both[::-1], strict=True)
    for column, traced, other in pairs:
        with column:
            one_network(run, traced, other.card)


def one_network(run: Run, traced: TracedModel, other_card: Card) -> None:
    """One network's weights with its own φ and with the other's."""
    token, block = run.token, run.state.block
    own, other = traced.card.label, other_card.phi.label
    told = predict(traced.network, traced.trace, token)
    swapped = swap(ours(traced.network), traced.trace, token, other_card.phi.name)
    above = percent(float((traced.trace.blocks[block].ffn.hidden > 0).float().mean()))
    above_swapped = percent(swapped.above_zero[block])
    panels = [
        Words(f"{own}'s weights with {traced.card.phi.label}<br>"
              f"{above} of block {block + 1} above zero",
              told.words, told.probabilities, f"@{traced.card.colour}"),
        Words(f"{own}'s weights with {other}<br>{above_swapped} above zero",
              swapped.prediction.words, swapped.prediction.probabilities, f"@{other_card.colour}"),
    ]  # fmt: skip
    chart(
        Head(
            _sentence(run, own, other, told, swapped),
            "swap",
            traced.card.colour,
            under=under_guess(run, traced),
        ),
        word_bars(panels),
        f"The ten likeliest words of {own}'s weights with {own} and with {other}.",
        run.stamp,
        key=f"swap-{traced.card.id}",
        height=680,
    )


def _sentence(run: Run, own: str, other: str, told: Prediction, swapped: Swapped) -> Sentence:
    new = swapped.prediction
    return [
        f"With {other}, {own}'s weights say ",
        number(f"{new.words[0]} ({percent(float(new.probabilities[0]))})"), " at ",
        quoted(run.labels[run.token]), " instead of ",
        number(f"{told.words[0]} ({percent(float(told.probabilities[0]))})"),
        ": the two predictions are ", number(f"{short(swapped.divergence)} nats"), " apart.",
    ]  # fmt: skip
