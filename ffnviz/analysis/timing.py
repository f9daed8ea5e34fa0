"""How long a trace takes, and how much of it the FFNs."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch

from ffnviz.model.encoder import EncoderTrace
from ffnviz.model.model import Model


@dataclass(frozen=True)
class TraceTiming:
    """Medians over the repeats.

    Attributes:
        total_ms: one whole trace: tokenise, embed, blocks, logits.
        ffn_ms: the FFNs of all blocks, replayed on their recorded inputs.
        repeats: how many runs each median is taken over.
        device: where, as PyTorch names it.
    """

    total_ms: float
    ffn_ms: float
    repeats: int
    device: str

    @property
    def ffn_share(self) -> float:
        """The FFNs' part of the whole, from 0 to 1."""
        return min(1.0, self.ffn_ms / self.total_ms)


@torch.inference_mode()
def time_trace(model: Model, text: str, trace: EncoderTrace, repeats: int = 5) -> TraceTiming:
    """Time whole traces and their FFNs in turn, so that a busy moment touches both."""

    def whole() -> None:
        model.trace(text)

    def ffns() -> None:
        for module, record in zip(model.encoder.blocks, trace.blocks, strict=True):
            module.ffn(record.ffn.input)

    totals, ffn_times = [], []
    for _ in range(repeats):
        totals.append(_milliseconds(whole, model.device))
        ffn_times.append(_milliseconds(ffns, model.device))
    return TraceTiming(
        statistics.median(totals), statistics.median(ffn_times), repeats, str(model.device)
    )


def _milliseconds(work: Callable[[], None], device: torch.device) -> float:
    _wait_for(device)
    started = time.perf_counter()
    work()
    _wait_for(device)
    return (time.perf_counter() - started) * 1_000


def _wait_for(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()
