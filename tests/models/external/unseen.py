"""An attention that no equation of ours holds for: softmax with a place that nobody stands at."""

from typing import Any

import torch
from torch import Tensor
from transformers import AttentionInterface

SINK = "sink"  # what config.json calls it


def sink(
    _: Any, query: Tensor, key: Tensor, value: Tensor, *__: Any, scaling: float, **___: Any
) -> tuple[Tensor, None]:
    """Rows of the pattern sum to less than one; nobody hears what comes later."""
    scores = torch.einsum("bhid,bhjd->bhij", query, key) * scaling
    scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1), -1e9)
    weights = torch.cat([scores, torch.zeros_like(scores[..., :1])], -1).softmax(-1)[..., :-1]
    return (weights @ value).transpose(1, 2).contiguous(), None


AttentionInterface.register(SINK, sink)
