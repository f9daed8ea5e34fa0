"""Which module writes what the attention adds to the stream, found from the values of one pass.

Its heads are found, too, where these equations hold:

A1  each row of a pattern sums to one
A2  (pattern · values of all heads) W_O + b_O is what the attention writes
"""

from dataclasses import dataclass

import torch
from torch import nn

from ffnviz.models.external.compare import TOLERANCE, error, rows, same, wide
from ffnviz.models.external.ffn_roles import FfnRoles
from ffnviz.models.external.linear import as_product, is_linear
from ffnviz.models.external.stream_roles import StreamRoles, fitted
from ffnviz.models.external.watch import BlockPass, Call


@dataclass(frozen=True, eq=False)
class HeadRoles:
    """Where a block's heads are recorded."""

    place: int  # of their product among the block's products of patterns and values
    reads: nn.Module  # the first module that reads what the attention reads
    out: Call  # W_O: what it read and wrote when it was proved
    n_heads: int


@dataclass(frozen=True, eq=False)
class AttentionRoles:
    """m = x + r a, before any norm of the sum."""

    module: nn.Module  # writes a
    multiplier: float  # r, fitted
    heads: HeadRoles | None  # None if A1 and A2 hold for no product of patterns and values


@torch.no_grad()
def find_attention(seen: BlockPass, ffn: FfnRoles, stream: StreamRoles) -> AttentionRoles | None:
    """The last module before the FFN whose output was added to the stream; None if there is none.

    A module that runs twice in a block writes something else, too, and is passed over.
    """
    if stream.attention is not None:  # parallel
        heads = _find_heads(seen, ffn, stream.attention)
        return AttentionRoles(stream.attention.module, stream.multiplier, heads)
    norm = stream.norm_before or stream.middle_norm
    x, total = rows(seen.input), rows(norm.input if norm else ffn.up.input)
    modules = [call.module for call in seen.calls]
    for call in reversed(seen.calls[: seen.calls.index(ffn.up)]):
        if call.output.numel() == x.numel() and call.output.shape[-1] == x.shape[-1]:
            r, _, apart = fitted(total, x, rows(call.output))
            if apart <= TOLERANCE[seen.input.dtype] and modules.count(call.module) == 1:
                return AttentionRoles(call.module, r, _find_heads(seen, ffn, call))
    return None


def _find_heads(seen: BlockPass, ffn: FfnRoles, wrote: Call) -> HeadRoles | None:
    """The product of patterns and values that what was written, or a norm of it, comes from."""
    of_ffn = (ffn.up, ffn.gate, ffn.down)
    linear = [call for call in seen.calls if is_linear(call.module) and call not in of_ffn]
    for place, mix in enumerate(seen.mixes):
        sums = wide(mix.weights).sum(-1)
        a1 = error(sums, sums.new_ones(sums.shape))
        for call in linear:
            if same(call.output, wrote.output) or same(call.output, wrote.input):
                a2 = max(error(mix.gathered, call.input), as_product(call)[2])
                if max(a1, a2) <= TOLERANCE[seen.input.dtype]:
                    return HeadRoles(place, linear[0].module, call, mix.weights.shape[1])
    return None
