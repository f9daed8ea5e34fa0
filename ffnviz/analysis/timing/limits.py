"""What no pass can undercut: reading the weights once, and doing the multiply-adds.

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
    """What a machine reaches at its best."""

    bytes: float  # read from memory, a second
    multiply_adds: float  # in a large square product, a second


@dataclass(frozen=True)
class Work:
    """What a part of the pass cannot do without."""

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


@torch.inference_mode()
def speed(device: torch.device, progress: Progress = lambda _: None) -> Speed:
    """A machine's best, with as many threads as PyTorch has now."""
    numbers = torch.ones(READ, device=device)
    square = torch.ones(BEST_SIZE, BEST_SIZE, device=device)
    tasks: dict[str, Callable[[], object]] = {
        "read": numbers.sum,
        "multiply": lambda: linear(square, square),
    }
    took = in_turn(tasks, READS, warm_up=1, device=device, progress=progress)
    read, multiply = (took[name].least / 1_000 for name in tasks)
    return Speed(numbers.nbytes / read, BEST_SIZE**3 / multiply)


def work(model: Model, n_tokens: int) -> tuple[Work, ...]:
    """What a pass over so many tokens with all logits needs: attention, FFN and output."""
    encoder = encoder_of(model)
    weighing = n_tokens**2 * encoder.config.d_model  # scores; and as much again to mix
    attention: list[nn.Module] = [block.attention for block in encoder.blocks]
    ffns: list[nn.Module] = [block.ffn for block in encoder.blocks]
    return (
        _work("attention", attention, n_tokens, 2 * weighing),
        _work("FFN", ffns, n_tokens),
        _work("output", [encoder.token_embedding], n_tokens),
    )


def _work(kind: str, modules: Sequence[nn.Module], n_tokens: int, more: int = 0) -> Work:
    weights = [weight for module in modules for weight in module.parameters()]
    in_matrices = sum(weight.numel() for weight in weights if weight.dim() == 2)
    held = sum(weight.nbytes for weight in weights)
    return Work(kind, held, n_tokens * in_matrices + len(modules) * more)
