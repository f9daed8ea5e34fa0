"""Attention patterns, recorded where a network multiplies them with its values.

Networks do this by PyTorch's fused function, which never holds a pattern, or by a softmax and a
product. Both are recorded from outside, whatever the modules around them are called.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

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

    `target` is asked for the list to add it to; None records nothing.
    """

    def __init__(self, target: Callable[[], list[Mix] | None]) -> None:
        super().__init__()
        self.target = target
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
            mixes.append(_fused(*args, **kwargs))
        elif func in SOFTMAX:
            self.pattern = result
        elif func in PRODUCT and self.pattern is not None:
            first, second = (*args, *kwargs.values())[:2]
            if _is_pattern(first, self.pattern):
                mixes.append(_mix(self.pattern, second))
        return result


def _is_pattern(factor: Tensor, pattern: Tensor) -> bool:
    """Whether a product's factor is the pattern; its heads may stand in one row with the texts."""
    is_one = factor.numel() == pattern.numel() and factor.shape[-2:] == pattern.shape[-2:]
    return is_one and torch.equal(factor, pattern.to(factor.dtype).reshape(factor.shape))


def _mix(weights: Tensor, values: Tensor) -> Mix:
    """A mix of copies with a batch axis; one text's may come as (n_heads, …).

    Values with texts and heads in one row, (B n_heads, T, d_head), are given the pattern's axes.
    """
    if values.ndim < weights.ndim and len(values) == weights.shape[:-2].numel():
        values = values.view(*weights.shape[:-2], *values.shape[1:])
    values = _batched(values.expand(*weights.shape[:-2], *values.shape[-2:])).clone()
    weights = _batched(weights).clone()
    return Mix(lambda: weights, (weights,), values)


def _batched(x: Tensor) -> Tensor:
    return x if x.ndim == 4 else x[None]


def _fused(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,  # noqa: ARG001, as no network is in training mode
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Mix:
    """softmax(s Q Kᵀ + mask), and V, of the arguments of F.scaled_dot_product_attention.

    The pattern is computed when it is asked for: the queries and keys take less than it does.
    """
    group = query.shape[-3] // key.shape[-3] if enable_gqa else 1
    query, key, value = (x.clone() for x in (query, key, value))
    pattern = partial(_pattern, query, key, attn_mask, is_causal, scale, group)
    held = (query, key) if attn_mask is None else (query, key, attn_mask)
    values = value.repeat_interleave(group, -3) if group > 1 else value
    shape = (*query.shape[:-2], *value.shape[-2:])
    return Mix(pattern, held, _batched(values.expand(shape)))


def _pattern(
    query: Tensor,
    key: Tensor,
    attn_mask: Tensor | None,
    is_causal: bool,
    scale: float | None,
    group: int,
) -> Tensor:
    """softmax(s Q Kᵀ + mask), (B, n_heads, T, T), in float32 at least.

    A token that may attend to nothing gathers nothing.
    """
    key = key.repeat_interleave(group, -3)
    wide = torch.promote_types(query.dtype, torch.float32)
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = scale * query.to(wide) @ key.to(wide).mT
    if is_causal:
        future = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)
        scores.masked_fill_(future, -math.inf)
    if attn_mask is None:
        return _batched(scores.softmax(-1))
    if attn_mask.dtype == torch.bool:
        scores = scores.masked_fill(~attn_mask, -math.inf)
    else:
        scores = scores + attn_mask
    return _batched(scores.softmax(-1).nan_to_num_(0))
