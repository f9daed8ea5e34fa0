"""Stage by stage: the time of each part, and the limits of the roofline (Williams et al. 2009)."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from ffnviz.analysis.measuring import Progress, in_turn, subprogress
from ffnviz.analysis.needs import Capability, encoder_of, ours
from ffnviz.analysis.timing.stages import (
    BEST_SIZE,
    WHOLE,
    StageTimes,
    Throughput,
    throughput,
    time_ffns,
    time_stages,
)
from ffnviz.models.encoder.linear import linear
from ffnviz.models.encoder.model import Model
from ffnviz.parts.sheet import REPEATS, Measured, Measurement, Row, Sheet, Soon, measured_on, row
from ffnviz.pictures import time_charts as figures
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.text import text_cell
from ffnviz.pictures.wording import Sentence, number, percent, strong
from ffnviz.state.run import Run
from ffnviz.state.settings import Values

ONE_CORE = "CPU, 1 core"
EXPLAINED = (
    f"{strong('What a GPU would change.')} A matrix product consists of very many independent "
    "multiply-adds. A CPU core does a few dozen at once, a GPU thousands. But starting a stage on "
    "the GPU takes a few microseconds, however small the stage. So a short sentence in a small "
    "network may gain nothing, while a batch of long ones gains most. “Cost”, on the page "
    "Dimensions, shows the CPU's side of this: compare batch 1 with batch 32."
)
GAIN_MOST = """The stages that gain most are those with the most multiply-adds: expand, compress, \
and the output over the whole vocabulary. φ and the additions compute little; \
they move numbers to and from memory."""


def devices_sheet(run: Run, values: Values) -> Sheet:
    """The comparison, or why there is none."""
    if len(run.devices) < 2:
        reason = f"{run.about_gpu} So only the CPU can be measured: see the view “on this device”."
        why = row(text_cell("no-gpu", reason, tone="info"))
        return Sheet([why, row(text_cell("what-a-gpu-changes", EXPLAINED, GAIN_MOST))], [])
    setup = (run.card.id, len(run.labels), values[REPEATS])  # of so many tokens
    title = "What each stage takes on the CPU and on the GPU"
    before = [row([text_cell("about-gpu", run.about_gpu), Soon("devices", title, 660)])]

    def after(measured: Measured[dict[str, StageTimes]]) -> list[Row]:
        return [row(compared(run, measured.result, f"{run.about_gpu} {measured_on(measured)}"))]

    return Sheet([Measurement("devices", setup, both, after, (values[REPEATS],), before=before)])


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
    times_as = f"{ratio:.1f} times as fast" if ratio >= 1 else f"{1 / ratio:.1f} times as slow"
    sentence = (
        f"The whole pass takes {', '.join(first)} and {last}: the GPU is {number(times_as)} as "
        f"{'one core' if best == ONE_CORE else 'all cores'} of the CPU."
    )
    colours = [*("@muted", "@text")[: len(on_cpu)], f"@{run.card.colour}"]
    head = Head(sentence, "devices", run.card.colour, under=under)
    alt = "The median time of each stage on one core of the CPU, on all of them, and on the GPU."
    return chart_cell(head, figures.side_by_side(times, colours), alt, height=660)


def products_sheet(run: Run, values: Values) -> Sheet:
    """The share of the best that each product reaches, with when and where it was measured."""
    setup = (run.card.id, len(run.labels), run.device, values[REPEATS])  # of so many tokens

    def after(measured: Measured[Throughput]) -> list[Row]:
        best = (
            f"The best: a product of two {BEST_SIZE:,} × {BEST_SIZE:,} matrices reached "
            f"{_rate(measured.result.best_per_second)} in its fastest run."
        )
        return [row(product_bars(run, measured.result, f"{best} {measured_on(measured)}"))]

    soon = Soon("products", "How many multiply-adds a second each matrix product reaches", 660)
    args, before = (values[REPEATS],), [row(soon)]
    return Sheet([Measurement("products", setup, measure_products, after, args, before)])


def measure_products(run: Run, progress: Progress, repeats: int) -> Throughput:
    """The products of the block on the screen, on the sentence."""
    return throughput(ours(run.model), run.trace, run.state.block, repeats, progress)


def product_bars(run: Run, result: Throughput, under: Sentence) -> Cell:
    """A bar a product."""
    products = result.products
    shares = np.array([p.per_second for p in products]) / result.best_per_second
    expand = next(p for p in products if p.name.startswith("W₁"))
    sentence = (
        f"W₁ runs at {_rate(expand.per_second)}, "
        f"{number(percent(expand.per_second / result.best_per_second))} of what this machine "
        "reaches with two large square matrices."
    )
    names, shapes = [p.name for p in products], [p.shape for p in products]
    rates = [f"{p.per_second / 1e9:,.1f} G/s" for p in products]
    of_ffn = [name.startswith(("W₁", "W₂")) for name in names]
    head = Head(sentence, "products", run.card.colour, under=under)
    figure = figures.products(names, shapes, shares, rates, of_ffn, run.card.colour)
    alt = "The share of the machine's best that each matrix product reaches."
    return chart_cell(head, figure, alt, height=660)


def _rate(per_second: float) -> str:
    size, name = (1e12, "trillion") if per_second >= 1e12 else (1e9, "billion")
    return f"{per_second / size:.1f} {name} multiply-adds per second"


NEEDS = (Capability.OURS,)
READ = 16_000_000  # numbers: 64 MB, more than most caches hold
READS = 10  # of which the quickest counts


@dataclass(frozen=True)
class Speed:
    """The best rates that a machine reaches."""

    bytes: float  # read from memory, a second
    multiply_adds: float  # in a large square product, a second


@dataclass(frozen=True)
class Work:
    """The least work of one part of the pass."""

    kind: str  # as in Stage
    weight_bytes: int  # each weight once
    multiply_adds: int  # in matrix products

    def reading(self, speed: Speed) -> float:
        """The milliseconds that reading the weights takes at least."""
        return self.weight_bytes / speed.bytes * 1_000

    def multiplying(self, speed: Speed) -> float:
        """The milliseconds that the matrix products take at least."""
        return self.multiply_adds / speed.multiply_adds * 1_000

    def least(self, speed: Speed) -> float:
        """The milliseconds that it takes at least: both can go on at once."""
        return max(self.reading(speed), self.multiplying(speed))


@torch.no_grad()
def speed(device: torch.device, progress: Progress = lambda _: None) -> Speed:
    """The device's best rates, with the number of threads that PyTorch uses now."""
    numbers = torch.ones(READ, device=device)
    square = torch.ones(BEST_SIZE, BEST_SIZE, device=device)
    tasks: dict[str, Callable[[], object]] = {
        "read": numbers.sum,
        "multiply": lambda: linear(square, square),
    }
    times = in_turn(tasks, READS, warm_up=1, device=device, progress=progress)
    read, multiply = (spread.least / 1_000 for spread in times.values())
    return Speed(numbers.nbytes / read, BEST_SIZE**3 / multiply)


def work(model: Model, n_tokens: int) -> tuple[Work, ...]:
    """The work of attention, FFNs and output in a pass over n_tokens with all logits."""
    encoder = encoder_of(model)
    scores = n_tokens**2 * encoder.config.d_model  # and as much again to mix the values
    attention: list[nn.Module] = [block.attention for block in encoder.blocks]
    ffns: list[nn.Module] = [block.ffn for block in encoder.blocks]
    return (
        _work("attention", attention, n_tokens, 2 * scores),
        _work("FFN", ffns, n_tokens),
        _work("output", [encoder.token_embedding], n_tokens),
    )


def _work(kind: str, modules: Sequence[nn.Module], n_tokens: int, extra: int = 0) -> Work:
    weights = [weight for module in modules for weight in module.parameters()]
    in_matrices = sum(weight.numel() for weight in weights if weight.dim() == 2)
    held = sum(weight.nbytes for weight in weights)
    return Work(kind, held, n_tokens * in_matrices + len(modules) * extra)


@dataclass(frozen=True)
class Staged:
    """The stages' times, and what the machine could do at its best."""

    times: StageTimes
    speed: Speed
    work: tuple[Work, ...]


def sheet(run: Run, values: Values) -> Sheet:
    """The time of each stage, with when and where it was measured."""
    setup = (run.card.id, len(run.labels), run.device, values[REPEATS])  # of so many tokens
    stages = Soon("stages", "What each stage of the pass takes", 660)
    limits = Soon("limits", "How near that is to what this machine can do", 660)

    def after(measured: Measured[Staged | StageTimes]) -> list[Row]:
        result, under = measured.result, measured_on(measured)
        if isinstance(result, Staged):
            shown = bars(run, result.times, under), against_limits(run, result)
            return [row(*shown, widths=(1.2, 1.0))]
        if run.card.ours:
            return [row(bars(run, result, under), limits, widths=(1.2, 1.0))]
        under += " In a network that is not ours, only the FFNs are timed one by one."
        return [row(bars(run, result, under))]

    before = [row(stages, limits, widths=(1.2, 1.0)) if run.card.ours else row(stages)]
    return Sheet([Measurement("stages", setup, measure, after, (values[REPEATS],), before)])


def measure(run: Run, progress: Progress, repeats: int) -> Iterator[Staged | StageTimes]:
    """The stages of the pass on the sentence; of a network that is not ours, its FFNs."""
    if not run.card.ours:
        yield time_ffns(run.model, run.whole, repeats, progress)
        return
    model, trace = ours(run.model), run.trace
    times = time_stages(model, trace, repeats, subprogress(progress, 0, 2))
    yield times
    best = speed(model.device, subprogress(progress, 1, 2))
    yield Staged(times, best, work(model, len(trace.tokens)))


def bars(run: Run, result: StageTimes, under: Sentence) -> Cell:
    """A bar a stage; of a network that is not ours, a bar an FFN."""
    whole = result.whole
    pass_took = (
        f"took {whole.median:.2f} ms ({whole.lower:.2f} to {whole.upper:.2f}), {whole.repeats} "
        "runs of each."
    )
    if run.card.ours:
        ffn = sum(s.median for name, s in result.times.items() if result.kinds[name] == "FFN")
        took = f"{ffn:.2f} ms, {percent(ffn / result.total)}"
        sentence = (
            f"The FFNs take {number(took)} of the stages' {result.total:.2f} ms; the pass in one "
            f"piece {pass_took}"
        )
        alt = "The median time of each stage of the pass, with quartiles."
    else:
        took = f"{result.total:.2f} ms, {percent(min(1, result.total / whole.median))}"
        sentence = f"The FFNs take {number(took)} of the pass in one piece, which {pass_took}"
        alt = "The median time of each block's FFN, with quartiles."
    head = Head(sentence, "stages", run.card.colour, under=under)
    quartiles = {name: spread.quartiles for name, spread in result.times.items()}
    return chart_cell(head, figures.stages(quartiles, result.kinds, head.accent), alt, height=660)


def against_limits(run: Run, result: Staged) -> Cell:
    """How near the parts of the pass come to what this machine can do."""
    best, times, kinds = result.speed, result.times.times, result.times.kinds
    took = [
        sum(s.least for name, s in times.items() if kinds[name] == part.kind)
        for part in result.work
    ]
    least, whole = sum(part.least(best) for part in result.work), result.times.whole.least
    sentence = (
        f"The quickest pass was at {number(percent(least / whole))} of what this machine can do. "
        f"It took {whole:.2f} ms; at least {least:.2f} ms is needed, at "
        f"{best.bytes / 1e9:.0f} GB a second from memory and "
        f"{best.multiply_adds / 1e9:.0f} billion multiply-adds a second."
    )
    under = "Weights that are still in the cache are read faster than from memory."
    parts = result.work
    reading = [part.reading(best) for part in parts]
    multiplying = [part.multiplying(best) for part in parts]
    head = Head(sentence, "limits", run.card.colour, under=under)
    names = [part.kind for part in parts]
    figure = figures.limits(names, took, reading, multiplying, run.card.colour)
    alt = "What attention, FFNs and the output took, and what they need at this machine's best."
    return chart_cell(head, figure, alt, height=660)
