"""The Journey: one sentence's way through the FFN of one block, on one screen."""

import numpy as np
import streamlit as st

from ffnviz.analysis.memory import written_words
from ffnviz.analysis.neurons import neuron_values, strongest_neuron
from ffnviz.analysis.ordering import ORDERS, neuron_order
from ffnviz.analysis.path import FfnPath, Vector, ffn_path
from ffnviz.analysis.prediction import Prediction, predict, predict_without_ffn
from ffnviz.analysis.sparsity import Awake, awake, threshold_for
from ffnviz.components.activation_map import ActivationMap, activation_maps
from ffnviz.components.ffn_picture import Stage, ffn_picture
from ffnviz.components.head import Head
from ffnviz.components.neuron_card import neuron_card
from ffnviz.components.prediction import Panel, prediction_bars
from ffnviz.figures import sentences
from ffnviz.figures.sentences import awake_means
from ffnviz.figures.style import palettes
from ffnviz.figures.wording import percent
from ffnviz.model.activations import ACTIVATIONS
from ffnviz.page import Choices
from ffnviz.run import Run


def render(run: Run, choices: Choices) -> None:
    """Show the page."""
    picture, words = st.columns([3, 1.35], gap="medium")
    with picture:
        ffn_of_the_token(run, choices)
    with words:
        what_it_says(run)
    maps, card = st.columns([3, 1.05], gap="medium")
    with maps:
        every_token_every_neuron(run, choices)
    with card:
        chosen_neuron(run, choices)
    timing_line(run)


def ffn_of_the_token(run: Run, choices: Choices) -> None:
    """The chosen token's way through the FFN."""
    counted = _awake(run, run.request.twin)
    count = int(counted.counts[run.token])
    sentence = sentences.of_ffn(
        run.labels[run.token], count, counted.d_ff, counted.threshold, _label(run.request.twin)
    )
    fate = "exactly zero" if counted.threshold == 0 else "near zero"
    path = ffn_path(run.trace, run.request.block, run.token)
    times = len(path.hidden) / len(path.input)
    by_value = np.argsort(-path.pre_activation, kind="stable")
    order = np.arange(counted.d_ff) if run.request.order == "index" else by_value
    twin, neuron = _neuron(run)
    ffn_picture(
        Head(sentence, "ffn", run.request.twin),
        _stages(path, f"{counted.d_ff - count:,} {fate}"),
        [
            ("W₁", f"expand × {times:g}"),
            ("φ", _label(run.request.twin)),
            ("W₂", f"compress ÷ {times:g}"),
            ("+", "add to"),
            ("=", "gives"),
        ],
        order,
        neuron if twin == run.request.twin else None,
        palettes(),
        run.stamp,
        key="ffn",
        on_choose=lambda chosen: choices.neuron(run.request.twin, chosen),
    )


def _stages(path: FfnPath, asleep: str) -> list[Stage]:
    d_model, d_ff = f"({len(path.input):,})", f"({len(path.hidden):,})"
    above = f"{int((path.pre_activation > 0).sum()):,} above 0"

    def stream(name: str, title: str, values: Vector, scale: str) -> Stage:
        norm = f"norm {float(np.linalg.norm(values)):.1f}"
        return Stage(name, title, d_model, norm, values, neurons=False, scale=scale)

    return [
        stream("x", "input x", path.input, "input"),
        Stage("pre", "before φ", d_ff, above, path.pre_activation, True, "neurons"),
        Stage("hidden", "after φ", d_ff, asleep, path.hidden, True, "neurons"),
        stream("out", "output", path.output, "stream"),
        stream("stream", "stream", path.stream, "stream"),
        stream("total", "new stream", path.new_stream, "stream"),
    ]


def what_it_says(run: Run) -> None:
    """The softmax at the chosen token, with this block's FFN and without."""
    block = run.request.block
    told = predict(run.model, run.trace, run.token)
    without = predict_without_ffn(run.model, run.trace, block, run.token)
    sentence = sentences.of_prediction(run.labels[run.token], _best(told), _best(without))
    prediction_bars(
        Head(sentence, "prediction", run.request.twin),
        [
            Panel("with the FFN", told.words, told.probabilities, run.request.twin),
            Panel(f"without FFN {block + 1}", without.words, without.probabilities, "muted"),
        ],
        palettes(),
        run.stamp,
        key="prediction",
    )


def every_token_every_neuron(run: Run, choices: Choices) -> None:
    """Both twins' hidden activations, ReLU over GELU."""
    counted = {twin: _awake(run, twin) for twin in run.traces}
    sentence = sentences.of_maps(
        counted["relu"].share, counted["gelu"].share, counted["gelu"].threshold
    )
    shown = []
    for twin, trace in run.traces.items():
        hidden = trace.blocks[run.request.block].ffn.hidden.cpu().numpy()
        note = f"{percent(counted[twin].share)} {awake_means(counted[twin].threshold)}"
        order = neuron_order(hidden, run.request.order)
        shown.append(ActivationMap(twin, _label(twin), note, hidden, order))
    activation_maps(
        Head(sentence, "maps", run.request.twin),
        shown,
        run.labels,
        run.token,
        _neuron(run),
        ORDERS,
        run.request.order,
        palettes(),
        run.stamp,
        key="maps",
        on_choose=choices.neuron,
        on_order=choices.order,
        on_open=lambda twin, neuron, token: choices.meet(twin, neuron, token, "working"),
    )


def chosen_neuron(run: Run, choices: Choices) -> None:
    """One neuron on every token, and the words it writes."""
    twin, neuron = _neuron(run)
    block = run.request.block
    values = neuron_values(run.traces[twin], block, neuron)
    neuron_card(
        Head(sentences.of_neuron(run.labels, values), "neuron", twin),
        f"Neuron {neuron} · {_label(twin)} · block {block + 1}",
        run.labels,
        values,
        run.token,
        written_words(run.models[twin], block, neuron, k=8)[0].words,
        palettes(),
        run.stamp,
        key="neuron-card",
        on_meet=lambda token: choices.meet(
            twin, neuron, token, "wakes" if token is None else "working"
        ),
    )


def timing_line(run: Run) -> None:
    """How long the trace took, and how much of that its FFNs."""
    timing = run.timings[run.request.twin]
    where = {"cpu": "the CPU", "cuda": "the GPU (CUDA)", "mps": "the GPU (Apple MPS)"}
    st.markdown(
        f"**{timing.total_ms:.1f} ms** for these {len(run.trace.tokens)} tokens on "
        f"{where[run.model.device.type]} in the {_label(run.request.twin)} twin, "
        f"**{timing.ffn_share:.0%}** of it in the FFNs."
    )


def _awake(run: Run, twin: str) -> Awake:
    return awake(run.traces[twin], run.request.block, threshold_for(twin))


def _neuron(run: Run) -> tuple[str, int]:
    if run.request.neuron is not None:
        return run.request.neuron
    return run.request.twin, strongest_neuron(run.trace, run.request.block, run.token)


def _label(twin: str) -> str:
    return ACTIVATIONS[twin].label


def _best(prediction: Prediction) -> tuple[str, float]:
    return prediction.words[0], float(prediction.probabilities[0])
