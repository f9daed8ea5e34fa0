"""Grouped and depthwise 1 × 1: fewer weights, and channels that no longer mix."""

import streamlit as st

from ffnviz.analysis.needs import ours
from ffnviz.analysis.spread import Progress
from ffnviz.analysis.timing.grouped import Grouped, grouped
from ffnviz.figures.timing import grouped as figures
from ffnviz.figures.wording import Sentence, number, percent, quoted
from ffnviz.figures.words import Words, word_bars
from ffnviz.parts.guess import under_guess
from ffnviz.parts.measurement import about, measure_button, repeats_slider
from ffnviz.parts.part import Navigator, live
from ffnviz.parts.results import REPEATS
from ffnviz.pictures.chart import chart
from ffnviz.pictures.head import Head
from ffnviz.pictures.slider import nearest, slider
from ffnviz.state.run import Run
from ffnviz.state.settings import count_setting

GROUPS = count_setting("groups", 8, 1, 512)
SETTINGS = (REPEATS, GROUPS)


@live
def render(run: Run, navigator: Navigator) -> None:
    """The button and the words beside what is left and the times."""
    repeats = navigator.value(REPEATS)
    setup = (run.card.id, run.state.sentence, run.device, run.state.block, run.token, repeats)
    controls, left, right = st.columns([0.8, 1.1, 1.1], gap="medium")
    with controls:
        repeats_slider(navigator, "grouped")
        measured = measure_button("grouped", setup, run, measure, repeats, run.token)
        if measured is not None:
            about(measured, setup, run)
    if measured is None:
        return
    found: Grouped = measured.result
    at = nearest(found.groups, navigator.value(GROUPS), by_ratio=True)
    with controls:
        slider(
            "groups",
            [f"{group:,}" for group in found.groups],
            at,
            key="groups",
            on_choose=lambda stop, done: navigator.choose(GROUPS, found.groups[stop], done),
        )
    version = f"{run.stamp} {measured.when} {measured.setup} {at}"
    with left:
        what_is_left(run, found, at, version)
    with right:
        the_times(run, found, at, version)
        if found.told:
            what_is_said(run, found, at, version)


def measure(run: Run, progress: Progress, repeats: int, token: int) -> Grouped:
    """The block's FFN in groups, on the sentence."""
    return grouped(ours(run.model), run.trace, run.state.block, token, repeats, progress)


def what_is_left(run: Run, found: Grouped, at: int, version: str) -> None:
    """Weights, channels heard and the output's error."""
    d_model = run.model.sizes.d_model
    heard = round(found.heard[at] * d_model)
    n = found.groups[at]
    sentence: Sentence = [
        _name(n, d_model), ", an output channel hears ", number(f"{heard:,} of {d_model:,}"),
        " inputs, ", number(percent(float(found.weights[at] / found.weights[0]))),
        " of the weights are left, and the output is off by ",
        number(percent(float(found.errors[at]))), ".",
    ]  # fmt: skip
    chart(
        Head(sentence, "grouped", run.card.colour),
        figures.left(found.groups, found.weights / found.weights[0], found.heard, found.shuffled,
                     found.errors, at, run.card.colour),
        "Weights, channels heard and the output's error against the number of groups.",
        version,
        key="grouped",
        height=600,
    )  # fmt: skip


def the_times(run: Run, found: Grouped, at: int, version: str) -> None:
    """The time in groups against the whole."""
    times = [spread.median for spread in found.times]
    fewer = found.weights[0] / found.weights[at]
    sentence: Sentence = [
        f"With {fewer:,.0f} times fewer multiply-adds" if at else "As it is",
        " it takes ", number(f"{times[at]:.2f} ms"),
        f", {times[at] / times[0]:.2f} times as long as whole." if at else ".",
    ]  # fmt: skip
    chart(
        Head(sentence, "grouped-times", run.card.colour),
        figures.times(found.groups, [(s.median, s.lower, s.upper) for s in found.times], at,
                      run.card.colour),
        "The time of the FFN against the number of groups.",
        version,
        key="grouped-times",
        height=290,
    )  # fmt: skip


def what_is_said(run: Run, found: Grouped, at: int, version: str) -> None:
    """The likeliest words with the whole FFN and in groups."""
    whole, cut = found.told[0], found.told[at]
    n = found.groups[at]
    name = f"{n:,} group{'s' * (n > 1)}"
    sentence: Sentence = [
        "At ", quoted(run.labels[run.token]), " the network says ", number(whole.words[0]),
        f"; in {name}, ", number(cut.words[0]), ".",
    ]  # fmt: skip
    chart(
        Head(sentence, "grouped-words", run.card.colour, under=under_guess(run)),
        word_bars([
            Words("the whole FFN", whole.words, whole.probabilities, f"@{run.card.colour}"),
            Words(name, cut.words, cut.probabilities, "@muted"),
        ]),
        "The five likeliest words with the whole FFN and with the FFN in groups.",
        version,
        key="grouped-words",
        height=300,
    )  # fmt: skip


def _name(n: int, d_model: int) -> str:
    if n == 1:
        return "As it is"
    return f"Depthwise, in {n:,} groups" if n == d_model else f"In {n:,} groups"
