"""One after the other: a recurrent network reads what the block reads all at once."""

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from ffnviz.analysis.block.turns import (
    LONGEST,
    Clock,
    ThroughBlocks,
    read_against_the_clock,
    through_blocks,
    through_recurrent,
    what_is_read,
)
from ffnviz.analysis.number_format import short
from ffnviz.analysis.spread import Progress
from ffnviz.figures.block import turns as figures
from ffnviz.figures.wording import Sentence, number, quoted
from ffnviz.parts.measurement import about, measure_button, one_at_a_time
from ffnviz.parts.part import Navigator, live
from ffnviz.pictures.chart import chart
from ffnviz.pictures.head import Head
from ffnviz.pictures.slider import nearest, slider
from ffnviz.state.run import Run
from ffnviz.state.settings import choice_setting, number_setting

GAIN = number_setting("gain", 1.0, 0.1, 4.0)
PHI = choice_setting("rnn_phi", {"tanh": "tanh", "none": "none"})
SETTINGS = (GAIN, PHI)
GAINS = (0.1, 0.25, 0.5, 0.75, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0, 3.0, 4.0)
RUNS = 30


@live
def render(run: Run, navigator: Navigator) -> None:
    """The clock beside the gradient."""
    left, right = st.columns(2, gap="medium")
    with left:
        clock(run)
    with right:
        gradient(run, navigator)


def clock(run: Run) -> None:
    """When each has read what."""
    setup = (run.card.id, run.state.block, run.state.sentence, run.token)
    measured = measure_button("turns", setup, run, clocked, doing="Reading …")
    if measured is None:
        return
    found: Clock = measured.result
    labels = _labels(run)[: len(found.recurrent)]
    chart(
        Head(_of_clock(found), "clock", run.card.colour),
        figures.clock(labels, found.recurrent, found.block, f"@{run.card.colour}"),
        "When the recurrent network and the block were done with each token.",
        f"{run.stamp} {measured.when}",
        key="clock",
        height=520,
    )
    about(measured, setup, run)


def clocked(run: Run, progress: Progress) -> Clock:
    """Both read the sentence against the clock."""
    return read_against_the_clock(run.model, run.trace, run.state.block, run.token, RUNS, progress)


def gradient(run: Run, navigator: Navigator) -> None:
    """What arrives of a gradient."""
    gain, phi = navigator.value(GAIN), navigator.value(PHI)
    read = what_is_read(run.trace, run.state.block, run.token)
    with one_at_a_time():
        recurrent = through_recurrent(run.model, run.state.block, read, gain, bends=phi == "tanh")
        found = run.subject.per_sentence(
            ("through blocks", run.state.block, run.token),
            lambda: through_blocks(run.model, run.state.block, read),
        )
    labels = _labels(run)
    one, other = st.columns([2, 1])
    with one:
        slider(
            "gain of the RNN's W_h",
            [f"{stop:g}" for stop in GAINS],
            nearest(GAINS, gain, by_ratio=True),
            key="rnn-gain",
            on_choose=lambda stop, done: navigator.choose(GAIN, GAINS[stop], done),
        )
    with other:
        st.segmented_control("φ of the RNN", **navigator.options(PHI), required=True)
    chart(
        Head(_of_gradient(labels, read.token, recurrent, found), "arrives", run.card.colour),
        figures.arrives(
            labels,
            read.token,
            [
                ("RNN, untrained", recurrent, "@text", "dash"),
                ("block, untrained", found.untrained, "@muted", "dot"),
                (
                    f"block {run.state.block + 1}, trained",
                    found.block,
                    f"@{run.card.colour}",
                    "solid",
                ),
            ],
        ),
        "What of a gradient of length 1 at the chosen token's output arrives at each token.",
        f"{run.stamp} {gain} {phi}",
        key="arrives",
        height=520,
    )


def _labels(run: Run) -> list[str]:
    first = max(0, run.token + 1 - LONGEST)
    return run.labels[first : first + LONGEST]


def _of_clock(found: Clock) -> Sentence:
    n = len(found.recurrent)
    many = f"{n} tokens" if n > 1 else "1 token"
    rnn, block = found.weights
    return [
        f"One after the other, {many} take an RNN ", number(f"{found.recurrent[-1]:.2f} ms"),
        f": {n} step{'s' * (n > 1)}, each waiting for the one before. The block has them all "
        "after ", number(f"{found.block:.2f} ms"), f". They have {rnn / 1e6:.2f} and "
        f"{block / 1e6:.2f} million weights.",
    ]  # fmt: skip


def _of_gradient(
    labels: list[str], token: int, recurrent: NDArray[np.float64], found: ThroughBlocks
) -> Sentence:
    if token == 0:
        return [
            quoted(labels[0]), " is the first token: there is nothing before it that an RNN could "
            "forget. Choose a later one above.",
        ]  # fmt: skip
    steps = f"{token} step{'s' * (token > 1)}"
    others = np.delete(np.arange(len(labels)), token)
    most = int(others[found.block[others].argmax()])
    return [
        "Of a gradient of length 1 at ", quoted(labels[token]), ", the RNN brings ",
        number(short(float(recurrent[0]))), " to ", quoted(labels[0]), f", {steps} back; an "
        "untrained block ", number(short(float(found.untrained[0]))), ". The trained block hears ",
        quoted(labels[most]), " most (", number(short(float(found.block[most]))), ").",
    ]  # fmt: skip
