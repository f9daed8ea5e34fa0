"""How fast the matrix products are, against the best this machine reaches."""

import numpy as np
import streamlit as st

from ffnviz.analysis.needs import ours
from ffnviz.analysis.spread import Progress
from ffnviz.analysis.timing.throughput import BEST_SIZE, Throughput, throughput
from ffnviz.figures.timing import timing as figures
from ffnviz.figures.wording import Sentence, number, percent
from ffnviz.parts.measurement import about, measure_button, repeats_slider
from ffnviz.parts.part import Navigator, live
from ffnviz.parts.results import REPEATS
from ffnviz.pictures.chart import chart
from ffnviz.pictures.head import Head
from ffnviz.state.run import Run


@live
def render(run: Run, navigator: Navigator) -> None:
    """The button beside the bars."""
    repeats, block = navigator.value(REPEATS), run.state.block
    setup = (run.card.id, run.state.sentence, run.device, block, repeats)
    left, right = st.columns([1, 2.6], gap="medium")
    with left:
        repeats_slider(navigator, "products")
        measured = measure_button("products", setup, run, measure, repeats)
        if measured is not None:
            about(measured, setup, run)
            st.markdown(
                f"The best: a product of two {BEST_SIZE:,} × {BEST_SIZE:,} matrices reached "
                f"**{_rate(measured.result.best_per_second)}** in its fastest run, measured in "
                "turn with the others."
            )
    if measured is None:
        return
    with right:
        bars(run, measured.result, f"{measured.when} {measured.setup}")


def measure(run: Run, progress: Progress, repeats: int) -> Throughput:
    """The products of the block on the screen, on the sentence."""
    return throughput(ours(run.model), run.trace, run.state.block, repeats, progress)


def bars(run: Run, result: Throughput, version: str) -> None:
    """A bar a product."""
    shares = np.array([p.per_second for p in result.products]) / result.best_per_second
    expand = next(p for p in result.products if p.name.startswith("W₁"))
    sentence: Sentence = [
        "W₁ runs at ", number(_rate(expand.per_second)), ", ",
        number(percent(expand.per_second / result.best_per_second)),
        " of what this machine reaches in a large square product.",
    ]  # fmt: skip
    chart(
        Head(sentence, "products", run.card.colour),
        figures.products(
            [p.name for p in result.products],
            [p.shape for p in result.products],
            shares,
            [_amount(p.per_second) + " / s" for p in result.products],
            [p.name.startswith(("W₁", "W₂")) for p in result.products],
            run.card.colour,
        ),
        "The share of the machine's best that each matrix product reaches.",
        f"{run.stamp} {version}",
        key="products",
        height=660,
    )


def _rate(per_second: float) -> str:
    return f"{_amount(per_second)} multiply-adds per second"


def _amount(number: float) -> str:
    return f"{number / 1e12:.1f} trillion" if number >= 1e12 else f"{number / 1e9:.1f} billion"
