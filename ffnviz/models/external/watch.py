"""One watched pass through an unmodified network: what each module of a block read and wrote.

Attention's patterns and values, too: networks multiply them by PyTorch's fused function, which
never holds a pattern, or by a softmax and a product. Both are recorded from outside.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.modules.conv import _ConvNd
from torch.overrides import TorchFunctionMode

from ffnviz.models.external.refusal import NotProvedError


def find_blocks(model: nn.Module) -> list[nn.Module]:
    """The modules that the stream runs through, each once.

    They are of the class that transformers itself records as `hidden_states`; where it records
    none, the list of modules that is as long as the configuration says there are blocks.
    """
    kinds: set[type] = set()
    for module in model.modules():
        outputs: Any = getattr(module, "_can_record_outputs", None) or {}
        entry = outputs.get("hidden_states")
        for each in entry if isinstance(entry, list | tuple) else [entry]:
            kind = getattr(each, "target_class", each)
            if isinstance(kind, type):
                kinds.add(kind)
    recorded = [module for module in model.modules() if isinstance(module, tuple(kinds))]
    if recorded:
        return recorded
    depth = getattr(text_config(model), "num_hidden_layers", None)
    if depth == 0:
        raise NotProvedError("E4", "its config.json gives it 0 blocks, so there is no FFN to show")
    for module in model.modules():
        if isinstance(module, nn.ModuleList) and len(module) == depth:
            return list(module)
    raise NotProvedError("E4", "it has no list of blocks that one stream runs through")


def text_config(model: Any) -> Any:
    """The part of a network's configuration that is about text, or all of it."""
    try:
        return model.config.get_text_config()
    except ValueError:  # there are several
        return model.config


def n_experts(block: nn.Module, d_model: int) -> int:
    """How many experts a block chooses among, seen from its weights; 0 if it is not a mixture.

    A router scores n experts by a matrix (n, d_model) (Shazeer et al. 2017, section 2.1). They are
    n modules of one class, or their matrices are stacked to (n, …, …).
    """
    scored, stacked = set[int](), set[int]()
    for module in block.modules():
        children = list(module.children())
        if isinstance(module, nn.ModuleList | nn.ModuleDict) and len({*map(type, children)}) == 1:
            stacked.add(len(children))
        if isinstance(module, _ConvNd):
            continue
        for weight in module.parameters(recurse=False):
            if weight.dim() == 2 and weight.shape[1] == d_model:
                scored.add(len(weight))
            elif weight.dim() == 3:
                stacked.add(len(weight))
    return max((n for n in scored & stacked if n > 1), default=0)


SOFTMAX = (F.softmax, torch.softmax, Tensor.softmax)
PRODUCT = (torch.matmul, Tensor.matmul, Tensor.__matmul__, torch.bmm, Tensor.bmm)


@dataclass(frozen=True, eq=False)
class Mix:
    """One product of patterns and values."""

    pattern: Callable[[], Tensor]  # computes `weights`
    held: tuple[Tensor, ...]  # what it computes them from
    values: Tensor  # what each token offers, (B, n_heads, T, d_head); grouped ones repeated

    @cached_property
    def weights(self) -> Tensor:
        """How much each token attends to each, (B, n_heads, T, T)."""
        return self.pattern()

    @property
    def gathered(self) -> Tensor:
        """The heads' weighted sums of values, side by side, (B, T, n_heads d_head)."""
        return (self.weights.to(self.values) @ self.values).transpose(1, 2).flatten(-2)


class MixRecorder(TorchFunctionMode):
    """A context that records each product of patterns and values that this thread computes.

    `target` is asked for the list to add it to; None records nothing. `keep` is given each factor,
    and what it returns is kept.
    """

    def __init__(
        self, target: Callable[[], list[Mix] | None], keep: Callable[[Tensor], Tensor]
    ) -> None:
        super().__init__()
        self.target, self.keep = target, keep
        self.pattern: Tensor | None = None  # the last softmax

    def __torch_function__(
        self, func: Any, types: Iterable[type], args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """What PyTorch calls in place of each of its functions."""
        kwargs = kwargs or {}
        result, mixes = func(*args, **kwargs), self.target()
        if mixes is None:
            return result
        if func is F.scaled_dot_product_attention:
            mixes.append(_fused(self.keep, *args, **kwargs))
        elif func in SOFTMAX:
            self.pattern = result
        elif func in PRODUCT and self.pattern is not None:
            first, second = (*args, *kwargs.values())[:2]
            if _is_pattern(first, self.pattern):
                mixes.append(_mix(self.keep, self.pattern, second))
        return result


def _is_pattern(factor: Tensor, pattern: Tensor) -> bool:
    """Whether a product's factor is the pattern; its heads may stand in one row with the texts."""
    is_one = factor.numel() == pattern.numel() and factor.shape[-2:] == pattern.shape[-2:]
    return is_one and torch.equal(factor, pattern.to(factor.dtype).reshape(factor.shape))


def _mix(keep: Callable[[Tensor], Tensor], weights: Tensor, values: Tensor) -> Mix:
    """A mix with a batch axis; values with texts and heads in one row get the pattern's axes."""
    if values.ndim < weights.ndim and len(values) == weights.shape[:-2].numel():
        values = values.view(*weights.shape[:-2], *values.shape[1:])
    values = keep(_batched(values.expand(*weights.shape[:-2], *values.shape[-2:])))
    weights = keep(_batched(weights))
    return Mix(lambda: weights, (weights,), values)


def _batched(x: Tensor) -> Tensor:
    return x if x.ndim == 4 else x[None]


def _fused(
    keep: Callable[[Tensor], Tensor],
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,  # noqa: ARG001, as no network is in training mode
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Mix:
    """softmax(s Q Kᵀ + mask), on demand, and V, of the arguments of PyTorch's fused function."""
    group = query.shape[-3] // key.shape[-3] if enable_gqa else 1
    query, key, value = map(keep, (query, key, value))
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale

    def pattern() -> Tensor:
        """In float32 at least; a token that may attend to nothing gathers nothing."""
        wide = torch.promote_types(query.dtype, torch.float32)
        scores = scale * query.to(wide) @ key.repeat_interleave(group, -3).to(wide).mT
        if is_causal:  # a sum, as it is faster than filling by a mask
            scores += torch.full_like(scores[0, 0], -math.inf).triu_(1)
        if attn_mask is None:
            return _batched(scores.softmax(-1))
        forbids = attn_mask.dtype == torch.bool  # rather than being added
        scores = scores.masked_fill(~attn_mask, -math.inf) if forbids else scores + attn_mask
        return _batched(scores.softmax(-1).nan_to_num_(0))

    held = (query, key) if attn_mask is None else (query, key, attn_mask)
    values = value.repeat_interleave(group, -3) if group > 1 else value
    shape = (*query.shape[:-2], *value.shape[-2:])
    return Mix(pattern, held, _batched(values.expand(shape)))


class PassEnded(Exception):  # noqa: N818, as nothing is wrong
    """Raised by a hook to end a pass once everything that is needed was computed."""


@dataclass(frozen=True, eq=False)
class Call:
    """One module's part of a pass."""

    module: nn.Module  # the module
    name: str  # within its block; for people, nothing is decided by it
    input: Tensor  # what it read, a copy, (…, width)
    output: Tensor  # what it wrote, likewise


@dataclass(eq=False)
class BlockPass:
    """One pass through one block; a block that is used again has another."""

    block: nn.Module  # the module
    input: Tensor  # the stream before it, (B, T, d_model)
    output: Tensor  # and after it
    raw: Any = None  # all that the block returned, the stream first
    calls: list[Call] = field(default_factory=list)  # of the modules within, as they ended
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

    def enter(block: nn.Module, args: Any, kwargs: Any) -> None:
        stream = _copied_input(args, kwargs)
        running.append(BlockPass(block, stream, stream))

    def leave(_: nn.Module, _args: Any, returned: Any) -> None:
        ended, wrote = running.pop(), stream_out(returned)
        if ended.input.numel() and isinstance(wrote, Tensor):
            ended.output, ended.raw = wrote.clone(), returned
            passes.append(ended)

    def keep(call: Call) -> None:
        if running:
            running[-1].calls.append(call)

    with ExitStack() as hooks:
        for block in blocks:
            hooks.callback(block.register_forward_pre_hook(enter, with_kwargs=True).remove)
            hooks.callback(block.register_forward_hook(leave).remove)
            for name, module in block.named_modules():
                if module is not block:
                    watch_module(module, name, keep, hooks)
        with MixRecorder(lambda: running[-1].mixes if running else None, Tensor.clone):
            returned = model(input_ids=ids)
    return returned, passes


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
