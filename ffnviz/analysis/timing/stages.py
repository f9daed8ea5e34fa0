"""Where the time goes: every stage of a pass replayed on its recorded input, and timed."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch

from ffnviz.analysis.measuring import Progress, Spread, in_turn
from ffnviz.analysis.needs import Capability, encoder_of
from ffnviz.models.encoder.block import Block
from ffnviz.models.encoder.feed_forward import GatedFeedForward
from ffnviz.models.encoder.model import Model
from ffnviz.models.network import Network
from ffnviz.models.trace import BlockStages, Trace

NEEDS = (Capability.OURS,)
WHOLE = "whole pass"


@dataclass(frozen=True)
class Stage:
    """One stage of the pass."""

    name: str  # "tokenise", "block 1 expand", …
    kind: str  # what it belongs to: "text", "attention", "FFN", "norm", "stream" or "output"
    run: Callable[[], object]  # computes it again from its recorded input


@dataclass(frozen=True)
class StageTimes:
    """The times of the stages."""

    times: dict[str, Spread]  # each stage's milliseconds, in the order of the pass
    kinds: dict[str, str]  # as in Stage, by the name of the stage
    whole: Spread  # the whole pass in one piece, measured in the same rounds

    @property
    def total(self) -> float:
        """The sum of the stages' medians, in milliseconds."""
        return sum(spread.median for spread in self.times.values())


def stages(model: Model, trace: Trace) -> list[Stage]:
    """Every stage of a trace's pass, ready to be computed again."""
    encoder, ids = encoder_of(model), trace.ids
    text = trace.text[: trace.tokens[-1].end]
    result = [
        Stage("tokenise", "text", partial(model.tokenizer.encode, text)),
        Stage("embed", "stream", partial(encoder.embed, ids)),
    ]
    for number, (block, record) in enumerate(zip(encoder.blocks, trace.blocks, strict=True), 1):
        result += _block_stages(f"block {number}", block, record)
    last = trace.blocks[-1].output
    if model.card.pre_norm:
        result.append(Stage("final norm", "norm", partial(encoder.final_norm, last)))
    result.append(Stage("output", "output", partial(encoder.unembed, trace.final)))
    return result


def _block_stages(name: str, block: Block, record: BlockStages) -> list[Stage]:
    x, middle = record.input, record.middle
    mixed, written = record.attention.output, record.ffn.output
    to_norm_1, to_norm_2 = (x, middle) if block.norm_first else (x + mixed, middle + written)
    ffn = block.ffn
    gate: list[Stage] = []
    if isinstance(ffn, GatedFeedForward):
        value = partial(ffn.gated_value, record.ffn.input)
        activated = ffn.activation.function(record.ffn.pre_activation)
        multiply = partial(torch.mul, activated, value())
        gate = [Stage(f"{name} value", "FFN", value), Stage(f"{name} gate", "FFN", multiply)]
    return [
        Stage(f"{name} norm 1", "norm", partial(block.attention_norm, to_norm_1)),
        Stage(f"{name} attention", "attention", partial(block.attention, record.attention.input)),
        Stage(f"{name} add 1", "stream", partial(torch.add, x, mixed)),
        Stage(f"{name} norm 2", "norm", partial(block.ffn_norm, to_norm_2)),
        Stage(f"{name} expand", "FFN", partial(ffn.expand, record.ffn.input)),
        Stage(f"{name} φ", "FFN", partial(ffn.activation.function, record.ffn.pre_activation)),
        *gate,
        Stage(f"{name} compress", "FFN", partial(ffn.compress, record.ffn.hidden)),
        Stage(f"{name} add 2", "stream", partial(torch.add, middle, written)),
    ]


@torch.no_grad()
def time_stages(
    model: Model, trace: Trace, repeats: int, progress: Progress = lambda _: None
) -> StageTimes:
    """Time each stage over repeated runs, in turn with the others and with the whole pass."""
    every_stage = stages(model, trace)
    text = trace.text[: trace.tokens[-1].end]
    tasks = {stage.name: stage.run for stage in every_stage}
    tasks[WHOLE] = lambda: model.trace(text).logits
    spreads = in_turn(tasks, repeats, device=model.device, progress=progress)
    whole = spreads.pop(WHOLE)
    return StageTimes(spreads, {stage.name: stage.kind for stage in every_stage}, whole)


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
