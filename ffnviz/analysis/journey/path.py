"""One token's way through one FFN, as vectors."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ffnviz.models.activations import Activation
from ffnviz.models.encoder.feed_forward import GatedFeedForwardRecord
from ffnviz.models.trace import ForwardPass

Vector = NDArray[np.float32]


@dataclass(frozen=True)
class FfnPath:
    """The FFN's input, its stages, and the stream that its output is added to."""

    input: Vector  # (d_model,)
    pre_activation: Vector  # (d_ff,)
    hidden: Vector  # (d_ff,)
    output: Vector  # (d_model,)
    stream: Vector  # before the FFN, (d_model,)
    new_stream: Vector  # after the block, (d_model,)
    gate: Vector | None = None  # φ(pre_activation) of a gated FFN, (d_ff,)
    value: Vector | None = None  # what that is multiplied with, (d_ff,)


def ffn_path(trace: ForwardPass, block: int, token: int, phi: Activation | None = None) -> FfnPath:
    """The vectors of one token in one block; of a gated FFN with what φ makes of the gate."""
    record, ffn = trace.blocks[block], trace.blocks[block].ffn
    stages = ffn.input, ffn.pre_activation, ffn.hidden, ffn.output, record.middle, record.output
    vectors = [stage[token] for stage in stages]
    if isinstance(ffn, GatedFeedForwardRecord) and phi is not None:
        vectors += [phi.function(ffn.pre_activation[token]), ffn.value[token]]
    return FfnPath(*(vector.cpu().numpy() for vector in vectors))
