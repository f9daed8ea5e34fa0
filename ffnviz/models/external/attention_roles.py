"""Which module's output the attention adds to the stream, found from the values of one pass."""

from dataclasses import dataclass

import torch
from torch import nn

from ffnviz.models.external.compare import TOLERANCE, rows
from ffnviz.models.external.ffn_roles import FfnRoles
from ffnviz.models.external.stream_roles import PARALLEL, StreamRoles, fitted
from ffnviz.models.external.watch import BlockPass


@dataclass(frozen=True, eq=False)
class AttentionRoles:
    """m = x + r a, before any norm of the sum.

    Attributes:
        module: writes a.
        multiplier: r, fitted.
    """

    module: nn.Module
    multiplier: float


@torch.inference_mode()
def find_attention(seen: BlockPass, ffn: FfnRoles, stream: StreamRoles) -> AttentionRoles | None:
    """The last module in front of the FFN that wrote what came into the stream; None if none did.

    One that runs twice in a block writes something else, too, and is passed over.
    """
    if stream.kind == PARALLEL:
        call = stream.attention
        return None if call is None else AttentionRoles(call.module, stream.multiplier)
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
                return AttentionRoles(call.module, r)
    return None
