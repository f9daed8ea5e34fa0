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
