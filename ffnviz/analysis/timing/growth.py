"""How time grows with the sequence and with d_ff; and the FFN as a convolution."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import nn

from ffnviz.analysis.measuring import Progress, Spread, in_turn
from ffnviz.analysis.needs import Capability, encoder_of, require
from ffnviz.analysis.timing.memory import at_once
from ffnviz.models.encoder.feed_forward import feed_forward
from ffnviz.models.encoder.model import Model
from ffnviz.models.torch_shortcuts import draws_from
from ffnviz.models.trace import Trace


def convolution_of(layer: nn.Linear) -> nn.Conv1d:
    """Conv1d(kernel 1) with a layer's weights, not copied: (B, d_in, L) -> (B, d_out, L)."""
    d_in, d_out, bias = layer.in_features, layer.out_features, layer.bias is not None
    convolution = nn.Conv1d(d_in, d_out, 1, bias=bias, device="meta")
    convolution.weight = nn.Parameter(layer.weight[..., None], requires_grad=False)
    if layer.bias is not None:
        convolution.bias = nn.Parameter(layer.bias, requires_grad=False)
    return convolution


NEEDS = (Capability.OURS,)
CONVOLUTION_NEEDS = (Capability.OURS, Capability.PLAIN_FFN)
BATCHES = (1, 32)
LENGTHS = (8, 16, 32, 64, 128)
WIDTHS = (512, 1_024, 2_048, 4_096, 8_192)
WIDTH_TOKENS = 16
SEED = 23


@dataclass(frozen=True)
class Growth:
    """Times for growing sizes."""

    sizes: tuple[int, ...]  # what grows, (n,)
    times: dict[str, tuple[Spread, ...]]  # "FFN, batch 1" … → a spread a size, in milliseconds


@torch.no_grad()
def grow_with_length(
    model: Model, block: int, repeats: int, progress: Progress = lambda _: None
) -> Growth:
    """One block's attention and FFN on (B, T, d_model) of random values, T growing."""
    encoder = encoder_of(model)
    module, d_model = encoder.blocks[block], encoder.config.d_model
    generator = torch.Generator().manual_seed(SEED)
    tasks = {}
    for batch in BATCHES:
        for n in LENGTHS:
            x = torch.randn(batch, n, d_model, generator=generator).to(model.device)
            tasks[f"FFN, batch {batch}", n] = partial(module.ffn, x)
            tasks[f"attention, batch {batch}", n] = partial(module.attention, x)
    return _grow(tasks, LENGTHS, repeats, model.device, progress)


@torch.no_grad()
def grow_with_width(model: Model, repeats: int, progress: Progress = lambda _: None) -> Growth:
    """An untrained FFN on (B, 16, d_model) of random values, d_ff growing."""
    config = encoder_of(model).config
    generator = torch.Generator().manual_seed(SEED)
    tasks = {}
    for d_ff in WIDTHS:
        with draws_from(generator):
            ffn = feed_forward(config.d_model, d_ff, config.activation, bias=config.bias)
        ffn = ffn.to(model.device).eval()
        for batch in BATCHES:
            x = torch.randn(batch, WIDTH_TOKENS, config.d_model, generator=generator)
            tasks[f"FFN, batch {batch}", d_ff] = partial(ffn, x.to(model.device))
    return _grow(tasks, WIDTHS, repeats, model.device, progress)


def _grow(
    tasks: dict[tuple[str, int], partial[object]],
    sizes: tuple[int, ...],
    repeats: int,
    device: torch.device,
    progress: Progress,
) -> Growth:
    named = {f"{name} {size}": task for (name, size), task in tasks.items()}
    spreads = in_turn(named, repeats, warm_up=1, device=device, progress=progress)
    series = dict.fromkeys(name for name, _ in tasks)
    times = {name: tuple(spreads[f"{name} {size}"] for size in sizes) for name in series}
    return Growth(sizes, times)


@dataclass(frozen=True)
class Convolution:
    """The FFN as two Linear layers and as two convolutions with kernel 1."""

    difference: float  # the largest between their outputs
    largest: float  # the largest output in magnitude, to compare the difference with
    linear: Spread  # milliseconds
    convolution: Spread  # milliseconds


@torch.no_grad()
def as_convolution(
    model: Model, trace: Trace, block: int, repeats: int, progress: Progress = lambda _: None
) -> Convolution:
    """One block's plain FFN on a sentence, against Conv1d(kernel 1) with the same weights."""
    require(model, CONVOLUTION_NEEDS)
    ffn = encoder_of(model).blocks[block].ffn
    first, second = (convolution_of(layer) for layer in (ffn.expand, ffn.compress))
    x = trace.blocks[block].ffn.input[None]  # (B, T, d_model)

    linear = partial(at_once, ffn, x)

    def convolution() -> torch.Tensor:
        output: torch.Tensor = second(ffn.activation.function(first(x.mT))).mT
        return output

    tasks: dict[str, Callable[[], torch.Tensor]] = {"linear": linear, "convolution": convolution}
    times = in_turn(tasks, repeats, device=model.device, progress=progress)
    outputs = linear()
    difference = (outputs - convolution()).abs().max()
    return Convolution(float(difference), float(outputs.abs().max()), *times.values())
