"""One after the other, or all at once: a recurrent network beside a block of as many weights."""

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor, nn

from ffnviz.analysis.needs import Capability, encoder_of
from ffnviz.analysis.spread import Progress
from ffnviz.models.encoder.block import Block
from ffnviz.models.network import Network
from ffnviz.models.random_init import draws_from
from ffnviz.models.trace import ForwardPass

NEEDS = (Capability.OURS,)
SEED = 17
LONGEST = 32  # tokens that are read; a longer sentence's last before the chosen one
DIRECTIONS = 12  # in which an output is pushed, to see what of it arrives at each input

Map = Callable[[Tensor], Tensor]


class Recurrent(nn.Module):
    """h_t = φ(W_x x_t + W_h h_{t−1} + b), untrained: Elman 1990, with φ = tanh or none.

    W_x and W_h have normally distributed entries of variance 1/d_model and gain²/d_hidden: on
    average W_h makes a vector `gain` times as long.
    """

    def __init__(self, d_model: int, d_hidden: int, gain: float, *, bends: bool) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(SEED)
        self.bends = bends
        read = torch.randn(d_hidden, d_model, generator=generator) / math.sqrt(d_model)
        keep = torch.randn(d_hidden, d_hidden, generator=generator) * gain / math.sqrt(d_hidden)
        self.read = nn.Parameter(read, requires_grad=False)
        self.keep = nn.Parameter(keep, requires_grad=False)
        self.bias = nn.Parameter(torch.zeros(d_hidden), requires_grad=False)

    def start(self) -> Float[Tensor, "d_hidden"]:
        """The state before the first token: zero, (d_hidden,)."""
        return torch.zeros_like(self.bias)

    def step(
        self, state: Float[Tensor, "d_hidden"], x: Float[Tensor, "d_model"]
    ) -> Float[Tensor, "d_hidden"]:
        """The state after one more token, (d_hidden,)."""
        mixed = self.read @ x + self.keep @ state + self.bias
        return mixed.tanh() if self.bends else mixed

    def forward(self, x: Float[Tensor, "tokens d_model"]) -> Float[Tensor, "tokens d_hidden"]:
        """The state after each token, (T, d_model) -> (T, d_hidden)."""
        states, state = [], self.start()
        for token in x:
            state = self.step(state, token)
            states.append(state)
        return torch.stack(states)


def hidden_size(d_model: int, n_weights: int) -> int:
    """The d_hidden whose d_model·h + h² comes nearest to so many weights."""
    return round((math.sqrt(d_model**2 + 4 * n_weights) - d_model) / 2)


@dataclass(frozen=True)
class Read:
    """What is read: the first tokens of the sentence, or the last up to the chosen one."""

    first: int  # the first of them
    token: int  # the chosen one, among them
    x: Float[Tensor, "tokens d_model"]  # the stream before the block, (n, d_model)


def what_is_read(trace: ForwardPass, block: int, token: int) -> Read:
    """At most LONGEST tokens that the chosen one is among."""
    first = max(0, token + 1 - LONGEST)
    x = trace.blocks[block].input[first : first + LONGEST]
    # Cloned, as what an inference made takes no part in differentiation.
    return Read(first, token - first, x.to("cpu", torch.float32).clone())


def _on_the_cpu(model: Network, block: int) -> Block:
    module = encoder_of(model).blocks[block]
    return module if model.device.type == "cpu" else copy.deepcopy(module).cpu()


def recurrent_like(model: Network, block: int, gain: float, *, bends: bool) -> Recurrent:
    """A recurrent network with as many weights as the block."""
    encoder = encoder_of(model)
    n_weights = _count(encoder.blocks[block])
    d_model = encoder.config.d_model
    return Recurrent(d_model, hidden_size(d_model, n_weights), gain, bends=bends)


def untrained_like(model: Network) -> Block:
    """A block of the network's shape with weights as PyTorch draws them."""
    with draws_from(torch.Generator().manual_seed(SEED)):
        return Block(encoder_of(model).config).eval().requires_grad_(False)


@dataclass(frozen=True)
class ThroughBlocks:
    """What of a gradient of length 1 at the chosen token's output arrives at each input, (n,)."""

    # through a block of the same shape, its weights drawn from a seed
    untrained: NDArray[np.float64]
    block: NDArray[np.float64]  # through the encoder block


def through_recurrent(
    model: Network, block: int, read: Read, gain: float, *, bends: bool
) -> NDArray[np.float64]:
    """The same through a recurrent network, (n,); it reads LN(x), as the block's attention does.

    Tokens that come later get exactly 0.
    """
    norm = _on_the_cpu(model, block).attention_norm
    recurrent = recurrent_like(model, block, gain, bends=bends)
    return arriving(lambda x: recurrent(norm(x))[read.token], read.x)


def through_blocks(model: Network, block: int, read: Read) -> ThroughBlocks:
    """‖∂ output_i / ∂ x_j‖ / √d_out for each j, through the block and an untrained one."""
    module, untrained = _on_the_cpu(model, block), untrained_like(model)
    return ThroughBlocks(
        arriving(lambda x: untrained(x).output[read.token], read.x),
        arriving(lambda x: module(x).output[read.token], read.x),
    )


def arriving(f: Map, x: Tensor, directions: int = DIRECTIONS) -> NDArray[np.float64]:
    """‖∂ f(x) / ∂ x_j‖ (Frobenius) / √d_out for each token j, (n,), of f: (n, d) -> (d_out,).

    The root of the mean of ‖vᵀ ∂f/∂x_j‖² over unit vectors v that stand upright on one another,
    drawn at random: with as many of them as f has outputs it is exact, with fewer an estimate.
    """
    x = x.detach().clone().requires_grad_()
    with torch.enable_grad():
        output = f(x)
    d_out = len(output)
    generator = torch.Generator().manual_seed(SEED)
    drawn = torch.randn(d_out, min(directions, d_out), generator=generator, dtype=torch.float64)
    upright = torch.linalg.qr(drawn).Q.mT.to(output.dtype)
    squares = torch.zeros(len(x), dtype=torch.float64)
    for place, direction in enumerate(upright):
        (slope,) = torch.autograd.grad(
            output, x, direction, retain_graph=place < len(upright) - 1
        )  # fmt: skip
        squares += slope.double().square().sum(dim=-1)
    return (squares / len(upright)).sqrt().numpy()


@dataclass(frozen=True)
class Clock:
    """When what was done, in milliseconds from the start."""

    # when the state after each token was ready, (n,): the steps' medians, added up
    recurrent: NDArray[np.float64]
    block: float  # when all tokens were, a median
    weights: tuple[int, int]  # of the recurrent network, and of the block
    repeats: int  # how often each was run


@torch.inference_mode()
def read_against_the_clock(
    model: Network,
    trace: ForwardPass,
    block: int,
    token: int,
    repeats: int,
    progress: Progress = lambda _: None,
) -> Clock:
    """Both read the same tokens on the CPU, in turn, so many times."""
    read = what_is_read(trace, block, token)
    module = _on_the_cpu(model, block)
    recurrent = recurrent_like(model, block, 1.0, bends=True)
    x = module.attention_norm(read.x)
    steps, whole = [], []
    for round_ in range(-WARM_UP, repeats):
        taken = _steps(recurrent, x)
        start = perf_counter()
        module(read.x)
        end = perf_counter()
        if round_ >= 0:
            steps.append(taken)
            whole.append(1_000 * (end - start))
            progress((round_ + 1) / repeats)
    weights = _count(recurrent), _count(module)
    return Clock(np.median(steps, axis=0).cumsum(), float(np.median(whole)), weights, repeats)


def _count(module: nn.Module) -> int:
    return sum(weight.numel() for weight in module.parameters())


WARM_UP = 3


def _steps(recurrent: Recurrent, x: Tensor) -> list[float]:
    state, taken = recurrent.start(), []
    for token in x:
        start = perf_counter()
        state = recurrent.step(state, token)
        taken.append(1_000 * (perf_counter() - start))
    return taken
