"""The input words nearest to the last stream, for networks without a word head."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional as F

from ffnviz.analysis.needs import Capability
from ffnviz.models.network import Network
from ffnviz.models.trace import ForwardPass

NEEDS: tuple[Capability, ...] = ()


@dataclass(frozen=True)
class NearestWords:
    """The words whose input vectors have the largest cosines with a stream."""

    words: tuple[str, ...]  # how each reads, the nearest first
    ids: NDArray[np.int64]  # their rows, (k,)
    cosines: NDArray[np.float32]  # between the stream and each vector, (k,)


@torch.no_grad()
def nearest_words(network: Network, trace: ForwardPass, token: int, k: int = 10) -> NearestWords:
    """The k entries with the largest cos(stream, E_w) at a token, special ones left out.

    This is no prediction: the stream was not trained to end at a word.

    Raises:
        NotForThisNetwork: if its words have vectors of another width than its stream.
    """
    words = network.input_words
    lengths = (words.variance + words.mean.square()).mul(words.vectors.shape[1]).sqrt()
    stream = F.normalize(trace.blocks[-1].output[token], dim=0)
    cosines = (words.vectors @ stream) / lengths.clamp_min(1e-12)  # (vocab_size,)
    special = [id_ for id_ in network.tokenizer.special_ids if id_ < len(cosines)]
    cosines = cosines.index_fill(0, torch.tensor(special, device=cosines.device).long(), -1.0)
    best = cosines.topk(min(k, len(cosines)))
    ids = best.indices.cpu().numpy()
    return NearestWords(
        tuple(network.tokenizer.label(int(id_)) for id_ in ids), ids, best.values.cpu().numpy()
    )
