"""Linear pieces: how many depth makes, how many one layer makes, and those along a line of inputs.

f(x) = 2 ReLU(x) − 4 ReLU(x − ½), k times, has 2ᵏ pieces on [0, 1] from 2k units; one hidden layer
of n units has at most n + 1 (Telgarsky 2016, arXiv:1602.04485).
"""

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.needs import Capability
from ffnviz.models.network import Network
from ffnviz.models.trace import ForwardPass

NEEDS = (Capability.PRE_NORM,)
PLACES = 1_025  # points on the line

Array = NDArray[np.float64]


def folded(x: Array, k: int) -> Array:
    """f applied k times to each x, (n,)."""
    for _ in range(k):
        x = 2 * np.maximum(x, 0) - 4 * np.maximum(x - 0.5, 0)
    return x


def one_layer(k: int, n: int) -> tuple[Array, Array]:
    """Bends and changes of slope of n units that follow k folds from 0 on, (n,) each."""
    unit = np.arange(n)
    slope_changes = np.where(unit % 2 == 1, -2.0, 2.0) * 2.0**k
    slope_changes[:1] = 2.0**k
    return unit / 2.0**k, slope_changes


def layer_at(x: Array, bends: Array, slope_changes: Array) -> Array:
    """Σ slope_change · ReLU(x − bend) at each x, (n,)."""
    return np.maximum(x[:, None] - bends, 0) @ slope_changes


@torch.no_grad()
def switches(
    model: Network, trace: ForwardPass, block: int, ends: tuple[int, int], n: int = PLACES
) -> list[NDArray[np.int64]]:
    """How many neurons have switched at each of n points between two tokens' streams.

    Returns:
        For a block of a pre-LN network, and for it with the next one if there is one, (n,) each,
        starting at 0: the number of pieces is one more than the last entry.
    """
    counts: list[NDArray[np.int64]] = [np.zeros(n, dtype=np.int64)]
    for above_zero in _above_zero(model, trace, block, ends, n):
        switched = (above_zero[1:] != above_zero[:-1]).sum(dim=-1).cpu().numpy()
        counts.append(counts[-1] + np.concatenate([[0], switched.cumsum()]))
    return counts[1:]


def _above_zero(
    model: Network, trace: ForwardPass, block: int, ends: tuple[int, int], n: int
) -> Iterator[Tensor]:
    """Whether each pre-activation is above zero in one block, and in the next, (n, d_ff) each."""
    share = torch.linspace(0, 1, n, device=trace.embedding.device)[:, None]

    def line(rows: Tensor) -> Tensor:
        return torch.lerp(rows[ends[0]], rows[ends[1]], share)

    stream = line(trace.blocks[block].middle)
    for number in range(block, len(trace.blocks))[:2]:
        if number > block:  # what attention adds is interpolated too
            stream = stream + line(trace.blocks[number].middle - trace.blocks[block].output)
        view = model.ffn(number)
        record = view.stages(view.reads(stream))
        yield record.pre_activation > 0
        stream = stream + record.output
