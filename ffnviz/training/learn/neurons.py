"""The neurons of a small network while it learns: what activates each, how its key turns."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from ffnviz.models.encoder.encoder import Encoder
from ffnviz.training.masking import Batch

SHOWN = 3


@dataclass(frozen=True)
class Neurons:
    """Each block's neurons at one moment."""

    # entries of the vocabulary on which each is largest anywhere in the held-out sentences, the
    # largest first, (n_blocks, d_ff, SHOWN)
    strongest: NDArray[np.int16]
    # cosine of each row of W₁ with what it was at the beginning, (n_blocks, d_ff)
    turned: NDArray[np.float16]


@torch.no_grad()
def keys_of(encoder: Encoder) -> Tensor:
    """A copy of all keys, the rows of W₁, (n_blocks, d_ff, d_model)."""
    return torch.stack([block.ffn.expand.weight for block in encoder.blocks])


@torch.no_grad()
def look_at_neurons(encoder: Encoder, first: Tensor, batches: Sequence[Batch]) -> Neurons:
    """All neurons on batches of sentences, without dropout; `first` are the keys at the start."""
    encoder.eval()
    ids = torch.cat([batch.inputs.flatten() for batch in batches]).numpy()
    records = [encoder.stream(batch.inputs).blocks for batch in batches]
    hidden = [torch.cat([record.ffn.hidden.flatten(0, 1) for record in block]).numpy()
              for block in zip(*records, strict=True)]  # fmt: skip
    turned = F.cosine_similarity(keys_of(encoder), first, dim=-1)
    return Neurons(np.stack([_strongest(ids, each) for each in hidden]), turned.half().numpy())


def _strongest(ids: NDArray[np.int64], hidden: NDArray[np.float32]) -> NDArray[np.int16]:
    """The entries with the largest activations anywhere, (d_ff, SHOWN)."""
    order = np.argsort(ids, kind="stable")
    entries, begins = np.unique(ids[order], return_index=True)
    most = np.maximum.reduceat(hidden[order], begins, axis=0)  # (n_entries, d_ff)
    return entries[np.argsort(-most, axis=0, kind="stable")[:SHOWN].T].astype(np.int16)
