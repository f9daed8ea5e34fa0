"""A neuron's values on a sentence, and the strongest neurons on a token."""

import numpy as np
from numpy.typing import NDArray

from ffnviz.models.trace import ForwardPass


def neuron_values(trace: ForwardPass, block: int, neuron: int) -> NDArray[np.float32]:
    """A neuron's hidden values, (T,)."""
    return trace.blocks[block].ffn.hidden[:, neuron].cpu().numpy()


def strongest_neuron(trace: ForwardPass, block: int, token: int) -> int:
    """The neuron with the largest |hidden| on a token."""
    return int(trace.blocks[block].ffn.hidden[token].abs().argmax())


def strongest_neurons(trace: ForwardPass, block: int, token: int, k: int) -> list[int]:
    """The k neurons with the largest |hidden| on a token, the strongest first."""
    hidden = trace.blocks[block].ffn.hidden[token].abs()
    return hidden.topk(min(k, len(hidden))).indices.tolist()
