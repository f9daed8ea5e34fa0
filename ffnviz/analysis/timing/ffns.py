"""The time of each FFN of any network, beside that of its whole pass."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch

from ffnviz.analysis.needs import Capability
from ffnviz.analysis.spread import Progress, Spread, in_turn
from ffnviz.analysis.timing.stages import WHOLE
from ffnviz.models.network import Network
from ffnviz.models.trace import Trace

NEEDS: tuple[Capability, ...] = ()


@dataclass(frozen=True)
class FfnTimes:
    """The times of the FFNs."""

    ffns: tuple[Spread, ...]  # each block's milliseconds, in order
    whole: Spread  # of the whole pass, word head included, measured in the same rounds

    @property
    def total(self) -> float:
        """The sum of the FFNs' medians, in milliseconds."""
        return sum(spread.median for spread in self.ffns)


@torch.inference_mode()
def time_ffns(
    network: Network, trace: Trace, repeats: int, progress: Progress = lambda _: None
) -> FfnTimes:
    """Time each block's FFN on its recorded input, in turn with the whole pass."""
    text = trace.text[: trace.tokens[-1].end]

    def whole() -> object:
        again = network.trace(text)
        return again.logits if network.card.has_word_head else again

    tasks: dict[str, Callable[[], object]] = {
        str(number): partial(network.ffn(number).stages, block.ffn.input)
        for number, block in enumerate(trace.blocks)
    }
    spreads = in_turn(tasks | {WHOLE: whole}, repeats, device=network.device, progress=progress)
    *ffns, whole_pass = spreads.values()
    return FfnTimes(tuple(ffns), whole_pass)
