"""Who hears whom: influence maps of every kind of layer."""

import numpy as np
import streamlit as st

from ffnviz.analysis.lab.influence import (
    DEEPEST,
    DEPTH,
    LENGTH,
    LONGEST_MAP,
    Influence,
    input_influence,
)
from ffnviz.analysis.lab.recurrent import GAIN, LOUD, LOUDEST, LSTM, RNN
from ffnviz.analysis.number_format import short
from ffnviz.analysis.spread import Progress
from ffnviz.figures.lab.curves import lines
from ffnviz.figures.lab.maps import Map, maps
from ffnviz.figures.layout import axis
from ffnviz.figures.wording import Sentence, number
from ffnviz.parts.lab.subject import experiment_subject, show_verdicts, tally
from ffnviz.parts.measurement import measure_button
from ffnviz.parts.part import Navigator, live
from ffnviz.pictures.chart import chart
from ffnviz.pictures.head import Head
from ffnviz.pictures.slider import nearest, slider
from ffnviz.state.run import Run
from ffnviz.state.settings import count_setting, number_setting

LENGTHS = (2, 4, 6, 8, 10, 12, 16, 20, LONGEST_MAP)
N = count_setting("n", LENGTH, LENGTHS[0], LONGEST_MAP, also=("length",))
LAYERS = count_setting("depth", DEPTH, 1, DEEPEST)
GAINS = (1.0, 2.0, 4.0, 6.0, 8.0, 12.0, LOUDEST)
LOUDER = number_setting("recurrent", GAIN, GAINS[0], LOUDEST)
SETTINGS = (N, LAYERS, LOUDER)
ACROSS = 5
DASHES = ("solid", "dash", "dot")


@live
def render(run: Run, navigator: Navigator) -> None:
    """The verdicts, the maps, and the decay with distance."""
    n, depth, gain = navigator.value(N), navigator.value(LAYERS), navigator.value(LOUDER)
    setup = (run.card.id, run.device, run.state.block, run.state.sentence, n, depth, gain)
    left, right = st.columns([1, 2.1], gap="medium")
    with left:
        one, other = st.columns(2)
        with one:
            slider(
                "tokens, at most",
                [str(each) for each in LENGTHS],
                nearest(LENGTHS, n),
                key="lab-length",
                on_choose=lambda stop, done: navigator.choose(N, LENGTHS[stop], done),
            )
        with other:
            slider(
                "layers",
                [str(k + 1) for k in range(DEEPEST)],
                depth - 1,
                key="lab-depth",
                on_choose=lambda stop, done: navigator.choose(LAYERS, stop + 1, done),
            )
        slider(
            "an RNN's recurrent weights, times",
            [f"{each:g}" for each in GAINS],
            nearest(GAINS, gain),
            key="lab-gain",
            on_choose=lambda stop, done: navigator.choose(LOUDER, GAINS[stop], done),
        )
        measured = measure_button(
            "hears", setup, run, differentiate, n, depth, gain, label="Differentiate",
            doing="Differentiating ten kinds of layers …",
        )  # fmt: skip
    if measured is None:
        return
    found: Influence = measured.result
    with left:
        if measured.setup != setup:
            st.warning("This is for another sentence or setting. Press “Differentiate” again.")
        show_verdicts(
            run,
            Head(tally(found.findings), "lab-hears", run.card.colour),
            found.findings,
            measured.when,
        )
    with right:
        all_maps(run, found, measured.when)
        decay(run, found, measured.when)


def differentiate(run: Run, progress: Progress, n: int, depth: int, gain: float) -> Influence:
    """The derivatives of all kinds of layers."""
    return input_influence(experiment_subject(run), n, depth, progress, gain)


def all_maps(run: Run, found: Influence, version: str) -> None:
    """A map a layer; the network's own have its accent."""
    n = len(found.memory)
    labels = run.labels[:n] if n <= 12 else []
    shown = [
        Map(f"{each.name}<br>hears {each.receptive_field}, {each.steps} in a row", each.share,
            f"@{run.card.colour}" if each.trained else "@muted", labels, [])
        for each in found.heard
    ]  # fmt: skip
    shown.insert(5, Map(f"decoder: sentence<br>hears {n}", found.memory, "@muted",
                        labels, []))  # fmt: skip
    rnn = next(each for each in found.heard if each.name == "RNN")
    sentence: Sentence = [
        "A row is an output, a column an input; blank is exactly 0, and the darkest square the "
        "largest of its map. ",
        *_steps(n, found.depth, rnn.steps),
    ]  # fmt: skip
    chart(
        Head(sentence, "lab-influence", run.card.colour),
        maps(shown, ACROSS, "of all it hears", ("output", "input")),
        "Ten maps of how much each output depends on each input.",
        f"{run.stamp} {version}",
        key="lab-hears",
        height=405,
    )


def _steps(n: int, depth: int, steps: int) -> Sentence:
    """What must wait for what, in an RNN and in attention."""
    layers = "1 layer" if depth == 1 else f"{depth} layers"
    later = "" if depth == 1 else f", and {depth - 1} more until the last layer is done"
    return [
        f"Over {n} tokens in {layers} an RNN takes ", number(f"{steps} steps in a row"),
        f": {n} for the tokens{later}. Attention takes ",
        number(str(depth)), ": one for each layer.",
    ]  # fmt: skip


def decay(run: Run, found: Influence, version: str) -> None:
    """The gradients themselves against the distance, so that what explodes is seen."""
    names = {LOUD: f"RNN, weights × {found.gain:g}"}
    own = f"@{run.card.colour}"
    curves = [
        (each.name, each.by_distance, own if each.trained else "@muted")
        for each in found.heard
        if each.name not in ("FFN", RNN, LSTM)
    ]
    curves += [
        (names.get(each.name, each.name), each.slopes.mean(axis=0), "@text")
        for each in found.fading
    ]
    series = {
        name: (np.where(slopes > 0, slopes, np.nan), colour, DASHES[place % len(DASHES)])
        for place, (name, slopes, colour) in enumerate(curves)
    }
    chart(
        Head(_factors(found), "lab-decay", run.card.colour),
        lines(
            np.arange(len(found.memory)), series, axis("distance between output and input"),
            axis("gradient", type="log", dtick=2, exponentformat="power"),
            font={"size": 16},
            margin={"l": 76, "r": 16, "t": 56, "b": 56},
        ),
        "How steeply outputs depend on inputs over a distance, for each kind of layer.",
        f"{run.stamp} {version}",
        key="lab-decay",
        height=260,
    )  # fmt: skip


def _factors(found: Influence) -> Sentence:
    """By what each step of distance multiplies a recurrent network's gradient."""
    if len(found.memory) < 3:
        return ["It takes three tokens to see how a gradient goes on over a distance."]
    rnn, lstm, loud = (
        number(short(float(np.exp(np.log(each.factors).mean())))) for each in found.fading
    )
    return [
        "Each step back multiplies an RNN's gradient by ", rnn, ", an LSTM's by ", lstm,
        f", and an RNN's with recurrent weights × {found.gain:g} by ", loud, ".",
    ]  # fmt: skip
