"""How long work takes: a trace and its FFNs once, or tasks in turn, with the spread of times."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from ffnviz.analysis.needs import Capability
from ffnviz.models.network import Network
from ffnviz.models.token_slice import usual_token
from ffnviz.models.trace import Trace

NEEDS: tuple[Capability, ...] = ()


def timed_trace(model: Network, text: str) -> tuple[Trace, float, float]:
    """A text's trace up to its usual logits, and the milliseconds that it and its FFNs took."""
    traces: list[Trace] = []

    def whole() -> None:
        traces.append(model.trace(text))
        if model.card.has_word_head:
            traces[0].logits_at(usual_token(traces[0].tokens, model.tokenizer.mask_id))

    total_ms = milliseconds(whole, model.device)
    with torch.no_grad():
        views = [model.ffn(number) for number in range(len(traces[0].blocks))]
        inputs = [views[number].reads(each.middle) for number, each in enumerate(traces[0].blocks)]

        def ffns() -> None:  # the trace keeps no result
            for view, x in zip(views, inputs, strict=True):
                view.stages(x)

        return traces[0], total_ms, milliseconds(ffns, model.device)


def milliseconds(work: Callable[[], object], device: torch.device) -> float:
    """How long some work takes, until the device has finished it; on CUDA by the GPU's clock."""
    if device.type == "cuda":
        with torch.cuda.device(device):
            before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
            torch.cuda.synchronize()
            before.record()
            work()
            after.record()
            torch.cuda.synchronize()
            return float(before.elapsed_time(after))
    wait = torch.mps.synchronize if device.type == "mps" else lambda: None
    wait()
    started = time.perf_counter()
    work()
    wait()
    return (time.perf_counter() - started) * 1_000


Progress = Callable[[float], None]
CPU = torch.device("cpu")


def subprogress(progress: Progress, place: int, n: int) -> Progress:
    """The progress of one of n equal steps, told as a share of them all."""
    return lambda share: progress((place + share) / n)


@dataclass(frozen=True)
class Spread:
    """Repeated measurements of one quantity."""

    median: float
    lower: float  # the lower quartile
    upper: float  # the upper quartile
    least: float  # the smallest, which a busy machine disturbed least
    repeats: int

    @classmethod
    def of(cls, samples: Sequence[float]) -> "Spread":
        """The spread of the samples."""
        lower, median, upper = np.percentile(samples, [25, 50, 75])
        return cls(float(median), float(lower), float(upper), min(samples), len(samples))

    @property
    def quartiles(self) -> tuple[float, float, float]:
        """The median, and the quartiles below and above it."""
        return self.median, self.lower, self.upper

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.lower:.2f}-{self.upper:.2f})"


def in_turn(
    tasks: Mapping[str, Callable[[], object]],
    repeats: int,
    warm_up: int = 5,
    device: torch.device = CPU,
    progress: Progress = lambda _: None,
) -> dict[str, Spread]:
    """Milliseconds of each task, run one after the other, round after round.

    A busy moment then affects all of them. Every second round is in reverse order, so that each
    task follows another as often as it precedes it. The first `warm_up` rounds do not count.
    """
    samples: dict[str, list[float]] = {name: [] for name in tasks}
    order = list(tasks.items())
    for round_ in range(warm_up + repeats):
        for name, task in order:
            elapsed = milliseconds(task, device)
            if round_ >= warm_up:
                samples[name].append(elapsed)
        order.reverse()
        progress((round_ + 1) / (warm_up + repeats))
    return {name: Spread.of(taken) for name, taken in samples.items()}
