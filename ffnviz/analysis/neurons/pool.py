"""Many sentences at once: the share of neurons that each wakes, and which most of them wake."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from ffnviz.analysis.sparsity.awake import active, awake, threshold_for
from ffnviz.analysis.spread import Progress
from ffnviz.model.network import Network

WORDS = 3  # of a neuron: the tokens that wake it most, each in another spelling
NEURONS = 12


@dataclass(frozen=True)
class Woken:
    """A neuron and the sentences that wake it.

    Attributes:
        neuron: its number.
        sentences: in how many it is awake on a token at least.
        strongest: at which tokens it is strongest, as sentence and token, the strongest first.
    """

    neuron: int
    sentences: int
    strongest: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Pool:
    """One network on all sentences.

    Attributes:
        shares: of the neurons awake, mean over a sentence's tokens, (n,), from 0 to 1.
        woken: the neurons that most sentences wake, most first; of as many, the stronger first.
    """

    shares: NDArray[np.float64]
    woken: tuple[Woken, ...]


@torch.inference_mode()
def read_pool(
    network: Network, texts: Sequence[str], block: int, progress: Progress = lambda _: None
) -> Pool:
    """What a block makes of each of the sentences; none may be empty."""
    threshold = threshold_for(network.card.phi)
    d_ff = network.sizes.d_ff
    shares, strongest = np.zeros(len(texts)), torch.zeros(len(texts), d_ff)
    tokens = torch.zeros(len(texts), d_ff, dtype=torch.long)
    for place, text in enumerate(texts):
        trace = network.trace(text)
        shares[place] = awake(trace, block, threshold).share
        largest = trace.blocks[block].ffn.hidden.float().cpu().abs().max(dim=0)
        strongest[place], tokens[place] = largest.values, largest.indices
        progress((place + 1) / len(texts))
    fires = active(strongest, threshold)  # (n, d_ff)
    fired, totals = fires.sum(dim=0), strongest.sum(dim=0)
    order = sorted(range(d_ff), key=lambda n: (-int(fired[n]), -float(totals[n])))[:NEURONS]
    woken = [
        Woken(
            neuron, int(fired[neuron]),
            _strongest(strongest[:, neuron].where(fires[:, neuron], 0), tokens[:, neuron]),
        )
        for neuron in order
        if fired[neuron] > 0
    ]  # fmt: skip
    return Pool(shares, tuple(woken))


def _strongest(values: torch.Tensor, tokens: torch.Tensor) -> tuple[tuple[int, int], ...]:
    best = values.argsort(descending=True)[: 4 * WORDS].tolist()
    return tuple((place, int(tokens[place])) for place in best if values[place] > 0)
