"""Many sentences at once: what each has for a guess, and the neurons that most of them activate."""

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

WORDS = 3  # of a neuron: the tokens that wake it most, each in another spelling
NEURONS = 12


@dataclass(frozen=True)
class Woken:
    """A neuron and the sentences that wake it."""

    neuron: int  # its number
    sentences: int  # in how many it is awake on a token at least
    mean: float  # over all sentences, of its largest value in each, or zero where that is negative
    # at which tokens it is strongest, as sentence and token, the strongest first
    strongest: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Pool:
    """One network on all sentences."""

    # of the neurons awake, mean over a sentence's tokens, (n,), from 0 to 1
    shares: NDArray[np.float64]
    # of each sentence, the likeliest word at its first [MASK], or after its end for a network that
    # reads from left to right, and its probability; None where there is none
    guesses: tuple[tuple[str, float] | None, ...]
    # the neurons that most sentences wake, most first; of as many, the stronger first
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
    woken = [
        Woken(
            neuron, int(fired[neuron]), float(totals[neuron]) / len(texts),
            _strongest(strongest[:, neuron].where(fires[:, neuron], 0), tokens[:, neuron]),
        )
        for neuron in order
        if fired[neuron] > 0
    ]  # fmt: skip
    return Pool(shares, tuple(guesses), tuple(woken))


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
