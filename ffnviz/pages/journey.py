"""The Journey: one sentence's way through the FFN of one block, on one screen."""

import numpy as np
import streamlit as st

from ffnviz.actions import ChooseNeuron, ChooseOrder
from ffnviz.analysis.journey.ordering import ORDERS, neuron_order
from ffnviz.analysis.journey.path import FfnPath, Vector, ffn_path
from ffnviz.analysis.needs import Need, missing
from ffnviz.analysis.neurons.memory import WRITES_NEEDS, written_words
from ffnviz.analysis.neurons.strongest import neuron_values, strongest_neuron
from ffnviz.analysis.prediction import Prediction, predict, predict_without_ffn
from ffnviz.analysis.sparsity.awake import Awake, awake, threshold_for
from ffnviz.components.activation_map import ActivationMap, activation_maps
from ffnviz.components.ffn_picture import Stage, ffn_picture
from ffnviz.components.head import Head
from ffnviz.components.neuron_card import neuron_card
from ffnviz.components.prediction import Panel, prediction_bars
from ffnviz.figures.journey import sentences
from ffnviz.figures.journey.sentences import awake_means
from ffnviz.figures.wording import percent
from ffnviz.page import Navigator
from ffnviz.run import Run, Watched
from ffnviz.state import Neuron


def render(run: Run, navigator: Navigator) -> None:
    """Show the page."""
    picture, words = st.columns([2.8, 1.4], gap="medium")
    with picture:
        ffn_of_the_token(run, navigator)
    with words:
        what_it_says(run)
    maps, card = st.columns([2.8, 1.4], gap="medium")
    with maps:
        every_token_every_neuron(run, navigator)
    with card:
        chosen_neuron(run, navigator)
    timing_line(run)


def ffn_of_the_token(run: Run, navigator: Navigator) -> None:
    """The chosen token's way through the FFN."""
    counted = _awake(run.subject, run.state.block)
    count = int(counted.counts[run.token])
    sentence = sentences.of_ffn(
        run.labels[run.token], count, counted.d_ff, counted.threshold, run.card.phi.label
    )
    fate = "exactly zero" if counted.threshold == 0 else "near zero"
    path = ffn_path(run.trace, run.state.block, run.token)
    times = len(path.hidden) / len(path.input)
    by_value = np.argsort(-path.pre_activation, kind="stable")
    order = np.arange(counted.d_ff) if run.state.order == "index" else by_value
    neuron = _neuron(run)
    ffn_picture(
        Head(sentence, "ffn", run.card.colour),
        _stages(path, f"{counted.d_ff - count:,} {fate}"),
        [
            ("W₁", f"expand × {times:g}"),
            ("φ", run.card.phi.label),
            ("W₂", f"compress ÷ {times:g}"),
            ("+", "add to"),
            ("=", "gives"),
        ],
        order,
        neuron.index if neuron.network == run.card.id else None,
        run.stamp,
        key="ffn",
        on_choose=lambda chosen: navigator.do(ChooseNeuron(run.neuron(chosen))),
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
    lacking = missing(run.card, (Need.WORD_HEAD,))
    if lacking:
        st.info(f"No prediction for this network. {lacking[0].value}")
        return
    block = run.state.block
    told = predict(run.model, run.trace, run.token)
    without = predict_without_ffn(run.model, run.trace, block, run.token)
    hidden = run.trace.tokens[run.token].id == run.model.tokenizer.mask_id
    sentence = sentences.of_prediction(
        run.labels[run.token], _best(told), _best(without), block, run.card.has_mask and hidden
    )
    prediction_bars(
        Head(sentence, "prediction", run.card.colour),
        [
            Panel("with the FFN", told.words, told.probabilities, run.card.colour),
            Panel(f"without FFN {block + 1}", without.words, without.probabilities, "muted"),
        ],
        run.stamp,
        key="prediction",
    )


def every_token_every_neuron(run: Run, navigator: Navigator) -> None:
    """Each network's hidden activations, ReLU over GELU."""
    counted = [(of.card, _awake(of, run.state.block)) for of in run.both]
    sentence = sentences.of_maps(
        [(card.label, of.share, of.threshold, card.colour) for card, of in counted]
    )
    shown = []
    for of, (_, awake_) in zip(run.both, counted, strict=True):
        hidden = of.trace.blocks[run.state.block].ffn.hidden.float().cpu().numpy()
        note = f"{percent(awake_.share)} {awake_means(awake_.threshold)}"
        order = neuron_order(hidden, run.state.order)
        shown.append(ActivationMap(of.card.id, of.card.label, of.card.colour, note, hidden, order))
    neuron = _neuron(run)
    activation_maps(
        Head(sentence, "maps", run.card.colour),
        shown,
        run.labels,
        run.token,
        (neuron.network, neuron.index),
        ORDERS,
        run.state.order,
        run.stamp,
        key="maps",
        on_choose=lambda network, index: navigator.do(
            ChooseNeuron(Neuron(network, run.state.block, index))
        ),
        on_order=lambda order: navigator.do(ChooseOrder(order)),
        on_open=lambda network, index, token: navigator.meet(
            Neuron(network, run.state.block, index), "working", token
        ),
    )


def chosen_neuron(run: Run, navigator: Navigator) -> None:
    """One neuron on every token, and the words it writes."""
    neuron = _neuron(run)
    of, block = run.watched(neuron.network), run.state.block
    values = neuron_values(of.trace, block, neuron.index)
    writes: tuple[str, ...] = ()
    if not missing(of.card, WRITES_NEEDS):
        writes = of.once(
            f"written {block} {neuron.index}",
            lambda: written_words(of.network, block, neuron.index, k=8)[0].words,
        )
    neuron_card(
        Head(
            sentences.of_neuron(run.labels, values, threshold_for(of.card.phi.name), block),
            "neuron",
            of.card.colour,
        ),
        f"Neuron {neuron.index} · {of.card.label} · block {block + 1}",
        run.labels,
        values,
        run.token,
        writes,
        run.stamp,
        key="neuron-card",
        on_meet=lambda token: navigator.meet(
            neuron, "wakes" if token is None else "working", token
        ),
    )


def timing_line(run: Run) -> None:
    """How long the trace took, and how much of that its FFNs."""
    timing = run.subject.timing
    where = {"cpu": "the CPU", "cuda": "the GPU (CUDA)", "mps": "the GPU (Apple MPS)"}
    with st.container(key="timing-line"):
        st.markdown(
            f"**{timing.total_ms:.1f} ms** at best for {len(run.trace.tokens)} tokens on "
            f"{where[run.model.device.type]} in the {run.card.label} network, "
            f"**{timing.ffn_share:.0%}** of it in the FFNs."
        )


def _awake(of: Watched, block: int) -> Awake:
    return awake(of.trace, block, threshold_for(of.card.phi.name))


def _neuron(run: Run) -> Neuron:
    """The chosen one, in whichever of the networks; else the strongest on the token."""
    chosen = run.state.neuron
    if chosen is not None and chosen.network in {of.card.id for of in run.both}:
        return chosen
    return run.neuron(strongest_neuron(run.trace, run.state.block, run.token))


def _best(prediction: Prediction) -> tuple[str, float]:
    return prediction.words[0], float(prediction.probabilities[0])
