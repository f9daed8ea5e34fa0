"""The rest of a network, from the last stream on: its own norm, head, caps and scales."""

from contextvars import ContextVar
from types import MethodType
from typing import Any

import torch
from torch import Tensor, nn

from ffnviz.models.external.watch import stream_out, with_stream

# While it is set, blocks hand on this stream instead of computing one.
GIVEN: ContextVar[Tensor | None] = ContextVar("given stream", default=None)
AT_ONCE = 2**27  # logits that are computed at once


def result_of(returned: Any) -> Tensor:
    """The logits if the network computes any, else the first tensor it returns."""
    logits = getattr(returned, "logits", None)
    if isinstance(logits, Tensor):
        return logits
    first = returned.to_tuple() if hasattr(returned, "to_tuple") else returned
    result: Tensor = stream_out(first)
    return result


def make_skippable(block: nn.Module, raw: Any) -> None:
    """Have a block hand on the stream that is given, if one is, as it returned its own (`raw`)."""
    if getattr(block, "_ffnviz_skips", False):
        return
    inner: Any = block.forward
    method = getattr(inner, "__func__", None)

    def forward(self: nn.Module, *args: Any, **kwargs: Any) -> Any:
        given = GIVEN.get()
        if given is not None:
            return with_stream(raw, given)
        return method(self, *args, **kwargs) if method else inner(*args, **kwargs)

    # Bound, so that a copy of the network that somebody makes runs its own weights.
    block.forward = MethodType(forward, block)
    block._ffnviz_skips = True  # type: ignore[assignment]


@torch.no_grad()
def tail(model: nn.Module, stream: Tensor) -> Tensor:
    """What a network with skippable blocks makes of rows of its last stream.

    Each row is a text of one token, so nothing but the stream can decide the result:
    (n, d_model) -> (n, vocab_size).
    """
    token = GIVEN.set(stream[:, None])
    try:
        ids = torch.zeros((len(stream), 1), dtype=torch.long, device=stream.device)
        return result_of(model(input_ids=ids))[:, 0]
    finally:
        GIVEN.reset(token)
