"""The least time of a pass: reading the weights once, and doing the multiply-adds.

Both limits are those of the roofline model (Williams, Waterman & Patterson 2009, section 3).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import nn

from ffnviz.analysis.needs import Capability, encoder_of
from ffnviz.analysis.spread import Progress, in_turn
from ffnviz.analysis.timing.throughput import BEST_SIZE
from ffnviz.models.encoder.linear import linear
from ffnviz.models.encoder.model import Model

NEEDS = (Capability.OURS,)
READ = 16_000_000  # numbers: 64 MB, more than most caches hold
READS = 10  # of which the quickest counts


@dataclass(frozen=True)
class Speed:
    """The best rates that a machine reaches."""

    bytes: float  # read from memory, a second
    multiply_adds: float  # in a large square product, a second


@dataclass(frozen=True)
class Work:
    """The least work of one part of the pass."""

    kind: str  # as in Stage
    weight_bytes: int  # each weight once
    multiply_adds: int  # in matrix products

    def reading(self, speed: Speed) -> float:
        """The milliseconds that reading the weights takes at least."""
        return self.weight_bytes / speed.bytes * 1_000

    def multiplying(self, speed: Speed) -> float:
        """The milliseconds that the matrix products take at least."""
        return self.multiply_adds / speed.multiply_adds * 1_000

    def least(self, speed: Speed) -> float:
        """The milliseconds that it takes at least: both can go on at once."""
        return max(self.reading(speed), self.multiplying(speed))


@torch.no_grad()
def speed(device: torch.device, progress: Progress = lambda _: None) -> Speed:
    """The device's best rates, with the number of threads that PyTorch uses now."""
    numbers = torch.ones(READ, device=device)
    square = torch.ones(BEST_SIZE, BEST_SIZE, device=device)
    tasks: dict[str, Callable[[], object]] = {
        "read": numbers.sum,
        "multiply": lambda: linear(square, square),
    }
    times = in_turn(tasks, READS, warm_up=1, device=device, progress=progress)
    read, multiply = (spread.least / 1_000 for spread in times.values())
    return Speed(numbers.nbytes / read, BEST_SIZE**3 / multiply)


def work(model: Model, n_tokens: int) -> tuple[Work, ...]:
    """The work of attention, FFNs and output in a pass over n_tokens with all logits."""
    encoder = encoder_of(model)
    scores = n_tokens**2 * encoder.config.d_model  # and as much again to mix the values
    attention: list[nn.Module] = [block.attention for block in encoder.blocks]
    ffns: list[nn.Module] = [block.ffn for block in encoder.blocks]
    return (
        _work("attention", attention, n_tokens, 2 * scores),
        _work("FFN", ffns, n_tokens),
        _work("output", [encoder.token_embedding], n_tokens),
    )


def _work(kind: str, modules: Sequence[nn.Module], n_tokens: int, extra: int = 0) -> Work:
    weights = [weight for module in modules for weight in module.parameters()]
    in_matrices = sum(weight.numel() for weight in weights if weight.dim() == 2)
    held = sum(weight.nbytes for weight in weights)
    return Work(kind, held, n_tokens * in_matrices + len(modules) * extra)
