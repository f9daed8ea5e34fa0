"""A network on many sentences: its guess in each, and the neurons that most of them activate."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from ffnviz.analysis.prediction import predict
from ffnviz.analysis.sparsity.awake import active, awake, threshold_for
from ffnviz.analysis.spread import Progress
from ffnviz.models.network import Network
from ffnviz.models.trace import Trace

WORDS = 3  # shown of a neuron's strongest tokens, each in another spelling
NEURONS = 12


@dataclass(frozen=True)
class SharedNeuron:
    """A neuron and the sentences that activate it."""

    neuron: int
    sentences: int  # the number of those in which it is active on at least one token
    mean: float  # over all sentences, of its largest |hidden| in each
    strongest: tuple[tuple[int, int], ...]  # sentence and token, the strongest first


@dataclass(frozen=True)
class Pool:
    """One network on all sentences."""

    shares: NDArray[np.float64]  # of active values in each sentence, (n,), from 0 to 1
    # for each sentence, the likeliest word at its first [MASK], or after its end for a causal
    # network, and its probability; None where there is none
    guesses: tuple[tuple[str, float] | None, ...]
    shared: tuple[SharedNeuron, ...]  # active in most sentences first, then the strongest


@torch.no_grad()
def read_pool(
    network: Network, texts: Sequence[str], block: int, progress: Progress = lambda _: None
) -> Pool:
    """Run a network on each sentence; none may be empty."""
    threshold = threshold_for(network.card.phi)
    d_ff = network.sizes.d_ff
    shares, strongest = np.zeros(len(texts)), torch.zeros(len(texts), d_ff)
    tokens = torch.zeros(len(texts), d_ff, dtype=torch.long)
    guesses = []
    for place, text in enumerate(texts):
        trace = network.trace(text)
        guesses.append(_guess(network, trace))
        shares[place] = awake(trace, block, threshold).share
        largest = trace.blocks[block].ffn.hidden.float().cpu().abs().max(dim=0)
        strongest[place], tokens[place] = largest.values, largest.indices
        progress((place + 1) / len(texts))
    fires = active(strongest, threshold)  # (n, d_ff)
    fired, totals = fires.sum(dim=0), strongest.sum(dim=0)
    order = sorted(range(d_ff), key=lambda n: (-int(fired[n]), -float(totals[n])))[:NEURONS]
    shared = [
        SharedNeuron(
            neuron, int(fired[neuron]), float(totals[neuron]) / len(texts),
            _strongest(strongest[:, neuron].where(fires[:, neuron], 0), tokens[:, neuron]),
        )
        for neuron in order
        if fired[neuron] > 0
    ]  # fmt: skip
    return Pool(shares, tuple(guesses), tuple(shared))


def _guess(network: Network, trace: Trace) -> tuple[str, float] | None:
    masks = [at for at, token in enumerate(trace.tokens) if token.id == network.tokenizer.mask_id]
    at = masks[0] if masks else len(trace.tokens) - 1 if network.card.causal else None
    if at is None or not network.card.has_word_head:
        return None
    likeliest = predict(network, trace, at, 1)
    return likeliest.words[0], float(likeliest.probabilities[0])


def _strongest(values: torch.Tensor, tokens: torch.Tensor) -> tuple[tuple[int, int], ...]:
    best = values.argsort(descending=True)[: 4 * WORDS].tolist()
    return tuple((place, int(tokens[place])) for place in best if values[place] > 0)
