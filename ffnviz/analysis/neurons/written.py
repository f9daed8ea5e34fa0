"""The words that many neurons write, at once."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.needs import word_head
from ffnviz.analysis.neurons.memory import OFTEN_ENOUGH
from ffnviz.models.network import Network

AT_ONCE = 2**25  # scores


@torch.inference_mode()
def written_ids(
    network: Network, block: int, neurons: NDArray[np.integer], k: int
) -> NDArray[np.int64]:
    """The words that each neuron promotes most, as memory.written_words has them for one.

    Args:
        network: with a plain word head.
        block: from 0.
        neurons: which, (n,).
        k: how many words of each.

    Returns:
        (n, k): rows in the vocabulary, the highest score first; fewer than k where fewer words
        stood often enough in the training text.

    Raises:
        NotForThisNetwork: without a plain word head.
    """
    values, best = network.ffn(block).values, []
    rows = len(word_head(network)[1].vectors)
    for some in np.array_split(neurons, -(-len(neurons) * rows // AT_ONCE) or 1):
        written = values[torch.from_numpy(some.astype(np.int64)).to(values.device)]
        best.append(promoted_ids(network, written, k))
    return np.concatenate(best)


@torch.inference_mode()
def promoted_ids(network: Network, written: Tensor, k: int) -> NDArray[np.int64]:
    """The words that each of some vectors promotes most, (n, d_model) -> (n, k).

    Raises:
        NotForThisNetwork: without a plain word head.
    """
    head, words = word_head(network)
    known = network.card.provenance
    rows = torch.arange(len(words.vectors), device=words.vectors.device)
    if known is not None and known.token_counts is not None:
        rows = rows[known.token_counts.to(rows.device) >= OFTEN_ENOUGH]
    if head.norm is not None:
        written = head.norm.undivided(written)
    best = (written @ words.vectors[rows].mT).topk(min(k, len(rows)), dim=-1).indices
    return rows[best].cpu().numpy()
