"""How much fits: random pairs of words in one FFN, with φ and without."""

from collections.abc import Iterator
from typing import Literal

import numpy as np

from ffnviz.analysis.neurons.capacity import Capacity, capacity
from ffnviz.analysis.spread import Progress
from ffnviz.figures.lab.curves import lines
from ffnviz.figures.layout import Figure, axis
from ffnviz.figures.wording import Sentence, number, percent
from ffnviz.parts.sheet import Measured, Measurement, Row, Sheet, Soon, row
from ffnviz.pictures.cell import Cell
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.head import Head
from ffnviz.state.run import Run
from ffnviz.state.settings import Values

TICKS = (1, 512, 1024, 2048, 3072, 4096)


def sheet(run: Run, _: Values) -> Sheet:
    """The pairs found again, beside how far the outputs are off."""
    setup = (run.card.id, run.model.fingerprint, run.state.block)

    def after(measured: Measured[Capacity]) -> list[Row]:
        stored = measured.result
        return [row(the_recall(run, stored), the_error(run, stored))]

    first = row(Soon("capacity", "How many pairs of words one FFN finds again", 600),
                Soon("capacity-error", "How far its outputs are off", 600))  # fmt: skip
    doing = "Storing up to 4,096 pairs …"
    stored = Measurement("capacity", setup, store, after, (), (first,), "Store", doing, once=True)
    return Sheet([stored], [])


def store(run: Run, progress: Progress) -> Iterator[Capacity]:
    """Store random pairs in the chosen block's FFN, more and more."""
    return capacity(run.model, run.state.block, progress)


def the_recall(run: Run, stored: Capacity) -> Cell:
    """How many pairs are found again."""
    most = int(stored.counts[-1])
    sentence: Sentence = [
        f"Of {most:,} random pairs, block {run.state.block + 1}'s hidden layer finds ",
        number(percent(float(stored.with_phi.recall[-1]))),
        f" again among {stored.words:,} words; without φ, "
        f"{percent(float(stored.without.recall[-1]))}.",
    ]  # fmt: skip
    figure = _curves(run, stored, "recall", "found again, %")
    alt = "How many of N random pairs are found again, with φ and without."
    return chart_cell(Head(sentence, "capacity", run.card.colour), figure, alt, height=600)


def the_error(run: Run, stored: Capacity) -> Cell:
    """How far the outputs are from what was asked."""
    exact, rank = stored.with_phi.exact_up_to(stored.counts), stored.with_phi.rank
    of_all = "" if rank is None else f"; H of all {int(stored.counts[-1]):,} has rank {rank:,}"
    flat = "" if stored.without.rank is None else f", with rank {stored.without.rank:,}"
    sentence: Sentence = [
        "With φ the outputs are exact up to ", number(f"{exact:,} pairs"),
        f"{of_all}. Without φ, up to {stored.without.exact_up_to(stored.counts):,}{flat}.",
    ]  # fmt: skip
    figure = _curves(run, stored, "off", "outputs off, % of their length")
    alt = "How far the outputs of N pairs are off, with φ and without."
    return chart_cell(Head(sentence, "capacity-error", run.card.colour), figure, alt, height=600)


def _curves(run: Run, stored: Capacity, share: Literal["recall", "off"], title: str) -> Figure:
    """A share of the pairs' `Stored`, with φ and without, against their number."""
    with_phi, without = (
        100 * np.maximum(getattr(each, share), 0) for each in (stored.with_phi, stored.without)
    )
    return lines(
        stored.counts,
        {f"with {run.card.phi.label}": (with_phi, f"@{run.card.colour}", "solid"),
         "without φ": (without, "@muted", "dash")},
        axis("pairs N", tickvals=list(TICKS), ticktext=[f"{tick:,}" for tick in TICKS]),
        axis(title, range=[-4, 104]),
    )  # fmt: skip
