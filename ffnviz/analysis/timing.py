"""How long a trace takes, and how much of that its FFNs."""

import time
from collections.abc import Callable

import torch

from ffnviz.model.encoder import EncoderTrace
from ffnviz.model.model import Model
from ffnviz.model.trace import Trace


def timed_trace(model: Model, text: str) -> tuple[Trace, float, float]:
    """A text's trace, and the milliseconds that it and its FFNs took, measured once as it happened.

    The whole is: tokenise, embed, blocks, logits. The FFNs of all blocks are replayed right after
    on their recorded inputs.
    """
    traces: list[Trace] = []
    total_ms = milliseconds(lambda: traces.append(model.trace(text)), model.device)
    ffn_ms = milliseconds(lambda: _replay_ffns(model, traces[0]), model.device)
    return traces[0], total_ms, ffn_ms


@torch.inference_mode()
def _replay_ffns(model: Model, trace: EncoderTrace) -> None:
    for module, record in zip(model.encoder.blocks, trace.blocks, strict=True):
        module.ffn(record.ffn.input)


def milliseconds(work: Callable[[], object], device: torch.device) -> float:
    """How long some work takes, until the device has really finished it.

    On CUDA by the GPU's own clock, with events recorded before and after the work.
    """
    if device.type == "cuda":
        return _gpu_milliseconds(work, device)
    _wait_for(device)
    started = time.perf_counter()
    work()
    _wait_for(device)
    return (time.perf_counter() - started) * 1_000


def _gpu_milliseconds(work: Callable[[], object], device: torch.device) -> float:
    with torch.cuda.device(device):
        before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
        torch.cuda.synchronize()
        before.record()
        work()
        after.record()
        torch.cuda.synchronize()
        return float(before.elapsed_time(after))


def _wait_for(device: torch.device) -> None:
    if device.type == "mps":
        torch.mps.synchronize()
