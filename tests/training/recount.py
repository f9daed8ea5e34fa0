"""The figures of a validation, counted again in float64 NumPy from whole traces."""

from dataclasses import dataclass

import numpy as np
import torch

from ffnviz.models.encoder.encoder import Encoder
from ffnviz.training.masking import Batch
from tests.models.reference import Array, as_array


@dataclass(frozen=True)
class Recount:
    """Loss in nats, hits, and all hidden values of each block, (n_tokens, d_ff)."""

    loss: float
    top1: float
    top5: float
    n_masked: int
    hidden: list[Array]


def recount(encoder: Encoder, batches: list[Batch]) -> Recount:
    """Sort the logits at every masked position; keep every hidden value."""
    was_training = encoder.training
    encoder.eval()
    losses, ranks = [], []
    hidden: list[list[Array]] = [[] for _ in encoder.blocks]
    for batch in batches:
        with torch.no_grad():
            trace = encoder(batch.inputs)
        logits = as_array(trace.logits)[batch.masked.numpy()]
        of_target = logits[np.arange(len(logits)), batch.targets.numpy()]
        losses.append(np.log(np.exp(logits - of_target[:, None]).sum(axis=1)))
        ranks.append((logits > of_target[:, None]).sum(axis=1))
        for values, block in zip(hidden, trace.blocks, strict=True):
            values.append(as_array(block.ffn.hidden).reshape(-1, encoder.config.d_ff))
    encoder.train(was_training)
    all_ranks = np.concatenate(ranks)
    return Recount(
        loss=float(np.concatenate(losses).mean()),
        top1=float((all_ranks == 0).mean()),
        top5=float((all_ranks < 5).mean()),
        n_masked=len(all_ranks),
        hidden=[np.concatenate(values) for values in hidden],
    )
