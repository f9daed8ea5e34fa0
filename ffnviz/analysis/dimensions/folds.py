"""Fold twice: pieces that depth makes, one layer's, and those along a line through the network.

f(x) = 2 ReLU(x) − 4 ReLU(x − ½), k times, has 2ᵏ pieces on [0, 1] from 2k units; one hidden layer
of n units has at most n + 1 (Telgarsky 2016, arXiv:1602.04485).
"""

import itertools
from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.needs import Capability
from ffnviz.models.network import Network
from ffnviz.models.trace import ForwardPass

NEEDS = (Capability.PRE_NORM,)
PLACES = 1_025  # along the line through the network

Array = NDArray[np.float64]


def folded(x: Array, k: int) -> Array:
    """f ∘ … ∘ f, k times, at each x, (n,)."""
    for _ in range(k):
        x = 2 * np.maximum(x, 0) - 4 * np.maximum(x - 0.5, 0)
    return x


def one_layer(k: int, n: int) -> tuple[Array, Array]:
    """Where n units of one hidden layer bend to follow k folds from 0 on, and by how much, (n,)."""
    at = np.arange(n)
    turns = np.where(at % 2 == 1, -2.0, 2.0) * 2.0**k
    turns[:1] = 2.0**k
    return at / 2.0**k, turns


def layer_at(x: Array, bends: Array, turns: Array) -> Array:
    """Σ turn ReLU(x − bend) at each x, (n,)."""
    return np.maximum(x[:, None] - bends, 0) @ turns


@torch.inference_mode()
def switches(
    model: Network, trace: ForwardPass, block: int, ends: tuple[int, int], n: int = PLACES
) -> list[NDArray[np.int64]]:
    """How many neurons have switched on the way from one token's stream to another's.

    Args:
        model: a pre-LN network.
        trace: of the sentence.
        block: the first, from 0; the next one follows, if there is one.
        ends: the two tokens.
        n: places that are looked at.

    Returns:
        For the first block alone, and for both, (n,) each, beginning with 0: one more than the last
        is the number of pieces.
    """
    counts: list[NDArray[np.int64]] = [np.zeros(n, dtype=np.int64)]
    for signs in _signs(model, trace, block, ends, n):
        changed = (signs[1:] != signs[:-1]).sum(dim=-1).cpu().numpy()
        counts.append(counts[-1] + np.concatenate([[0], changed.cumsum()]))
    return counts[1:]


def _signs(
    model: Network, trace: ForwardPass, block: int, ends: tuple[int, int], n: int
) -> Iterator[Tensor]:
    """Which pre-activations are above zero in one block, and in the next, (n, d_ff) each."""
    share = torch.linspace(0, 1, n, device=trace.embedding.device)[:, None]

    def line(rows: Tensor) -> Tensor:
        return torch.lerp(rows[ends[0]], rows[ends[1]], share)

    stream = line(trace.blocks[block].middle)
    for number, after in itertools.pairwise([*range(block, len(trace.blocks))[:2], None]):
        if number is None:
            return
        view = model.ffn(number)
        record = view.stages(view.reads(stream))
        yield record.pre_activation > 0
        if after is not None:
            stream = stream + record.output
            stream = stream + line(trace.blocks[after].middle - trace.blocks[number].output)
