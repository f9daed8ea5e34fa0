"""Which module's output the attention adds to the stream, found from the values of one pass.

And, where these equations hold, what its heads do:

A1  each row of a pattern sums to one
A2  (pattern · values of all heads) W_O + b_O is what the attention writes
"""

from dataclasses import dataclass

import torch
from torch import nn

from ffnviz.models.external.compare import TOLERANCE, error, rows, same
from ffnviz.models.external.ffn_roles import FfnRoles
from ffnviz.models.external.linear import as_product, is_linear
from ffnviz.models.external.stream_roles import PARALLEL, StreamRoles, fitted
from ffnviz.models.external.watch import BlockPass, Call


@dataclass(frozen=True, eq=False)
class HeadRoles:
    """Where a block's heads are seen.

    Attributes:
        place: of their product of patterns and values, among those of a pass through the block.
        reads: the first module that reads what the attention reads.
        error: the largest of A1 and A2.
    """

    place: int
    reads: nn.Module
    error: float


@dataclass(frozen=True, eq=False)
class AttentionRoles:
    """m = x + r a, before any norm of the sum.

    Attributes:
        module: writes a.
        multiplier: r, fitted.
        heads: what its heads do; None if the equations hold for nothing that was seen.
    """

    module: nn.Module
    multiplier: float
    heads: HeadRoles | None


@torch.inference_mode()
def find_attention(seen: BlockPass, ffn: FfnRoles, stream: StreamRoles) -> AttentionRoles | None:
    """The last module in front of the FFN that wrote what came into the stream; None if none did.

    One that runs twice in a block writes something else, too, and is passed over.
    """
    if stream.kind == PARALLEL:
        call = stream.attention
        if call is None:
            return None
        return AttentionRoles(call.module, stream.multiplier, _find_heads(seen, ffn, call))
    if stream.norm_before is not None:
        total = rows(stream.norm_before.input)
    elif stream.middle_norm is not None:
        total = rows(stream.middle_norm.input)
    else:
        total = rows(ffn.up.input)
    x, place = rows(seen.input), seen.calls.index(ffn.up)
    ran = [call.module for call in seen.calls]
    for call in reversed(seen.calls[:place]):
        if call.output.numel() == x.numel() and call.output.shape[-1] == x.shape[-1]:
            r, _, off = fitted(total, x, rows(call.output))
            if off <= TOLERANCE[seen.input.dtype] and ran.count(call.module) == 1:
                return AttentionRoles(call.module, r, _find_heads(seen, ffn, call))
    return None


def _find_heads(seen: BlockPass, ffn: FfnRoles, wrote: Call) -> HeadRoles | None:
    """The product of patterns and values from which comes what was written, or a norm of it."""
    tolerance = TOLERANCE[seen.input.dtype]
    fed = (ffn.up, ffn.gate, ffn.down)
    linear = [call for call in seen.calls if is_linear(call.module) and call not in fed]
    for place, mix in enumerate(seen.mixes):
        sums = mix.weights.float().sum(-1)
        off = error(sums, sums.new_ones(sums.shape))
        for call in linear:
            if not (same(call.output, wrote.output) or same(call.output, wrote.input)):
                continue
            apart = max(off, error(mix.gathered, call.input), as_product(call)[2])
            if apart <= tolerance:
                return HeadRoles(place, linear[0].module, apart)
    return None
