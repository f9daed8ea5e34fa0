"""How long a trace takes, and how long its FFNs."""

import time
from collections.abc import Callable

import torch

from ffnviz.analysis.needs import Capability
from ffnviz.models.network import Network
from ffnviz.models.token_slice import usual_token
from ffnviz.models.trace import ForwardPass, Trace

NEEDS: tuple[Capability, ...] = ()


def timed_trace(model: Network, text: str) -> tuple[Trace, float, float]:
    """A text's trace, and the milliseconds that it and its FFNs took, each measured once.

    The trace is timed from the text to the last block or, with a word head, to the usual logits.
    """
    traces: list[Trace] = []

    def whole() -> None:
        traces.append(model.trace(text))
        if model.card.has_word_head:
            traces[0].logits_at(usual_token(traces[0].tokens, model.tokenizer.mask_id))

    total_ms = milliseconds(whole, model.device)
    return traces[0], total_ms, ffn_milliseconds(model, traces[0])


@torch.no_grad()
def ffn_milliseconds(model: Network, trace: ForwardPass) -> float:
    """The milliseconds that all FFNs take on a trace's stream; the trace keeps no result."""
    views = [model.ffn(number) for number in range(len(trace.blocks))]
    inputs = [views[number].reads(block.middle) for number, block in enumerate(trace.blocks)]

    def ffns() -> None:
        for view, x in zip(views, inputs, strict=True):
            view.stages(x)

    return milliseconds(ffns, model.device)


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
