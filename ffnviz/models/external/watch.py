"""One watched pass through an unmodified network: what each module of a block read and wrote."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from ffnviz.models.external.attention_mix import Mix, MixRecorder


class PassEnded(Exception):  # noqa: N818, as nothing is wrong
    """Raised by a hook to end a pass once everything that is needed was computed."""


@dataclass(frozen=True, eq=False)
class Call:
    """One module's part of a pass."""

    module: nn.Module  # the module
    name: str  # within its block; for people, nothing is decided by it
    # input, output: what it read and wrote, copies, (…, width)
    input: Tensor
    output: Tensor


@dataclass(eq=False)
class BlockPass:
    """One pass through one block; a block that is used again has another."""

    block: nn.Module  # the module
    # input, output: the stream before and after it, (B, T, d_model)
    input: Tensor
    output: Tensor
    raw: Any = None  # all that the block returned, the stream first
    # of the modules within, in the order in which they ended
    calls: list[Call] = field(default_factory=list)
    mixes: list[Mix] = field(default_factory=list)  # products of patterns and values, in order


def stream_in(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Tensor | None:
    """The first tensor of floats among what a module was called with."""
    values = (*args, *kwargs.values())
    return next((x for x in values if isinstance(x, Tensor) and x.is_floating_point()), None)


def with_stream_in(
    args: tuple[Any, ...], kwargs: dict[str, Any], stream: Tensor
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The same call with another stream."""
    old = stream_in(args, kwargs)
    return (
        tuple(stream if x is old else x for x in args),
        {name: stream if x is old else x for name, x in kwargs.items()},
    )


def stream_out(returned: Any) -> Any:
    """What a module wrote: the first of what it returned."""
    return returned[0] if isinstance(returned, tuple | list) and returned else returned


def with_stream(returned: Any, stream: Tensor) -> Any:
    """What a module returned, with another stream."""
    if isinstance(returned, tuple | list):
        return type(returned)((stream, *returned[1:]))
    return stream


def is_leaf(module: nn.Module) -> bool:
    """Whether no other module is within it."""
    return next(module.children(), None) is None


@torch.no_grad()
def watch(
    model: nn.Module, blocks: Sequence[nn.Module], ids: Tensor
) -> tuple[Any, list[BlockPass]]:
    """What the network returned for ids, (B, T), and each pass through a block."""
    passes: list[BlockPass] = []
    running: list[BlockPass] = []  # the innermost last

    def keep(call: Call) -> None:
        if running:
            running[-1].calls.append(call)

    with ExitStack() as hooks:
        for block in blocks:
            _watch_block(block, passes, running, hooks)
            for name, module in block.named_modules():
                if module is not block:
                    watch_module(module, name, keep, hooks)
        with MixRecorder(lambda: running[-1].mixes if running else None):
            returned = model(input_ids=ids)
    return returned, passes


def _watch_block(
    block: nn.Module, passes: list[BlockPass], running: list[BlockPass], hooks: ExitStack
) -> None:
    def enter(_: nn.Module, args: Any, kwargs: Any) -> None:
        stream = _copied_input(args, kwargs)
        running.append(BlockPass(block, stream, stream))

    def leave(_: nn.Module, _args: Any, returned: Any) -> None:
        ended, wrote = running.pop(), stream_out(returned)
        if ended.input.numel() and isinstance(wrote, Tensor):
            ended.output, ended.raw = wrote.clone(), returned
            passes.append(ended)

    hooks.callback(block.register_forward_pre_hook(enter, with_kwargs=True).remove)
    hooks.callback(block.register_forward_hook(leave).remove)


def watch_module(
    module: nn.Module, name: str, keep: Callable[[Call], None], hooks: ExitStack
) -> None:
    """Hand each of the module's calls to `keep`, for as long as the hooks stay.

    Everything is copied when it is seen: some networks add in place afterwards.
    """
    inputs: list[Tensor] = []

    def before(_: nn.Module, args: Any, kwargs: Any) -> None:
        inputs.append(_copied_input(args, kwargs))

    def after(_: nn.Module, _args: Any, returned: Any) -> None:
        read, wrote = inputs.pop(), stream_out(returned)
        if isinstance(wrote, Tensor) and wrote.is_floating_point() and read.numel():
            keep(Call(module, name, read, wrote.clone()))

    hooks.callback(module.register_forward_pre_hook(before, with_kwargs=True).remove)
    hooks.callback(module.register_forward_hook(after).remove)


def _copied_input(args: Any, kwargs: Any) -> Tensor:
    stream = stream_in(args, kwargs)
    return torch.empty(0) if stream is None else stream.clone()
