"""The Journey: one sentence's way through the FFN of one block, on one screen."""

from collections.abc import Callable

import numpy as np
import streamlit as st
from torch import Tensor

from ffnviz.analysis.neurons import neuron_values, promoted_words, strongest_neuron
from ffnviz.analysis.ordering import ORDERS, neuron_order
from ffnviz.analysis.prediction import Prediction, predict, predict_without_ffn
from ffnviz.analysis.sparsity import Awake, awake, threshold_for
from ffnviz.analysis.timing import time_ffns
from ffnviz.components.activation_map import ActivationMap, activation_maps
from ffnviz.components.chips import chips
from ffnviz.components.explanation import explanation
from ffnviz.components.ffn_picture import Stage, ffn_picture
from ffnviz.components.headline import Part, headline
from ffnviz.components.neuron_card import neuron_card
from ffnviz.components.prediction import Panel, prediction_bars
from ffnviz.figures.style import palettes
from ffnviz.model.activations import ACTIVATIONS
from ffnviz.run import Choices, Run


def render(run: Run, choices: Choices) -> None:
    """Show the page."""
    stamp = repr(run.request)
    left_out_notice(run)
    token_chips(run, choices, stamp)
    picture, words = st.columns([3, 1.35], gap="medium")
    with picture:
        ffn_of_the_token(run, choices, stamp)
    with words:
        what_it_says(run, stamp)
    maps, card = st.columns([3, 1.05], gap="medium")
    with maps:
        every_token_every_neuron(run, choices, stamp)
    with card:
        chosen_neuron(run, stamp)
    timing_line(run)


def left_out_notice(run: Run) -> None:
    """What the network cannot read of a long text."""
    trace = run.trace
    if trace.n_left_out:
        st.warning(
            f"The network reads at most {len(trace.tokens)} tokens. The last {trace.n_left_out:,} "
            "of your text are left out below; shorten it to see them."
        )


def token_chips(run: Run, choices: Choices, stamp: str) -> None:
    """The tokens, each with the share of neurons it wakes."""
    counted = _awake(run, run.request.twin)
    chips(
        run.texts,
        [float(share) for share in counted.shares],
        run.token,
        f"of {counted.d_ff:,} neurons {_awake_means(counted)}",
        palettes(),
        run.request.twin,
        stamp,
        key="chips",
        on_choose=choices.token,
    )


def ffn_of_the_token(run: Run, choices: Choices, stamp: str) -> None:
    """The chosen token's way through the FFN."""
    counted = _awake(run, run.request.twin)
    count = int(counted.counts[run.token])
    _headline_and_note(
        "ffn",
        [
            _quoted(run),
            " wakes ",
            (f"{count:,} of {counted.d_ff:,} neurons ({percent(count / counted.d_ff)})", "number"),
            f" of block {run.request.block + 1}: expand, bend with {_label(run.request.twin)}, "
            "compress, add.",
        ],
        run,
    )
    ffn = run.trace.blocks[run.request.block].ffn
    before = _array(ffn.pre_activation[run.token])
    by_value = np.argsort(-before, kind="stable")
    order = np.arange(len(before)) if run.request.order == "index" else by_value
    twin, neuron = _neuron(run)
    ffn_picture(
        _stages(run, counted),
        [
            ("W₁", "expand × 4"),
            ("φ", _label(run.request.twin)),
            ("W₂", "compress ÷ 4"),
            ("+", "add to"),
            ("=", "gives"),
        ],
        order,
        neuron if twin == run.request.twin else None,
        run.request.twin,
        palettes(),
        stamp,
        key="ffn",
        on_choose=lambda chosen: choices.neuron(run.request.twin, chosen),
    )


def _stages(run: Run, counted: Awake) -> list[Stage]:
    block = run.trace.blocks[run.request.block]
    x, before, after, out, stream, total = (
        _array(values[run.token])
        for values in (
            block.ffn.input,
            block.ffn.pre_activation,
            block.ffn.hidden,
            block.ffn.output,
            block.middle,
            block.output,
        )
    )
    d_model, d_ff = f"({len(x):,})", f"({len(before):,})"
    asleep = len(after) - int(counted.counts[run.token])
    fate = f"{asleep:,} " + ("exactly zero" if counted.threshold == 0 else "near zero")
    return [
        Stage("x", "input x", d_model, f"norm {_norm(x)}", x, False, "input"),
        Stage("pre", "before φ", d_ff, f"{int((before > 0).sum()):,} above 0", before, True, "h"),
        Stage("hidden", "after φ", d_ff, fate, after, True, "h"),
        Stage("out", "output", d_model, f"norm {_norm(out)}", out, False, "stream"),
        Stage("stream", "stream", d_model, f"norm {_norm(stream)}", stream, False, "stream"),
        Stage("total", "new stream", d_model, f"norm {_norm(total)}", total, False, "stream"),
    ]


def what_it_says(run: Run, stamp: str) -> None:
    """The softmax at the chosen token, with this block's FFN and without."""
    block = run.request.block
    told = predict(run.model, run.trace, run.token)
    without = predict_without_ffn(run.model, run.trace, block, run.token)
    _headline_and_note(
        "prediction",
        [
            "Likeliest at ",
            _quoted(run),
            ": ",
            _best(told),
            "; without this FFN ",
            _best(without),
            ".",
        ],
        run,
    )
    prediction_bars(
        [
            Panel("with the FFN", told.words, told.probabilities, run.request.twin),
            Panel(f"without FFN {block + 1}", without.words, without.probabilities, "muted"),
        ],
        palettes(),
        stamp,
        key="prediction",
    )


def every_token_every_neuron(run: Run, choices: Choices, stamp: str) -> None:
    """Both twins' hidden activations, ReLU over GELU."""
    counted = {twin: _awake(run, twin) for twin in run.traces}
    relu, gelu = (percent(counted[twin].share) for twin in ("relu", "gelu"))
    _headline_and_note(
        "maps",
        [
            "On this sentence ReLU leaves ",
            (f"{percent(1 - counted['relu'].share)} of its values exactly zero", "number"),
            f" ({relu} awake); GELU is away from zero, beyond 0.1, in ",
            (gelu, "number"),
            ".",
        ],
        run,
        extra=_order_control,
    )
    shown = []
    for twin, trace in run.traces.items():
        hidden = _array(trace.blocks[run.request.block].ffn.hidden)
        note = f"{percent(counted[twin].share)} {_awake_means(counted[twin])}"
        order = neuron_order(hidden, run.request.order)
        shown.append(ActivationMap(twin, _label(twin), note, hidden, order))
    activation_maps(
        shown, run.texts, run.token, _neuron(run), palettes(), stamp, "maps", choices.neuron
    )


def _order_control() -> None:
    st.segmented_control(
        "Order of the neurons",
        ORDERS,
        key="order",
        format_func="by {}".format,
        label_visibility="collapsed",
        required=True,
    )


def chosen_neuron(run: Run, stamp: str) -> None:
    """One neuron on every token, and the words it writes."""
    twin, neuron = _neuron(run)
    block = run.request.block
    values = neuron_values(run.traces[twin], block, neuron)
    strongest = int(np.abs(values).argmax())
    _headline_and_note(
        "neuron",
        [
            "This neuron is strongest on ",
            (_shown(run.texts[strongest]), "typed"),
            ": ",
            (f"{values[strongest]:.2f}".replace("-", "−"), "number"),
            ".",
        ],
        run,
    )
    neuron_card(
        f"Neuron {neuron} · {_label(twin)} · block {block + 1}",
        run.texts,
        values,
        run.token,
        promoted_words(run.models[twin], block, neuron, k=8).words,
        palettes(),
        twin,
        stamp,
        key="neuron-card",
    )


def timing_line(run: Run) -> None:
    """How long the trace took, and how much of that its FFNs."""
    request = run.request
    total = run.milliseconds[request.twin]
    share = min(1.0, _ffn_milliseconds(request.twin, request.text, request.device, run) / total)
    where = {"cpu": "the CPU", "cuda": "the GPU (CUDA)", "mps": "the GPU (Apple MPS)"}
    st.caption(
        f"**{total:.1f} ms** for these {len(run.trace.tokens)} tokens on "
        f"{where[run.model.device.type]} in the {_label(request.twin)} twin, "
        f"**{share:.0%}** of it in the FFNs."
    )


@st.cache_data(max_entries=256)
def _ffn_milliseconds(twin: str, text: str, device: str, _run: Run) -> float:  # noqa: ARG001
    # text and device are the cache's key; the run itself is what they name
    return time_ffns(_run.models[twin], _run.traces[twin])


def _headline_and_note(
    name: str, parts: list[Part], run: Run, extra: Callable[[], None] | None = None
) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key=f"head-{name}"):
        headline(parts, palettes(), run.request.twin, key=f"headline-{name}")
        if extra:
            extra()
        explanation(name)


def _awake(run: Run, twin: str) -> Awake:
    return awake(run.traces[twin], run.request.block, threshold_for(twin))


def _awake_means(counted: Awake) -> str:
    if counted.threshold == 0:
        return "awake (above zero)"
    return f"away from zero by more than {counted.threshold}"


def _neuron(run: Run) -> tuple[str, int]:
    if run.request.neuron is not None:
        return run.request.neuron
    return run.request.twin, strongest_neuron(run.trace, run.request.block, run.token)


def _label(twin: str) -> str:
    return ACTIVATIONS[twin].label


def _shown(text: str) -> str:
    return text.strip() or "␣"


def _quoted(run: Run) -> Part:
    return _shown(run.texts[run.token]), "typed"


def _best(prediction: Prediction) -> Part:
    return f"{prediction.words[0]} ({percent(float(prediction.probabilities[0]))})", "number"


def percent(share: float) -> str:
    """A share as a short percentage that never shows something as nothing."""
    if 0 < share < 0.001:
        return "<0.1%"
    return f"{share:.1%}" if share < 0.0995 else f"{share:.0%}"


def _array(values: Tensor) -> np.ndarray:
    return values.cpu().numpy()


def _norm(values: np.ndarray) -> str:
    return f"{float(np.linalg.norm(values)):.1f}"
