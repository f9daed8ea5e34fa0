"""Who attends to whom, seen where a network multiplies its patterns with its values.

Networks do this by PyTorch's fused function, which never holds a pattern, or by a softmax and a
product. Both are seen from outside, whatever the modules around them are called.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

SOFTMAX = (F.softmax, torch.softmax, Tensor.softmax)
PRODUCT = (torch.matmul, Tensor.matmul, Tensor.__matmul__, torch.bmm, Tensor.bmm)


@dataclass(frozen=True, eq=False)
class Mix:
    """One product of patterns and values.

    Attributes:
        weights: how much each token attends to each, (B, n_heads, T, T).
        values: what it gathers from there, (B, n_heads, T, d_head); grouped ones repeated.
    """

    weights: Tensor
    values: Tensor

    @property
    def gathered(self) -> Tensor:
        """What the heads gather, side by side, (B, T, n_heads d_head)."""
        return (self.weights.to(self.values) @ self.values).transpose(1, 2).flatten(-2)


class SeesMixes(TorchFunctionMode):
    """While it is entered, `see` is given each product of patterns and values, in this thread."""

    def __init__(self, see: Callable[[Mix], None], wanted: Callable[[], bool]) -> None:
        super().__init__()
        self.see, self.wanted = see, wanted
        self.pattern: Tensor | None = None  # the last softmax

    def __torch_function__(
        self, func: Any, types: Iterable[type], args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """What PyTorch asks for each of its functions."""
        made = func(*args, **(kwargs or {}))
        if not self.wanted():
            return made
        if func is F.scaled_dot_product_attention:
            self.see(_fused(*args, **(kwargs or {})))
        elif func in SOFTMAX:
            self.pattern = made
        elif func in PRODUCT and self.pattern is not None:
            first, second = (*args, *(kwargs or {}).values())[:2]
            pattern = self.pattern.to(first.dtype)
            if first.shape == pattern.shape and torch.equal(first, pattern):
                self.see(_mix(self.pattern, second))
        return made


def _mix(weights: Tensor, values: Tensor) -> Mix:
    """Heads as an axis of their own, where one text's stand in a row, each with its values."""
    values = values.expand(*weights.shape[:-2], *values.shape[-2:])
    return Mix(*((x if x.ndim == 4 else x[None]).clone() for x in (weights, values)))


def _fused(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,  # noqa: ARG001, as nothing is in training
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Mix:
    """softmax(s Q Kᵀ + mask), and V, of the arguments of F.scaled_dot_product_attention.

    Computed in float32 at least; a token that may attend to nothing gathers nothing.
    """
    group = query.shape[-3] // key.shape[-3] if enable_gqa else 1
    key, value = (x.repeat_interleave(group, -3) for x in (key, value))
    wide = torch.promote_types(query.dtype, torch.float32)
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = scale * query.to(wide) @ key.to(wide).mT
    if is_causal:
        scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1), -math.inf)
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        scores = scores.masked_fill(~attn_mask, -math.inf)
    elif attn_mask is not None:
        scores = scores + attn_mask
    return _mix(scores.softmax(-1).nan_to_num(0), value)
