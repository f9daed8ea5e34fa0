"""How it grows: time against the number of tokens and against d_ff."""

import streamlit as st

from ffnviz.analysis.needs import ours
from ffnviz.analysis.spread import Progress
from ffnviz.analysis.timing.growth import WIDTH_TOKENS, Growth, grow_with_length, grow_with_width
from ffnviz.figures.timing import timing as figures
from ffnviz.figures.wording import Sentence, number
from ffnviz.parts.measurement import about, measure_button
from ffnviz.parts.part import Navigator, live
from ffnviz.pictures.chart import chart
from ffnviz.pictures.head import Head
from ffnviz.state.run import Run

RUNS = 5
LENGTH_SHARE = 0.75  # of the time, for the progress bar


@live
def render(run: Run, navigator: Navigator) -> None:  # noqa: ARG001
    """The button over the two curves."""
    setup = (run.card.id, run.device, run.state.block)
    measured = measure_button("growth", setup, run, both)
    if measured is None:
        return
    about(measured, setup, run)
    st.markdown(f"{RUNS} runs of each size, on random values of the right shape: it does not "
                "depend on the sentence.")  # fmt: skip
    length, width = measured.result
    version = f"{measured.when} {measured.setup}"
    left, right = st.columns(2, gap="medium")
    with left:
        curves(run, length, "tokens T", _length_sentence(length), "growth", version)
    with right:
        curves(run, width, "d_ff", _width_sentence(width), "width", version)


def both(run: Run, progress: Progress) -> tuple[Growth, Growth]:
    """Both measurements, one after the other."""
    length = grow_with_length(
        ours(run.model), run.state.block, RUNS, lambda share: progress(LENGTH_SHARE * share)
    )
    width = grow_with_width(
        ours(run.model), RUNS, lambda share: progress(LENGTH_SHARE + (1 - LENGTH_SHARE) * share)
    )
    return length, width


def curves(run: Run, grown: Growth, what: str, sentence: Sentence, note: str, version: str) -> None:
    """One quantity's curves."""
    times = {
        name: [(s.median, s.lower, s.upper) for s in spreads]
        for name, spreads in grown.times.items()
    }
    head = {"growth": Head(sentence, "growth", run.card.colour),
            "width": Head(sentence, "width", run.card.colour)}[note]  # fmt: skip
    chart(
        head,
        figures.growth(grown.sizes, times, what, run.card.colour),
        f"Time against {what}, for batches of 1 and 32.",
        f"{run.stamp} {version}",
        key=f"growth-{note}",
        height=560,
    )


def _length_sentence(grown: Growth) -> Sentence:
    one, many = grown.times["FFN, batch 1"], grown.times["FFN, batch 32"]
    times = grown.sizes[-1] / grown.sizes[0]
    return [
        f"With {times:g} times as many tokens the FFN takes ",
        number(f"{one[-1].median / one[0].median:.1f} times"), " as long for one text, and ",
        number(f"{many[-1].median / many[0].median:.1f} times"), " in a batch of 32.",
    ]  # fmt: skip


def _width_sentence(grown: Growth) -> Sentence:
    one = grown.times["FFN, batch 1"]
    times = grown.sizes[-1] / grown.sizes[0]
    return [
        f"With {times:g} times as many neurons the FFN takes ",
        number(f"{one[-1].median / one[0].median:.1f} times"),
        f" as long, on {WIDTH_TOKENS} tokens.",
    ]
