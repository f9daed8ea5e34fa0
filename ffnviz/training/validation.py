"""The measurements of a training run at each validation point."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from ffnviz.models.encoder.encoder import Encoder
from ffnviz.training.masking import Batch

NEAR_ZERO = (0.01, 0.1)


@dataclass(frozen=True)
class BlockActivity:
    """The sparsity of one block's FFN on the validation tokens."""

    active: float  # share of hidden values above zero
    near_zero: dict[str, float]  # for each threshold, the share of hidden values within it of zero
    never_active: float  # share of units that are above zero on no token
    never_active_units: list[int]  # which these are


@dataclass(frozen=True)
class Point:
    """The results on some validation batches."""

    loss: float  # mean cross-entropy on the masked tokens, in nats
    top1: float  # share of masked tokens that are the likeliest
    top5: float  # share of masked tokens among the five likeliest
    n_tokens: int
    n_masked: int
    blocks: list[BlockActivity]

    def to_dict(self, *, units: bool) -> dict[str, Any]:
        """As JSON values; `units` False leaves out which units were never active."""
        values = asdict(self)
        if not units:
            for block in values["blocks"]:
                del block["never_active_units"]
        return values


def look(
    encoder: Encoder, books: list[Batch], others: Mapping[str, list[Batch]], *, units: bool
) -> dict[str, Any]:
    """The results on the books as JSON values, and those on other batches under their names.

    `units` False leaves out which units were never active.
    """
    values = validate(encoder, books).to_dict(units=units)
    for name, batches in others.items():
        point = validate(encoder, batches)
        values[name] = {each: getattr(point, each) for each in ("loss", "top1", "top5", "n_masked")}
    return values


class _Activity:
    """A block's counts over all batches: memory does not grow with the number of tokens."""

    def __init__(self, d_ff: int) -> None:
        self.n_tokens = 0
        self.positive = torch.zeros(d_ff, dtype=torch.long)
        self.near_zero = [0] * len(NEAR_ZERO)

    def add(self, hidden: Tensor) -> None:
        hidden = hidden.flatten(0, -2)
        self.n_tokens += len(hidden)
        self.positive += (hidden > 0).sum(0).cpu()
        magnitude = hidden.abs()
        for i, threshold in enumerate(NEAR_ZERO):
            self.near_zero[i] += int((magnitude <= threshold).sum())

    def result(self) -> BlockActivity:
        values = self.n_tokens * len(self.positive)
        dead = (self.positive == 0).nonzero().flatten().tolist()
        return BlockActivity(
            active=int(self.positive.sum()) / values,
            near_zero={
                str(threshold): count / values
                for threshold, count in zip(NEAR_ZERO, self.near_zero, strict=True)
            },
            never_active=len(dead) / len(self.positive),
            never_active_units=dead,
        )


@torch.no_grad()
def validate(encoder: Encoder, batches: list[Batch]) -> Point:
    """The results on the validation batches, in float32 and without dropout."""
    was_training = encoder.training
    encoder.eval()
    device = encoder.token_embedding.weight.device
    activity = [_Activity(encoder.config.d_ff) for _ in encoder.blocks]
    loss, top1, top5, n_masked = 0.0, 0, 0, 0
    for batch in batches:
        record = encoder.stream(batch.inputs.to(device))
        targets = batch.targets.to(device)
        logits = encoder.unembed(record.final[batch.masked.to(device)])
        loss += float(F.cross_entropy(logits, targets, reduction="sum"))
        best = logits.topk(min(5, logits.shape[-1])).indices == targets[:, None]
        top1 += int(best[:, 0].sum())
        top5 += int(best.sum())
        n_masked += len(targets)
        for counts, block in zip(activity, record.blocks, strict=True):
            counts.add(block.ffn.hidden)
    encoder.train(was_training)
    return Point(
        loss=loss / n_masked,
        top1=top1 / n_masked,
        top5=top5 / n_masked,
        n_tokens=activity[0].n_tokens,
        n_masked=n_masked,
        blocks=[counts.result() for counts in activity],
    )
