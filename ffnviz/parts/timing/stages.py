"""Stage by stage: what each part of the pass takes, and their sum against the whole."""

import streamlit as st

from ffnviz.analysis.needs import ours
from ffnviz.analysis.spread import Progress
from ffnviz.analysis.timing.ffns import FfnTimes, time_ffns
from ffnviz.analysis.timing.stages import StageTimes, time_stages
from ffnviz.figures.timing import timing as figures
from ffnviz.figures.wording import Sentence, number, percent
from ffnviz.parts.measurement import REPEATS, about, measure_button, repeats_slider
from ffnviz.parts.part import Navigator, live
from ffnviz.pictures.chart import chart
from ffnviz.pictures.head import Head
from ffnviz.state.run import Run


@live
def render(run: Run, navigator: Navigator) -> None:
    """The button beside the bars."""
    repeats = navigator.value(REPEATS)
    setup = (run.card.id, run.state.sentence, run.device, repeats)
    left, right = st.columns([1, 2.6], gap="medium")
    with left:
        repeats_slider(navigator, "stages")
        measured = measure_button("stages", setup, run, measure, repeats)
        if measured is not None:
            about(measured, setup, run)
        if not run.card.ours:
            st.caption("Only the FFNs of a network that is not ours are taken apart.")
    if measured is None:
        return
    with right:
        version = f"{measured.when} {measured.setup}"
        if isinstance(measured.result, StageTimes):
            bars(run, measured.result, version)
        else:
            ffn_bars(run, measured.result, version)


def measure(run: Run, progress: Progress, repeats: int) -> StageTimes | FfnTimes:
    """The stages of the pass on the sentence; of a network that is not ours, its FFNs."""
    if not run.card.ours:
        return time_ffns(run.model, run.whole, repeats, progress)
    return time_stages(ours(run.model), run.trace, repeats, progress)


def bars(run: Run, result: StageTimes, version: str) -> None:
    """A bar a stage."""
    ffn = sum(s.median for name, s in result.times.items() if result.kinds[name] == "FFN")
    sentence: Sentence = [
        "The FFNs take ", number(f"{ffn:.2f} ms, {percent(ffn / result.total)}"),
        f" of the stages' {result.total:.2f} ms; the pass in one piece took ",
        number(f"{result.whole.median:.2f} ms"),
        f" ({result.whole.lower:.2f} to {result.whole.upper:.2f}), "
        f"{result.whole.repeats} runs of each.",
    ]  # fmt: skip
    chart(
        Head(sentence, "stages", run.card.colour),
        figures.stages(
            {name: (s.median, s.lower, s.upper) for name, s in result.times.items()},
            result.kinds,
            run.card.colour,
        ),
        "The median time of each stage of the pass, with quartiles.",
        f"{run.stamp} {version}",
        key="stages",
        height=660,
    )


def ffn_bars(run: Run, result: FfnTimes, version: str) -> None:
    """A bar an FFN."""
    whole = result.whole
    sentence: Sentence = [
        "The FFNs take ",
        number(f"{result.total:.2f} ms, {percent(min(1, result.total / whole.median))}"),
        " of the pass in one piece, which took ", number(f"{whole.median:.2f} ms"),
        f" ({whole.lower:.2f} to {whole.upper:.2f}), {whole.repeats} runs of each.",
    ]  # fmt: skip
    names = [f"FFN {block + 1}" for block in range(len(result.ffns))]
    chart(
        Head(sentence, "stages", run.card.colour),
        figures.stages(
            {name: (s.median, s.lower, s.upper)
             for name, s in zip(names, result.ffns, strict=True)},
            dict.fromkeys(names, "FFN"),
            run.card.colour,
        ),
        "The median time of each block's FFN, with quartiles.",
        f"{run.stamp} {version}",
        key="stages",
        height=660,
    )  # fmt: skip
