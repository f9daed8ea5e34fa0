"""How fast the matrix products are, against the best this machine reaches."""

import numpy as np

from ffnviz.analysis.measuring import Progress
from ffnviz.analysis.needs import ours
from ffnviz.analysis.timing.throughput import BEST_SIZE, Throughput, throughput
from ffnviz.parts.results import REPEATS, measured_on
from ffnviz.parts.sheet import Measured, Measurement, Row, Sheet, Soon, row
from ffnviz.pictures import time_charts as figures
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.wording import Sentence, number, percent
from ffnviz.state.run import Run
from ffnviz.state.settings import Values


def sheet(run: Run, values: Values) -> Sheet:
    """The share of the best that each product reaches, with when and where it was measured."""
    setup = (run.card.id, len(run.labels), run.device, values[REPEATS])  # of so many tokens

    def after(measured: Measured[Throughput]) -> list[Row]:
        best = (
            f"The best: a product of two {BEST_SIZE:,} × {BEST_SIZE:,} matrices reached "
            f"{_rate(measured.result.best_per_second)} in its fastest run. "
        )
        under = [best, *measured_on(measured)]
        return [row(bars(run, measured.result, under))]

    title = "How many multiply-adds a second each matrix product reaches"
    before = [row(Soon("products", title, 660))]
    return Sheet([Measurement("products", setup, measure, after, (values[REPEATS],), before)])


def measure(run: Run, progress: Progress, repeats: int) -> Throughput:
    """The products of the block on the screen, on the sentence."""
    return throughput(ours(run.model), run.trace, run.state.block, repeats, progress)


def bars(run: Run, result: Throughput, under: Sentence) -> Cell:
    """A bar a product."""
    products = result.products
    shares = np.array([p.per_second for p in products]) / result.best_per_second
    expand = next(p for p in products if p.name.startswith("W₁"))
    sentence: Sentence = [
        f"W₁ runs at {_rate(expand.per_second)}, ",
        number(percent(expand.per_second / result.best_per_second)),
        " of what this machine reaches in a large square product.",
    ]  # fmt: skip
    return chart_cell(
        Head(sentence, "products", run.card.colour, under=under),
        figures.products(
            [p.name for p in products],
            [p.shape for p in products],
            shares,
            [f"{p.per_second / 1e9:,.1f} G/s" for p in products],
            [p.name.startswith(("W₁", "W₂")) for p in products],
            run.card.colour,
        ),
        "The share of the machine's best that each matrix product reaches.",
        height=660,
    )


def _rate(per_second: float) -> str:
    size, name = (1e12, "trillion") if per_second >= 1e12 else (1e9, "billion")
    return f"{per_second / size:.1f} {name} multiply-adds per second"
