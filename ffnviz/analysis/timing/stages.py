"""Where the time goes: every stage of a pass replayed and timed, and how fast its products are."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import prod

import torch
from torch.nn import functional as F

from ffnviz.analysis.measuring import Progress, Spread, in_turn
from ffnviz.analysis.needs import Capability, encoder_of, own_attention
from ffnviz.models.encoder.block import Block
from ffnviz.models.encoder.feed_forward import GatedFeedForward
from ffnviz.models.encoder.linear import linear
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


BEST_SIZE = 1_024
BEST = "large square product"
SEED = 29


@dataclass(frozen=True)
class Product:
    """One matrix product and its time."""

    name: str  # which it is
    shape: str  # (rows, inner, columns), as text
    multiply_adds: int  # in it
    time: Spread  # in milliseconds

    @property
    def per_second(self) -> float:
        """Multiply-adds a second, at the median time."""
        return self.multiply_adds / (self.time.median / 1_000)


@dataclass(frozen=True)
class Throughput:
    """The products of one block and the output, and the best to compare them with."""

    products: tuple[Product, ...]  # in the order of the pass
    best: Product  # of BEST_SIZE × BEST_SIZE matrices, by its least time

    @property
    def best_per_second(self) -> float:
        """Multiply-adds a second that this machine reaches."""
        return self.best.multiply_adds / (self.best.time.least / 1_000)


@torch.no_grad()
def throughput(
    model: Model, trace: Trace, block: int, repeats: int, progress: Progress = lambda _: None
) -> Throughput:
    """All matrix products of one block and the output on a sentence, in turn with a large one."""
    encoder, record = encoder_of(model), trace.blocks[block]
    module, attention = encoder.blocks[block], own_attention(record)
    heads, n_words = module.attention, encoder.config.vocab_size
    n, d_model, d_ff = len(trace.tokens), encoder.config.d_model, encoder.config.d_ff
    qkv = attention.queries, attention.keys, attention.values
    mixing = partial(F.scaled_dot_product_attention, *qkv)
    mixed = mixing().transpose(-3, -2).flatten(-2)
    generator = torch.Generator().manual_seed(SEED)
    large = torch.randn(BEST_SIZE, BEST_SIZE, generator=generator).to(model.device)
    # By name: how many products, of which (rows, inner, columns), and what computes them.
    products: dict[str, tuple[int, tuple[int, int, int], Callable[[], object]]] = {
        "W_Q, W_K, W_V": (1, (n, d_model, 3 * d_model), partial(heads.project_in, attention.input)),
        "scores and mixing": (2, (n, n, d_model), partial(mixing, is_causal=attention.causal)),
        "W_O": (1, (n, d_model, d_model), partial(heads.project_out, mixed)),
        "W₁ (expand)": (1, (n, d_model, d_ff), partial(module.ffn.expand, record.ffn.input)),
        "W₂ (compress)": (1, (n, d_ff, d_model), partial(module.ffn.compress, record.ffn.hidden)),
        "output": (1, (n, d_model, n_words), partial(encoder.unembed, trace.final)),
        BEST: (1, (BEST_SIZE, BEST_SIZE, BEST_SIZE), partial(linear, large, large)),
    }
    if isinstance(module.ffn, GatedFeedForward):
        value = partial(module.ffn.gated_value, record.ffn.input)
        products = {"V (gate)": (1, (n, d_model, d_ff), value), **products}
    tasks = {name: run for name, (_, _, run) in products.items()}
    times = in_turn(tasks, repeats, device=model.device, progress=progress)
    *measured, best = [
        Product(name, f"{f'{count} × ' * (count > 1)}{shape}", count * prod(shape), times[name])
        for name, (count, shape, _) in products.items()
    ]
    return Throughput(tuple(measured), best)
