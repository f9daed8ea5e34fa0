"""One token's way through one FFN, as vectors."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.model.trace import ForwardPass

Vector = NDArray[np.float32]


@dataclass(frozen=True)
class FfnPath:
    """What enters the FFN, what becomes of it, and the stream it is added to.

    Attributes:
        input: (d_model,).
        pre_activation, hidden: (d_ff,), before and after φ.
        output: (d_model,).
        stream, new_stream: (d_model,), before the FFN and after the block.
    """

    input: Vector
    pre_activation: Vector
    hidden: Vector
    output: Vector
    stream: Vector
    new_stream: Vector


def ffn_path(trace: ForwardPass, block: int, token: int) -> FfnPath:
    """The vectors of one token in one block."""
    record = trace.blocks[block]

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
    )
