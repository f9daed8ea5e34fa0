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


def look(
    encoder: Encoder, books: list[Batch], others: Mapping[str, list[Batch]], *, units: bool
) -> dict[str, Any]:
    """The results on the books as JSON values, and those on other batches under their names.

    `units` False leaves out which units were never active.
    """
    values = asdict(validate(encoder, books))
    if not units:
        for block in values["blocks"]:
            del block["never_active_units"]
    for name, batches in others.items():
        point = validate(encoder, batches)
        values[name] = {each: getattr(point, each) for each in ("loss", "top1", "top5", "n_masked")}
    return values


@torch.no_grad()
def validate(encoder: Encoder, batches: list[Batch]) -> Point:
    """The results on the validation batches, in float32 and without dropout."""
    was_training = encoder.training
    encoder.eval()
    device = encoder.token_embedding.weight.device
    n_blocks, d_ff = len(encoder.blocks), encoder.config.d_ff
    # Counts alone are kept: memory does not grow with the number of tokens.
    positive = torch.zeros(n_blocks, d_ff, dtype=torch.long)
    near_zero = torch.zeros(n_blocks, len(NEAR_ZERO), dtype=torch.long)
    loss, top1, top5 = 0.0, 0, 0
    n_tokens, n_masked = 0, 0
    for batch in batches:
        record = encoder.stream(batch.inputs.to(device))
        targets = batch.targets.to(device)
        logits = encoder.unembed(record.final[batch.masked.to(device)])
        loss += float(F.cross_entropy(logits, targets, reduction="sum"))
        best = logits.topk(min(5, logits.shape[-1])).indices == targets[:, None]
        top1 += int(best[:, 0].sum())
        top5 += int(best.sum())
        n_tokens += batch.inputs.numel()
        n_masked += len(targets)
        for block, recorded in enumerate(record.blocks):
            hidden = recorded.ffn.hidden.flatten(0, -2)
            positive[block] += (hidden > 0).sum(0).cpu()
            magnitude = hidden.abs()
            for i, threshold in enumerate(NEAR_ZERO):
                near_zero[block, i] += int((magnitude <= threshold).sum())
    encoder.train(was_training)
    return Point(
        loss=loss / n_masked,
        top1=top1 / n_masked,
        top5=top5 / n_masked,
        n_tokens=n_tokens,
        n_masked=n_masked,
        blocks=[
            _activity(fired, near, n_tokens)
            for fired, near in zip(positive, near_zero.tolist(), strict=True)
        ],
    )


def _activity(positive: Tensor, near_zero: list[int], n_tokens: int) -> BlockActivity:
    """Shares of a block's counts: of each unit above zero, (d_ff,), and near zero in all."""
    values = n_tokens * len(positive)
    dead = (positive == 0).nonzero().flatten().tolist()
    return BlockActivity(
        active=int(positive.sum()) / values,
        near_zero={
            str(threshold): count / values
            for threshold, count in zip(NEAR_ZERO, near_zero, strict=True)
        },
        never_active=len(dead) / len(positive),
        never_active_units=dead,
    )
