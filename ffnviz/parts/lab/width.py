"""How wide? Neurons removed in order of importance."""

import numpy as np
import streamlit as st

from ffnviz.analysis.lab.width import SHARES, Cut, Width, try_width
from ffnviz.analysis.number_format import short
from ffnviz.analysis.spread import Progress
from ffnviz.figures.lab.curves import lines
from ffnviz.figures.layout import axis
from ffnviz.figures.wording import Sentence, number, percent, quoted
from ffnviz.figures.words import Words, word_bars
from ffnviz.parts.guess import under_guess
from ffnviz.parts.lab.subject import cached_result, experiment_subject, show_verdicts, tally
from ffnviz.parts.measurement import measure_button
from ffnviz.parts.part import Navigator, live
from ffnviz.pictures.chart import chart
from ffnviz.pictures.head import Head
from ffnviz.pictures.slider import nearest, slider
from ffnviz.state.run import Run
from ffnviz.state.settings import number_setting

LEFT = number_setting("left", 10, 100 * SHARES[-1], 100)
SETTINGS = (LEFT,)


@live
def render(run: Run, navigator: Navigator) -> None:
    """The verdicts, the curve and its slider, and the words."""
    found = cached_result(run, "width", try_width) if run.card.ours else measured_beside(run)
    if found is None:
        return
    stops = SHARES[::-1]
    stop = nearest(stops, navigator.value(LEFT) / 100, by_ratio=True)
    place = len(stops) - 1 - stop
    left, middle, right = st.columns([0.8, 1, 1.2], gap="medium")
    with left:
        show_verdicts(
            run, Head(tally(found.findings), "lab-width", run.card.colour), found.findings, ""
        )
        saved(found, place)
    with middle:
        curve(run, found, place)
        slider(
            "neurons left in every block",
            [f"{100 * each:g}%" for each in stops],
            stop,
            key="lab-left",
            on_choose=lambda k, done: navigator.choose(LEFT, 100 * stops[k], done),
        )
    with right:
        words(run, found, place)


def measured_beside(run: Run) -> Width | None:
    """Of a network that is not ours, whose passes may take long; None until it is there."""
    state = run.state
    setup = (run.card.id, run.device, state.block, run.token, state.sentence, state.special)
    measured = measure_button(
        "width", setup, run, cut, label="Cut again", doing=f"{2 * len(SHARES)} passes …"
    )
    if measured is not None and measured.setup != setup:
        st.warning("This is for another sentence or setting. Press “Cut again” for this one.")
    return None if measured is None else measured.result


def cut(run: Run, progress: Progress) -> Width:  # noqa: ARG001
    """The network at all widths."""
    return try_width(experiment_subject(run))


def curve(run: Run, found: Width, place: int) -> None:
    """How far the prediction moves, against d_ff."""
    cut, drawn = found.important[place], found.random[place]
    sentence: Sentence = [
        "With ", number(f"{cut.d_ff:,} neurons"), " in each block the prediction moves by ",
        number(_nats(cut)), " if they are the most important, and by ", number(_nats(drawn)),
        " if they are drawn at random.",
    ]  # fmt: skip
    widths = np.array([each.d_ff for each in found.important])
    series = {
        "in order of importance": (_divergences(found.important), f"@{run.card.colour}", "solid"),
        "at random": (_divergences(found.random), "@muted", "dash"),
    }
    marks = [int(n) for n in widths[::2]]
    chart(
        Head(sentence, "lab-width-curve", run.card.colour),
        lines(
            widths, series,
            axis("d_ff left, logarithmic", type="log", tickvals=marks,
                 ticktext=[f"{n:,}" for n in marks]),
            axis("divergence, nats", rangemode="tozero"),
            shapes=[{"type": "line", "x0": cut.d_ff, "x1": cut.d_ff, "y0": 0, "y1": 1,
                     "yref": "paper", "line": {"color": "@text", "width": 2, "dash": "dot"}}],
        ),
        "How far the prediction moves as neurons are removed, by importance and at random.",
        f"{run.stamp} {place}",
        key="lab-width",
        height=560,
    )  # fmt: skip


def words(run: Run, found: Width, place: int) -> None:
    """The likeliest words: uncut, cut by importance, cut at random."""
    whole, cut, drawn = found.important[0], found.important[place], found.random[place]
    sentence: Sentence = [
        "At ", quoted(run.labels[run.token]), " the likeliest word is ",
        number(whole.prediction.words[0]), "; with the most important ",
        number(percent(cut.d_ff / whole.d_ff)), " left it is ",
        number(cut.prediction.words[0]), ".",
    ]  # fmt: skip
    panels = [
        Words(title, each.prediction.words, each.prediction.probabilities, colour)
        for title, each, colour in (
            (f"all {whole.d_ff:,}", whole, f"@{run.card.colour}"),
            (f"the most important {cut.d_ff:,}", cut, "@text"),
            (f"{drawn.d_ff:,} at random", drawn, "@muted"),
        )
    ]
    chart(
        Head(sentence, "lab-width-words", run.card.colour, under=under_guess(run)),
        word_bars(panels),
        "The likeliest words with all neurons, with the most important, and with random ones.",
        f"{run.stamp} {place}",
        key="lab-width-words",
        height=640,
    )


def saved(found: Width, place: int) -> None:
    """What the cut saves."""
    parameters, adds = found.parameters, found.multiply_adds
    st.markdown(
        f"| one FFN | d_ff {found.important[0].d_ff:,} | d_ff {found.important[place].d_ff:,} | "
        "saved |\n|---|---|---|---|\n"
        f"| parameters | {parameters[0]:,} | {parameters[place]:,} | "
        f"{percent(float(1 - parameters[place] / parameters[0]))} |\n"
        f"| multiply-adds per token | {adds[0]:,} | {adds[place]:,} | "
        f"{percent(float(1 - adds[place] / adds[0]))} |\n"
    )


def _divergences(cuts: tuple[Cut, ...]) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.array([cut.divergence for cut in cuts])


def _nats(cut: Cut) -> str:
    return f"{short(cut.divergence)} nats"
