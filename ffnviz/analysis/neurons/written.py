"""The words that many neurons promote, computed together."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.needs import word_head
from ffnviz.analysis.neurons.memory import can_be_ranked
from ffnviz.models.network import Network

AT_ONCE = 2**25  # scores in memory


@torch.no_grad()
def written_ids(
    network: Network, block: int, neurons: NDArray[np.integer], k: int
) -> NDArray[np.int64]:
    """The k words that each neuron promotes most, as memory.written_words for one, (n,) -> (n, k).

    They are rows in the vocabulary, the highest score first; fewer than k if fewer words stood
    often enough in the training text.

    Raises:
        NotForThisNetwork: without a plain word head.
    """
    values = network.ffn(block).values
    chosen = torch.from_numpy(neurons.astype(np.int64)).to(values.device)
    rows = max(1, AT_ONCE // len(word_head(network)[1].vectors))
    return np.concatenate(
        [promoted_ids(network, values[chunk], k) for chunk in torch.split(chosen, rows)]
    )


@torch.no_grad()
def promoted_ids(network: Network, written: Tensor, k: int) -> NDArray[np.int64]:
    """The words that each vector promotes most, (n, d_model) -> (n, k).

    Raises:
        NotForThisNetwork: without a plain word head.
    """
    head, words = word_head(network)
    vectors = words.vectors
    rows = can_be_ranked(network, len(vectors), vectors.device).nonzero().flatten()
    if head.norm is not None:
        written = head.norm.undivided(written)
    best = (written @ vectors[rows].mT).topk(min(k, len(rows)), dim=-1).indices
    return rows[best].cpu().numpy()
