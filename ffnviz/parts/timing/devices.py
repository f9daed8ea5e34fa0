"""CPU and GPU side by side, where there is a GPU."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from ffnviz.analysis.measuring import Progress, subprogress
from ffnviz.analysis.needs import ours
from ffnviz.analysis.timing.stages import WHOLE, StageTimes, time_stages
from ffnviz.parts.results import REPEATS, measured_on
from ffnviz.parts.sheet import Measured, Measurement, Row, Sheet, Soon, row
from ffnviz.pictures import time_charts as figures
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.text import text_cell
from ffnviz.pictures.wording import Sentence, number
from ffnviz.state.run import Run
from ffnviz.state.settings import Values

ONE_CORE = "CPU, 1 core"
EXPLAINED: Sentence = [
    ("What a GPU would change.", "strong"),
    " A matrix product consists of very many independent multiply-adds. A CPU core does a few "
    "dozen at once, a GPU thousands. But starting a stage on the GPU takes a few microseconds, "
    "however small the stage. So a short sentence in a small network may gain nothing, while "
    "a batch of long ones gains most. “Cost”, on the page Dimensions, shows the CPU's side of "
    "this: compare batch 1 with batch 32.",
]
GAIN_MOST = """The stages that gain most are those with the most multiply-adds: expand, compress, \
and the output over the whole vocabulary. φ and the additions only move memory."""


def sheet(run: Run, values: Values) -> Sheet:
    """The comparison, or why there is none."""
    if len(run.devices) < 2:
        reason = f"{run.about_gpu} So only the CPU can be measured: see the view “on this device”."
        return Sheet([
            row(text_cell("no-gpu", reason, tone="info")),
            row(text_cell("what-a-gpu-changes", EXPLAINED, GAIN_MOST)),
        ], controls=[])  # fmt: skip
    setup = (run.card.id, len(run.labels), values[REPEATS])  # of so many tokens
    title = "What each stage takes on the CPU and on the GPU"
    before = [row([text_cell("about-gpu", run.about_gpu), Soon("devices", title, 660)])]

    def after(measured: Measured[dict[str, StageTimes]]) -> list[Row]:
        under = [f"{run.about_gpu} ", *measured_on(measured)]
        return [row(compared(run, measured.result, under))]

    return Sheet([
        Measurement("devices", setup, both, after, (values[REPEATS],), before=before)
    ])  # fmt: skip


def both(run: Run, progress: Progress, repeats: int) -> dict[str, StageTimes]:
    """The stages on one core of the CPU, on all of them, and on the GPU, under these names."""
    models = {device: ours(load()) for device, load in run.devices.items()}
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    kinds = [(ONE_CORE, "cpu", 1)]
    if cores and cores > 1:
        kinds.append((f"CPU, all {cores} cores", "cpu", cores))
    kinds += [("GPU", device, 1) for device in models if device != "cpu"]
    results = {}
    for place, (name, device, n_threads) in enumerate(kinds):
        with threads(n_threads):
            trace = models[device].trace(run.state.sentence)
            share = subprogress(progress, place, len(kinds))
            results[name] = time_stages(models[device], trace, repeats, share)
    return results


@contextmanager
def threads(n: int) -> Iterator[None]:
    """PyTorch computes with n threads within, and afterwards with as many as before."""
    before = torch.get_num_threads()
    torch.set_num_threads(n)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def compared(run: Run, results: dict[str, StageTimes], under: Sentence) -> Cell:
    """Bars side by side, and the speed-up of the whole against the best of the CPU."""
    times = {
        name: {stage: s.median for stage, s in setup.times.items()} | {WHOLE: setup.whole.median}
        for name, setup in results.items()
    }
    whole = {name: setup[WHOLE] for name, setup in times.items()}
    *on_cpu, on_gpu = whole
    best = min(on_cpu, key=whole.__getitem__)
    ratio = whole[best] / whole[on_gpu]
    where = {ONE_CORE: "one core", on_gpu: "the GPU"}
    *first, last = (
        f"{took:.2f} ms on {where.get(name, name.removeprefix('CPU, '))}"
        for name, took in whole.items()
    )
    sentence: Sentence = [
        f"The whole pass takes {', '.join(first)} and {last}: the GPU is ",
        number(f"{ratio:.1f} times as fast" if ratio >= 1 else f"{1 / ratio:.1f} times as slow"),
        f" as {'one core' if best == ONE_CORE else 'all cores'} of the CPU.",
    ]  # fmt: skip
    colours = [*("@muted", "@text")[: len(on_cpu)], f"@{run.card.colour}"]
    return chart_cell(
        Head(sentence, "devices", run.card.colour, under=under),
        figures.side_by_side(times, colours),
        "The median time of each stage on one core of the CPU, on all of them, and on the GPU.",
        height=660,
    )
