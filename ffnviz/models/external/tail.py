"""The rest of a network, from the last stream on: its own norm, head, caps and scales."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import MethodType
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from ffnviz.models.external.watch import stream_out, with_stream

# Set while blocks hand on a given stream instead of computing one.
GIVEN: ContextVar[Tensor | None] = ContextVar("given stream", default=None)
AT_ONCE = 2**27  # logits that are made at once


class HasBlock(Protocol):
    """A block and what it returned when it was watched."""

    @property
    def block(self) -> nn.Module: ...  # noqa: D102
    @property
    def raw(self) -> Any: ...  # noqa: D102


def result_of(returned: Any) -> Tensor:
    """The logits if the network makes any, else the first tensor it returns."""
    logits = getattr(returned, "logits", None)
    if isinstance(logits, Tensor):
        return logits
    first = returned.to_tuple() if hasattr(returned, "to_tuple") else returned
    result: Tensor = stream_out(first)
    return result


@contextmanager
def _skipped(blocks: Sequence[HasBlock], stream: Tensor) -> Iterator[None]:
    token = GIVEN.set(stream)
    try:
        for each in blocks:
            if not getattr(each.block, "_ffnviz_skips", False):
                _make_skippable(each.block, each.raw)
        yield
    finally:
        GIVEN.reset(token)


def _make_skippable(block: nn.Module, raw: Any) -> None:
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


@torch.inference_mode()
def tail(
    model: nn.Module, blocks: Sequence[HasBlock], stream: Tensor, device: torch.device
) -> Tensor:
    """What the network makes of rows of the last stream, (n, d_model) -> (n, vocab_size).

    Each row is a text of one token, so nothing but the stream can tell the result.
    """
    with _skipped(blocks, stream[:, None]):
        ids = torch.zeros((len(stream), 1), dtype=torch.long, device=device)
        return result_of(model(input_ids=ids))[:, 0]
