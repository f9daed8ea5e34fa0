"""Dropout: repeated passes, their mean, and the pass without."""

import numpy as np
import streamlit as st

from ffnviz.analysis.lab.dropout import SEED, Dropout, try_dropout
from ffnviz.analysis.lab.dropout import P as USUAL
from ffnviz.analysis.lab.dropout import passes as drawn_passes
from ffnviz.figures.lab.curves import lines
from ffnviz.figures.lab.passes import scattered
from ffnviz.figures.layout import axis
from ffnviz.figures.wording import Sentence, number, percent, quoted
from ffnviz.parts.lab.subject import experiment_subject, show_verdicts, tally
from ffnviz.parts.part import Navigator, live
from ffnviz.pictures.chart import chart
from ffnviz.pictures.head import Head
from ffnviz.pictures.slider import nearest, slider
from ffnviz.state.run import Run
from ffnviz.state.settings import count_setting, number_setting

STOPS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
P = number_setting("p", USUAL, STOPS[0], STOPS[-1])
DRAW = count_setting("draw", 1, 1, 9_999)
SETTINGS = (P, DRAW)


@live
def render(run: Run, navigator: Navigator) -> None:
    """The verdicts and controls, the passes, and how their mean settles."""
    p, draw = navigator.value(P), navigator.value(DRAW)
    subject = experiment_subject(run)
    judged = run.subject.per_sentence(
        ("dropout", run.state.block, run.token, p), lambda: drawn_passes(subject, p)
    )
    found = try_dropout(subject, p, seed=SEED + draw - 1, judged=judged)
    left, middle, right = st.columns([0.8, 1.2, 1], gap="medium")
    version = f"{p:g} {draw}"
    with left:
        show_verdicts(
            run,
            Head(tally(found.findings), "lab-dropout", run.card.colour),
            found.findings,
            version,
        )
        slider(
            "dropout p",
            [f"{stop:g}" for stop in STOPS],
            nearest(STOPS, p),
            key="lab-p",
            on_choose=lambda stop, done: navigator.choose(P, STOPS[stop], done),
        )
        st.button("Draw again", on_click=navigator.choose, args=(DRAW, draw % 9_999 + 1))
    with middle:
        passes(run, found, p, version)
    with right:
        settling(run, found, version)
        word(run, found, version)


def passes(run: Run, found: Dropout, p: float, version: str) -> None:
    """Where the passes fall, for the components that vary most."""
    sentence: Sentence = [
        number(f"{found.n} passes"), f" with p = {p:g}: the FFN's output at ",
        quoted(run.labels[run.token]), " scatters around the pass without dropout.",
    ]  # fmt: skip
    chart(
        Head(sentence, "lab-passes", run.card.colour),
        scattered([str(k) for k in found.components], found.outputs, found.plain,
                  run.card.colour),
        "The output's components that vary most, pass by pass, with their mean.",
        f"{run.stamp} {version}",
        key="lab-passes",
        height=660,
    )  # fmt: skip


def settling(run: Run, found: Dropout, version: str) -> None:
    """How the mean of the passes settles."""
    counts = np.unique(np.geomspace(1, found.n, 40).round().astype(int))
    shares = found.running[counts - 1]
    expected = shares[0] / np.sqrt(counts)
    sentence: Sentence = [
        "One pass is off by ", number(percent(float(shares[0]))), ", the mean of all by ",
        number(percent(float(shares[-1]))), " of the output's length.",
    ]  # fmt: skip
    chart(
        Head(sentence, "lab-settling", run.card.colour),
        lines(
            counts,
            {"mean of so many passes": (100 * shares, f"@{run.card.colour}", "solid"),
             "1/√n": (100 * expected, "@muted", "dot")},
            axis("passes, logarithmic", type="log", dtick=1),
            axis("off by, %", type="log", dtick=1),
        ),
        "How far the mean of the first passes is from the pass without dropout.",
        f"{run.stamp} {version}",
        key="lab-settling",
        height=340,
    )  # fmt: skip


def word(run: Run, found: Dropout, version: str) -> None:
    """The likeliest word's probability over the passes."""
    edges = np.linspace(0, max(0.01, float(found.probabilities.max()) * 1.05), 31)
    counts, _ = np.histogram(found.probabilities, edges)
    label = run.model.tokenizer.label(found.word)
    sentence: Sentence = [
        number(label), " has ", number(f"{found.probability:.1%}"), " without dropout, ",
        number(f"{found.probabilities.mean():.1%}"), " on average with it.",
    ]  # fmt: skip
    middles = 100 * (edges[1:] + edges[:-1]) / 2
    chart(
        Head(sentence, "lab-word-spread", run.card.colour),
        lines(
            middles,
            {"passes": (counts.astype(float), f"@{run.card.colour}", "solid")},
            axis("probability of the likeliest word, %"), axis("passes", rangemode="tozero"),
            shapes=[{"type": "line", "x0": 100 * found.probability, "x1": 100 * found.probability,
                     "y0": 0, "y1": 1, "yref": "paper",
                     "line": {"color": "@text", "width": 2, "dash": "dot"}}],
            margin={"l": 70, "r": 16, "t": 10, "b": 56},
        ),
        "How the likeliest word's probability scatters over the passes; dotted: without dropout.",
        f"{run.stamp} {version}",
        key="lab-word-spread",
        height=270,
    )  # fmt: skip
