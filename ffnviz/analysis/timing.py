"""How long a trace takes, and how much of that its FFNs."""

import statistics
import time
from collections.abc import Callable

import torch

from ffnviz.model.encoder import EncoderTrace
from ffnviz.model.model import Model
from ffnviz.model.trace import Trace

REPEATS = 1


def timed_trace(model: Model, text: str) -> tuple[Trace, float]:
    """A text's trace, and the milliseconds it took: tokenise, embed, blocks, logits."""
    traces: list[Trace] = []
    taken = milliseconds(lambda: traces.append(model.trace(text)), model.device)
    return traces[0], taken


@torch.inference_mode()
def time_ffns(model: Model, trace: EncoderTrace, repeats: int = REPEATS) -> float:
    """Milliseconds for the FFNs of all blocks, replayed on their recorded inputs: the median."""

    def ffns() -> None:
        for module, record in zip(model.encoder.blocks, trace.blocks, strict=True):
            module.ffn(record.ffn.input)

    return statistics.median(milliseconds(ffns, model.device) for _ in range(repeats))


def milliseconds(work: Callable[[], object], device: torch.device) -> float:
    """How long some work takes, until the device has really finished it."""
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
