"""How fast each matrix product is, against the best this machine reaches."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import prod

import torch
from torch.nn import functional as F

from ffnviz.analysis.measuring import Progress, Spread, in_turn
from ffnviz.analysis.needs import Capability, encoder_of, own_attention
from ffnviz.models.encoder.feed_forward import GatedFeedForward
from ffnviz.models.encoder.linear import linear
from ffnviz.models.encoder.model import Model
from ffnviz.models.trace import Trace

NEEDS = (Capability.OURS,)
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
