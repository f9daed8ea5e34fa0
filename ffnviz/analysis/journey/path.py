"""One token's way through one FFN, as vectors."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.models.activations import Activation
from ffnviz.models.encoder.feed_forward import GatedFeedForwardRecord
from ffnviz.models.trace import ForwardPass

Vector = NDArray[np.float32]


@dataclass(frozen=True)
class FfnPath:
    """What enters the FFN, what becomes of it, and the stream it is added to."""

    input: Vector  # (d_model,)
    # pre_activation, hidden: (d_ff,), before and after φ
    pre_activation: Vector
    hidden: Vector
    output: Vector  # (d_model,)
    # stream, new_stream: (d_model,), before the FFN and after the block
    stream: Vector
    new_stream: Vector
    # gate, value: (d_ff,), the two whose product hidden is, if the FFN is gated: φ's result, and
    # the second projection
    gate: Vector | None = None
    value: Vector | None = None


def ffn_path(trace: ForwardPass, block: int, token: int, phi: Activation | None = None) -> FfnPath:
    """The vectors of one token in one block; of a gated FFN with what φ makes of the gate."""
    record = trace.blocks[block]
    gate = value = None
    if isinstance(record.ffn, GatedFeedForwardRecord) and phi is not None:
        value = record.ffn.value[token].cpu().numpy()
        gate = phi.function(record.ffn.pre_activation[token]).cpu().numpy()

    def of_token(values: Tensor) -> Vector:
        vector: Vector = values[token].cpu().numpy()
        return vector

    return FfnPath(
        input=of_token(record.ffn.input),
        pre_activation=of_token(record.ffn.pre_activation),
        hidden=of_token(record.ffn.hidden),
        output=of_token(record.ffn.output),
        stream=of_token(record.middle),
        new_stream=of_token(record.output),
        gate=gate,
        value=value,
    )
