"""Memory: what the FFN's activations take, and what chunks of tokens save."""

from collections.abc import Iterator

import numpy as np

from ffnviz.analysis.measuring import Progress
from ffnviz.analysis.needs import ours
from ffnviz.analysis.number_format import short
from ffnviz.analysis.timing.memory import Memory, chunk_sizes, memory
from ffnviz.parts.sheet import Measured, Sheet, Soon, measured_on, measured_row
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.plot import Figure, axis, figure, line_trace, log_axis, ring
from ffnviz.pictures.time_charts import line_of_times
from ffnviz.pictures.wording import Sentence, number
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, count_setting, count_slider, nearest

MEGA = 1e6
MARKS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500]


def peaks_figure(result: Memory, place: int, colour: str) -> Figure:
    """Bytes at the worst moment, measured and by arithmetic, both axes logarithmic."""
    x, y = np.array(result.chunks), np.array(result.peaks) / MEGA
    hover = "%{x:,} tokens at a time: %{y:.2f} MB<extra></extra>"
    return figure(
        [
            line_trace("4 bytes × numbers alive", x, np.array(result.expected) / MEGA, "@muted", 9,
                       hoverinfo="none"),
            line_trace("measured", x, y, colour, 3, dots=9, hovertemplate=hover),
            ring(f"{x[place]:,}", x[[place]], y[[place]], colour),
        ],
        log_axis("tokens at a time", result.chunks),
        axis("MB of activations", type="log", tickvals=MARKS, ticktext=MARKS),
    )  # fmt: skip


def times_figure(result: Memory, place: int, colour: str) -> Figure:
    """Milliseconds for all tokens, with quartiles, against tokens at a time."""
    chunk, took = result.chunks[place], result.times[place].median
    spreads = [spread.quartiles for spread in result.times]
    hover = "%{x:,} tokens at a time: %{y:.1f} ms<extra></extra>"
    return figure(
        [
            line_of_times("all tokens", result.chunks, spreads, colour, hover),
            ring(f"{chunk:,}", np.array([chunk]), np.array([took]), colour),
        ],
        log_axis("tokens at a time", result.chunks),
        axis("ms, median and quartiles", rangemode="tozero"),
        showlegend=False,
    )


RUNS = 5
TOKENS = (256, 512, 1_024, 2_048, 4_096)
N_TOKENS = count_slider("memory_tokens", 1_024, TOKENS, "tokens in all", "{:,}")
CHUNK = count_setting("chunk", 64, 1, TOKENS[-1])
SETTINGS = (N_TOKENS, CHUNK)


def sheet(run: Run, values: Values) -> Sheet:
    """Memory and time against the tokens that go through at once."""
    n_tokens = values[N_TOKENS]
    setup = (run.card.id, run.device, n_tokens)  # all blocks are of one size
    sizes = chunk_sizes(n_tokens)[::-1]
    at_a_time = CHUNK.with_control("tokens at a time", sizes, "{:,}".format)

    soon = Soon("memory-times", "How long it takes then")

    def cards(measured: Measured[Memory]) -> tuple[Cell, Cell | Soon]:
        result = measured.result
        place = nearest(result.chunks, values[CHUNK])
        peaks = the_peaks(run, result, place)
        if not result.times:
            return peaks, soon
        return peaks, the_times(run, result, place, measured_on(measured))

    peaks = Soon("memory", "Memory of the activations, against the number of tokens at once")
    both = measured_row("memory", setup, measure, cards, (peaks, soon), args=(n_tokens,))
    return Sheet([both], controls=[N_TOKENS, at_a_time])


def measure(run: Run, progress: Progress, n_tokens: int) -> Iterator[Memory]:
    """The block's FFN on random inputs: it does not depend on the sentence."""
    return memory(ours(run.model), 0, n_tokens, RUNS, progress)


def the_peaks(run: Run, result: Memory, place: int) -> Cell:
    """Bytes against tokens at a time."""
    chunk, sizes = result.chunks[place], run.model.sizes
    at_once, whole = f"All {result.n_tokens:,} tokens at once take ", _bytes(result.peaks[0])
    sentence = (
        f"{at_once}{whole} of activations; {chunk:,} at a time, "
        f"{number(_bytes(result.peaks[place]))}, of which "
        f"{_bytes(4 * result.n_tokens * sizes.d_model)} is the output."
    )
    if place == 0:
        times = f"{result.peaks[0] / result.weights:.1f} times"
        sentence = f"{at_once}{number(whole)} of activations, {times} the weights."
    per_token = result.kept / result.n_tokens / 4 / sizes.d_ff
    in_training = (
        f"In training a step keeps {_bytes(result.kept)} of this FFN for its gradients: "
        f"{per_token:.0f} × d_ff numbers a token with {run.card.phi.label}. Chunks save none of "
        "that, unless they are computed again when the gradients go back through the network. "
        f"The weights take {_bytes(result.weights)}. {RUNS} runs of each, on random inputs: the "
        "sentence makes no difference."
    )
    head = Head(sentence, "memory", run.card.colour, under=in_training)
    figure = peaks_figure(result, place, f"@{run.card.colour}")
    alt = "The most bytes that the FFN's tensors take, by tokens at a time."
    return chart_cell(head, figure, alt, key="memory-peaks", height=560)


def the_times(run: Run, result: Memory, place: int, under: Sentence) -> Cell:
    """Milliseconds against tokens at a time."""
    times = [spread.median for spread in result.times]
    sentence = (
        f"With {result.chunks[place]:,} at a time it takes "
        f"{number(f'{times[place] / times[0]:.2f} times')} as long; with {result.chunks[-1]:,}, "
        f"{times[-1] / times[0]:.1f} times. The outputs differ by at most "
        f"{short(result.difference, 1)}."
    )
    figure = times_figure(result, place, f"@{run.card.colour}")
    alt = "The time for all tokens against the tokens that go through at once."
    head = Head(sentence, "memory-times", run.card.colour, under=under)
    return chart_cell(head, figure, alt, height=560)


def _bytes(size: int) -> str:
    return f"{size / MEGA:,.1f} MB"
