"""The FFN as two convolutions with kernel 1: the same numbers, another time."""

import streamlit as st

from ffnviz.analysis.needs import ours
from ffnviz.analysis.number_format import short
from ffnviz.analysis.spread import Progress
from ffnviz.analysis.timing.growth import Convolution, as_convolution
from ffnviz.figures.timing import timing as figures
from ffnviz.figures.wording import Sentence, number
from ffnviz.parts.measurement import about, measure_button, repeats_slider
from ffnviz.parts.part import Navigator, live
from ffnviz.parts.results import REPEATS
from ffnviz.pictures.chart import chart
from ffnviz.pictures.head import Head
from ffnviz.state.run import Run

CODE = """\
conv1 = nn.Conv1d({d_model}, {d_ff}, kernel_size=1)
conv1.weight = nn.Parameter(ffn.expand.weight[..., None])    # ({d_ff}, {d_model}, 1)
conv2 = nn.Conv1d({d_ff}, {d_model}, kernel_size=1)
conv2.weight = nn.Parameter(ffn.compress.weight[..., None])  # ({d_model}, {d_ff}, 1)
# the biases as they are
y = conv2(φ(conv1(x.mT))).mT  # (B, T, d) -> (B, d, T) -> (B, T, d)
"""


@live
def render(run: Run, navigator: Navigator) -> None:
    """The button and the code beside the two times."""
    repeats, block = navigator.value(REPEATS), run.state.block
    setup = (run.card.id, run.state.sentence, run.device, block, repeats)
    config = run.model.sizes
    left, right = st.columns([1.2, 1.4], gap="medium")
    with left:
        st.code(
            CODE.format(d_model=config.d_model, d_ff=config.d_ff), language=None, wrap_lines=True
        )
        repeats_slider(navigator, "convolution")
        measured = measure_button("convolution", setup, run, measure, repeats)
        if measured is not None:
            about(measured, setup, run)
    if measured is None:
        return
    with right:
        times(run, measured.result, f"{measured.when} {measured.setup}")


def measure(run: Run, progress: Progress, repeats: int) -> Convolution:
    """Both ways, on the sentence."""
    return as_convolution(ours(run.model), run.trace, run.state.block, repeats, progress)


def times(run: Run, result: Convolution, version: str) -> None:
    """Both times, and how far the outputs are apart."""
    sentence: Sentence = [
        "Linear and Conv1d differ by at most ", number(short(result.difference, 1)),
        f" in outputs of up to {result.largest:.1f}; the convolution takes ",
        number(f"{result.convolution.median / result.linear.median:.2f} times"), " as long.",
    ]  # fmt: skip
    spreads = {"Linear": result.linear, "Conv1d, kernel 1": result.convolution}
    chart(
        Head(sentence, "convolution", run.card.colour),
        figures.stages(
            {name: (s.median, s.lower, s.upper) for name, s in spreads.items()},
            dict.fromkeys(spreads, "FFN"),
            run.card.colour,
        ),
        "The time of the FFN as two Linear layers and as two convolutions.",
        f"{run.stamp} {version}",
        key="convolution",
        height=420,
    )
