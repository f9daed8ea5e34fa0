"""CPU and GPU side by side, where there is a GPU."""

import streamlit as st

from ffnviz.analysis.needs import ours
from ffnviz.analysis.spread import Progress
from ffnviz.analysis.timing.stages import WHOLE, StageTimes, time_stages
from ffnviz.components.chart import chart
from ffnviz.components.head import Head
from ffnviz.figures.timing import timing as figures
from ffnviz.figures.wording import Sentence, number
from ffnviz.measured import REPEATS, about, measure_button, repeats_slider
from ffnviz.page import Navigator, live
from ffnviz.run import Run

EXPLAINED = """\
**What a GPU would change.** A matrix product is very many independent multiply-adds. A CPU core
does some dozens at once, a GPU thousands. But each stage must first be sent to the GPU, which
takes some microseconds, however small it is. So a short sentence in a small network may gain
nothing, while a batch of long ones gains most. "How it grows" shows the CPU's side of this: compare
batch 1 with batch 32.

The stages that gain most are those with the most multiply-adds: expand, compress, and the output
over the whole vocabulary. φ and the additions only move memory.
"""


@live
def render(run: Run, navigator: Navigator) -> None:
    """The comparison, or why there is none."""
    if len(run.devices) < 2:
        st.info(f"{run.about_gpu} So only the CPU can be measured: see “Stage by stage”.")
        st.markdown(EXPLAINED)
        return
    repeats = navigator.value(REPEATS)
    of = (run.card.id, run.state.sentence, repeats)
    left, right = st.columns([1, 2.6], gap="medium")
    with left:
        repeats_slider(navigator, "devices")
        measured = measure_button("devices", of, run, both, repeats)
        st.markdown(run.about_gpu)
        if measured is not None:
            about(measured, of, run)
    if measured is None:
        return
    with right:
        compared(run, measured.result, f"{measured.when} {measured.of}")


def both(run: Run, progress: Progress, repeats: int) -> dict[str, StageTimes]:
    """The stages on every device there is."""
    found = {}
    for place, (device, load) in enumerate(run.devices.items()):
        model = ours(load())
        trace = model.trace(run.state.sentence)

        def share(done: float, place: int = place) -> None:
            progress((place + done) / len(run.devices))

        found[device] = time_stages(model, trace, repeats, share)
    return found


def compared(run: Run, found: dict[str, StageTimes], version: str) -> None:
    """Bars side by side, and the speed-up of the whole."""
    cpu, gpu = found.values()
    times = {
        device: {name: s.median for name, s in of.times.items()} | {WHOLE: of.whole.median}
        for device, of in found.items()
    }
    ratio = cpu.whole.median / gpu.whole.median
    sentence: Sentence = [
        "The whole pass takes ", number(f"{cpu.whole.median:.2f} ms"), " on the CPU and ",
        number(f"{gpu.whole.median:.2f} ms"), " on the GPU: ",
        number(f"{ratio:.1f} times as fast" if ratio >= 1 else f"{1 / ratio:.1f} times as slow"),
        ".",
    ]  # fmt: skip
    chart(
        Head(sentence, "devices", run.card.colour),
        figures.side_by_side(times, ["@muted", f"@{run.card.colour}"]),
        "The median time of each stage on the CPU and on the GPU.",
        f"{run.stamp} {version}",
        key="devices",
        height=660,
    )
