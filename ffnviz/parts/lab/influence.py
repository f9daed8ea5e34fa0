"""Input influence: which inputs each output depends on, in every kind of layer."""

import numpy as np

from ffnviz.analysis.lab.influence import (
    DEEPEST,
    DEPTH,
    GAIN,
    LENGTH,
    LONGEST_MAP,
    LOUD,
    LOUDEST,
    LSTM,
    RNN,
    Influence,
    input_influence,
)
from ffnviz.analysis.measuring import Progress
from ffnviz.analysis.number_format import short
from ffnviz.parts.experiments import experiment_subject, verdicts_of
from ffnviz.parts.lab.positions import Map, maps
from ffnviz.parts.sheet import Measured, Measurement, Row, Sheet, Soon, row
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.plot import axis, lines
from ffnviz.pictures.wording import Sentence, number
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, count_setting, number_setting

LENGTHS = (2, 4, 6, 8, 10, 12, 16, 20, LONGEST_MAP)
N = count_setting("n", LENGTH, LENGTHS[0], LONGEST_MAP, also=("length",)).with_control(
    "tokens, at most", LENGTHS
)
LAYERS = count_setting("depth", DEPTH, 1, DEEPEST).with_control("layers", range(1, DEEPEST + 1))
GAINS = (1.0, 2.0, 4.0, 6.0, 8.0, 12.0, LOUDEST)
LOUDER = number_setting("recurrent", GAIN, GAINS[0], LOUDEST).with_control(
    "recurrent weight scale", GAINS, lambda stop: f"×{stop:g}", "of the third recurrent network",
)  # fmt: skip
SETTINGS = (N, LAYERS, LOUDER)
ACROSS = 5
LABEL = "Differentiate"
DASHES = ("solid", "dash", "dot")


def sheet(run: Run, values: Values) -> Sheet:
    """The maps over the decay with distance and the verdicts."""
    args = values[N], values[LAYERS], values[LOUDER]
    setup = (run.card.id, run.device, run.state.block, run.state.sentence, *args)

    def after(measured: Measured[Influence]) -> list[Row]:
        result = measured.result
        verdicts = verdicts_of(run, "lab-hears", result.findings)
        return [
            row(all_maps(run, result)),
            row(decay(run, result), verdicts, widths=(1.7, 1)),
        ]

    before = [
        row(Soon("lab-influence", "Which inputs each output depends on, in ten layers", 342)),
        row(Soon("lab-decay", "How a gradient fades over a distance", 260),
            Soon("lab-hears", "What textbooks say of it", 200), widths=(1.7, 1)),
    ]  # fmt: skip
    return Sheet([Measurement("hears", setup, differentiate, after, args, before, LABEL,
                              "Differentiating ten kinds of layers …")])  # fmt: skip


def differentiate(run: Run, progress: Progress, n: int, depth: int, gain: float) -> Influence:
    """Differentiate all kinds of layers."""
    return input_influence(experiment_subject(run), n, depth, progress, gain)


def all_maps(run: Run, result: Influence) -> Cell:
    """One map per layer; the network's own are in its accent."""
    n = len(result.memory)
    labels = run.labels[:n] if n <= 12 else []
    shown = [
        Map(f"{layer.name}<br>sees {layer.receptive_field}, {layer.steps} in a row", layer.share,
            f"@{run.card.colour}" if layer.trained else "@muted", labels, [])
        for layer in result.maps
    ]  # fmt: skip
    shown.insert(5, Map(f"decoder: sentence<br>sees {n}", result.memory, "@muted", labels, []))
    rnn = next(layer for layer in result.maps if layer.name == RNN)
    return chart_cell(
        Head(_steps(n, result.depth, rnn.steps), "lab-influence", run.card.colour),
        maps(shown, ACROSS, "of all its inputs", ("output", "input")),
        "Ten maps of how much each output depends on each input.",
        key="lab-hears",
        height=342,
    )


def _steps(n: int, depth: int, steps: int) -> Sentence:
    """How many sequential steps an RNN takes, and attention."""
    layers = "1 layer" if depth == 1 else f"{depth} layers"
    later = "" if depth == 1 else f", and {depth - 1} more until the last layer is done"
    return [
        f"Over {n} tokens in {layers} an RNN takes ", number(f"{steps} sequential steps"),
        f": {n} for the tokens{later}. Attention takes {depth}: one for each layer.",
    ]  # fmt: skip


def decay(run: Run, result: Influence) -> Cell:
    """The gradients against the distance; not as shares, so that exploding ones are seen."""
    own, loud = f"@{run.card.colour}", f"RNN, weights × {result.gain:g}"
    curves = [
        (layer.name, layer.by_distance, own if layer.trained else "@muted")
        for layer in result.maps
        if layer.name not in ("FFN", RNN, LSTM)
    ]
    curves += [
        (loud if layer.name == LOUD else layer.name, layer.slopes.mean(axis=0), "@text")
        for layer in result.fading
    ]
    series = {
        name: (np.where(slopes > 0, slopes, np.nan), colour, DASHES[place % len(DASHES)])
        for place, (name, slopes, colour) in enumerate(curves)
    }
    return chart_cell(
        Head(_factors(result), "lab-decay", run.card.colour),
        lines(
            np.arange(len(result.memory)), series, axis("distance between output and input"),
            axis("gradient", type="log", dtick=2, exponentformat="power"),
            legend={"orientation": "v", "x": 1.01, "y": 1, "font": {"size": 14}},
            font={"size": 16},
            margin={"l": 76, "r": 16, "t": 10, "b": 56},
        ),
        "How steeply outputs depend on inputs over a distance, for each kind of layer.",
        height=260,
    )  # fmt: skip


def _factors(result: Influence) -> Sentence:
    """The factor by which each step of distance multiplies a recurrent network's gradient."""
    if len(result.memory) < 3:
        return ["It takes three tokens to see how a gradient goes on over a distance."]
    means = (float(np.exp(np.log(layer.factors).mean())) for layer in result.fading)
    rnn, lstm, loud = map(short, means)
    return [
        "Each step back multiplies an RNN's gradient by ", number(rnn),
        f", an LSTM's by {lstm}, and an RNN's with recurrent weights × {result.gain:g} by {loud}.",
    ]  # fmt: skip
