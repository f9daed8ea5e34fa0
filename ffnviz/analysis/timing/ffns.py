"""The time of each FFN of any network, beside that of its whole pass."""

from collections.abc import Callable
from functools import partial

import torch

from ffnviz.analysis.needs import Capability
from ffnviz.analysis.spread import Progress, in_turn
from ffnviz.analysis.timing.stages import WHOLE, StageTimes
from ffnviz.models.network import Network
from ffnviz.models.trace import Trace

NEEDS: tuple[Capability, ...] = ()


@torch.no_grad()
def time_ffns(
    network: Network, trace: Trace, repeats: int, progress: Progress = lambda _: None
) -> StageTimes:
    """Time each block's FFN on its recorded input, in turn with the whole pass."""
    text = trace.text[: trace.tokens[-1].end]

    def whole() -> object:
        again = network.trace(text)
        return again.logits if network.card.has_word_head else again

    tasks: dict[str, Callable[[], object]] = {
        f"FFN {number + 1}": partial(network.ffn(number).stages, block.ffn.input)
        for number, block in enumerate(trace.blocks)
    }
    spreads = in_turn(tasks | {WHOLE: whole}, repeats, device=network.device, progress=progress)
    whole_pass = spreads.pop(WHOLE)
    return StageTimes(spreads, dict.fromkeys(spreads, "FFN"), whole_pass)
