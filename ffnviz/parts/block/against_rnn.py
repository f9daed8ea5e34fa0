"""Against an RNN: it reads one by one what the block reads all at once."""

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.block.recurrence import (
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
from ffnviz.figures.block import rnn_charts as figures
from ffnviz.figures.wording import Sentence, number, quoted
from ffnviz.jobs.serial_lock import SERIAL_LOCK
from ffnviz.parts.results import measured_on
from ffnviz.parts.sheet import Measured, Measurement, Sheet, Soon, row
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.head import Head
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, choice_setting, number_setting

GAINS = (0.1, 0.25, 0.5, 0.75, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0, 3.0, 4.0)
GAIN = number_setting("gain", 1.0, GAINS[0], GAINS[-1]).with_control(
    "gain of the RNN's W_h", GAINS, "{:g}".format
)
PHI = choice_setting("rnn_phi", {"tanh": "tanh", "none": "none"}).with_control("φ of the RNN")
SETTINGS = (GAIN, PHI)
RUNS = 30


def sheet(run: Run, values: Values) -> Sheet:
    """The time that each takes beside the gradient that reaches each token."""
    return Sheet([row(clock(run), gradient(run, values[GAIN], values[PHI]))])


def clock(run: Run) -> Measurement[Clock]:
    """When each is done with each token."""
    setup = (run.card.id, run.state.block, run.state.sentence, run.token)
    before = Soon("clock", "When an RNN and the block are done with each token", 520)

    def after(measured: Measured[Clock]) -> list[Cell]:
        result = measured.result
        return [
            chart_cell(
                Head(_of_clock(result), "clock", run.card.colour, under=measured_on(measured)),
                figures.clock(_labels(run), result.recurrent, result.block,
                              f"@{run.card.colour}"),
                "When the recurrent network and the block were done with each token.",
                height=520,
            ),
        ]  # fmt: skip

    return Measurement(
        "turns",
        setup,
        clocked,
        after,
        before=[before],
        doing="An RNN and the block read the sentence …",
    )


def clocked(run: Run, progress: Progress) -> Clock:
    """The time that the RNN and the block take to read the sentence."""
    return read_against_the_clock(run.model, run.trace, run.state.block, run.token, RUNS, progress)


def gradient(run: Run, gain: float, phi: str) -> Cell:
    """How much of a unit gradient reaches each token."""
    block, colour, labels = run.state.block, run.card.colour, _labels(run)
    read = what_is_read(run.trace, block, run.token)
    with SERIAL_LOCK:
        recurrent = through_recurrent(run.model, block, read, gain, bends=phi == "tanh")
        blocks = run.subject.per_sentence(
            ("through blocks", block, run.token), lambda: through_blocks(run.model, block, read)
        )
    return chart_cell(
        Head(_of_gradient(labels, read.token, recurrent, blocks), "arrives", colour),
        figures.arrives(labels, read.token, [
            ("RNN, untrained", recurrent, "@text", "dash"),
            ("block, untrained", blocks.untrained, "@muted", "dot"),
            (f"block {block + 1}, trained", blocks.block, f"@{colour}", "solid"),
        ]),
        "How much of a unit gradient at the chosen token's output reaches each token.",
        height=520,
    )  # fmt: skip


def _labels(run: Run) -> list[str]:
    first = max(0, run.token + 1 - LONGEST)
    return run.labels[first : first + LONGEST]


def _of_clock(result: Clock) -> Sentence:
    n = len(result.recurrent)
    many = f"{n} tokens" if n > 1 else "1 token"
    rnn, block = result.weights
    return [
        f"Reading {many} one by one takes an RNN ", number(f"{result.recurrent[-1]:.2f} ms"),
        f": {n} step{'s' * (n > 1)}, each waiting for the one before. The block is done with all "
        "after ", f"{result.block:.2f} ms. They have {rnn / 1e6:.2f} and "
        f"{block / 1e6:.2f} million weights.",
    ]  # fmt: skip


def _of_gradient(
    labels: list[str], token: int, recurrent: NDArray[np.float64], blocks: ThroughBlocks
) -> Sentence:
    if token == 0:
        return [
            quoted(labels[0]), " is the first token, so there is nothing before it for an RNN to "
            "forget. Choose a later one above.",
        ]  # fmt: skip
    steps = f"{token} step{'s' * (token > 1)}"
    others = np.delete(np.arange(len(labels)), token)
    most = int(others[blocks.block[others].argmax()])
    return [
        "In the RNN, ", number(short(float(recurrent[0]))), " of a unit gradient at ",
        quoted(labels[token]), " reaches ", quoted(labels[0]), f", {steps} back; in an untrained "
        f"block, {short(float(blocks.untrained[0]))}. The trained block depends "
        "most on ", quoted(labels[most]), f" ({short(float(blocks.block[most]))}).",
    ]  # fmt: skip
