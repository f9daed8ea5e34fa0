"""Memory while it runs: what the FFN's activations take, and what chunks of tokens save."""

import streamlit as st

from ffnviz.analysis.needs import ours
from ffnviz.analysis.number_format import short
from ffnviz.analysis.spread import Progress
from ffnviz.analysis.timing.memory import Memory, memory
from ffnviz.figures.timing import memory as figures
from ffnviz.figures.wording import Sentence, number
from ffnviz.parts.measurement import about, measure_button
from ffnviz.parts.part import Navigator, live
from ffnviz.pictures.chart import chart
from ffnviz.pictures.head import Head
from ffnviz.pictures.slider import nearest, slider
from ffnviz.state.run import Run
from ffnviz.state.settings import count_setting

RUNS = 5
TOKENS = (256, 512, 1_024, 2_048, 4_096)
N_TOKENS = count_setting("memory_tokens", 1_024, TOKENS[0], TOKENS[-1])
CHUNK = count_setting("chunk", 64, 1, TOKENS[-1])
SETTINGS = (N_TOKENS, CHUNK)


@live
def render(run: Run, navigator: Navigator) -> None:
    """The button and the sliders beside memory and time."""
    n_tokens = TOKENS[nearest(TOKENS, navigator.value(N_TOKENS), by_ratio=True)]
    setup = (run.card.id, run.device, run.state.block, n_tokens)
    left, peaks, times = st.columns([0.8, 1.1, 1.1], gap="medium")
    with left:
        slider(
            "tokens in all",
            [f"{stop:,}" for stop in TOKENS],
            TOKENS.index(n_tokens),
            key="memory-tokens",
            on_choose=lambda stop, done: navigator.choose(N_TOKENS, TOKENS[stop], done),
        )
        measured = measure_button("memory", setup, run, measure, n_tokens)
        if measured is not None:
            about(measured, setup, run)
    if measured is None:
        return
    found: Memory = measured.result
    place = nearest(found.chunks, navigator.value(CHUNK), by_ratio=True)
    with left:
        stops = found.chunks[::-1]
        slider(
            "tokens at a time",
            [f"{stop:,}" for stop in stops],
            stops.index(found.chunks[place]),
            key="memory-chunk",
            on_choose=lambda stop, done: navigator.choose(CHUNK, stops[stop], done),
        )
        st.markdown(_in_training(run, found))
    version = f"{run.stamp} {measured.when} {measured.setup} {place}"
    with peaks:
        the_peaks(run, found, place, version)
    with times:
        the_times(run, found, place, version)


def measure(run: Run, progress: Progress, n_tokens: int) -> Memory:
    """The block's FFN on random inputs: it does not depend on the sentence."""
    return memory(ours(run.model), run.state.block, n_tokens, RUNS, progress)


def the_peaks(run: Run, found: Memory, place: int, version: str) -> None:
    """Bytes against tokens at a time."""
    chunk = found.chunks[place]
    sentence: Sentence = [
        f"All {found.n_tokens:,} tokens at once take ", number(_bytes(found.peaks[0])),
        " of activations; ", f"{chunk:,} at a time, ", number(_bytes(found.peaks[place])),
        f", of which {_bytes(4 * found.n_tokens * run.model.sizes.d_model)} are the output.",
    ]  # fmt: skip
    if place == 0:
        times = f"{found.peaks[0] / found.weights:.1f} times"
        sentence = [f"All {found.n_tokens:,} tokens at once take ",
                    number(_bytes(found.peaks[0])), " of activations, ",
                    number(times), " the weights."]  # fmt: skip
    chart(
        Head(sentence, "memory", run.card.colour),
        figures.peaks(found.chunks, found.peaks, found.expected, chunk, run.card.colour),
        "The bytes that the FFN's tensors take at most, against the tokens at a time.",
        version,
        key="memory-peaks",
        height=560,
    )


def the_times(run: Run, found: Memory, place: int, version: str) -> None:
    """Milliseconds against tokens at a time."""
    times = [spread.median for spread in found.times]
    chunk = found.chunks[place]
    sentence: Sentence = [
        f"With {chunk:,} at a time it takes ", number(f"{times[place] / times[0]:.2f} times"),
        " as long; with ", f"{found.chunks[-1]:,}, ", number(f"{times[-1] / times[0]:.1f} times"),
        f". The outputs differ by at most {short(found.difference, 1)}.",
    ]  # fmt: skip
    chart(
        Head(sentence, "memory-times", run.card.colour),
        figures.times(found.chunks, [(s.median, s.lower, s.upper) for s in found.times], chunk,
                      run.card.colour),
        "The time for all tokens against the tokens that go through at once.",
        version,
        key="memory-times",
        height=560,
    )  # fmt: skip


def _in_training(run: Run, found: Memory) -> str:
    per_token = found.kept / found.n_tokens / 4 / run.model.sizes.d_ff
    return (
        f"In training a step keeps **{_bytes(found.kept)}** of this FFN for its gradients: "
        f"{per_token:.0f} × d_ff numbers a token with {run.card.phi.label}. Chunks save nothing of "
        f"that, unless they are computed again. The weights take {_bytes(found.weights)}. "
        f"{RUNS} runs of each, on random values: it does not depend on the sentence."
    )


def _bytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
