"""A recurrent network against a block of as many weights: how they read, and their gradients."""

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
from ffnviz.analysis.vector_jacobian import vector_jacobian
from ffnviz.models.encoder.block import Block
from ffnviz.models.network import Network
from ffnviz.models.random_init import draws_from
from ffnviz.models.trace import ForwardPass

NEEDS = (Capability.OURS,)
SEED = 17
LONGEST = 32  # tokens that are read; of a longer sentence, those up to the chosen one
DIRECTIONS = 12  # random directions at an output, for an estimate of its gradient's norm
WARM_UP = 3

Map = Callable[[Tensor], Tensor]


class Recurrent(nn.Module):
    """h_t = φ(W_x x_t + W_h h_{t−1} + b), untrained: Elman 1990, with φ = tanh or none.

    W_x and W_h have normally distributed entries of variance 1/d_model and gain²/d_hidden, so that
    on average W_h makes a vector `gain` times as long.
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
    """The h whose d_model·h + h² is nearest to `n_weights`."""
    return round((math.sqrt(d_model**2 + 4 * n_weights) - d_model) / 2)


@dataclass(frozen=True)
class Read:
    """The tokens that are read: the first of the sentence, or the last up to the chosen one."""

    first: int  # the place of the first of them in the sentence
    token: int  # the place of the chosen one among them
    x: Float[Tensor, "tokens d_model"]  # the stream before the block, (n, d_model)


def what_is_read(trace: ForwardPass, block: int, token: int) -> Read:
    """At most LONGEST tokens with the chosen one among them."""
    first = max(0, token + 1 - LONGEST)
    x = trace.blocks[block].input[first : first + LONGEST]
    # Cloned, as tensors made in inference mode take no part in differentiation.
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
    """A block of the network's shape with weights from PyTorch's own initialisation."""
    with draws_from(torch.Generator().manual_seed(SEED)):
        return Block(encoder_of(model).config).eval().requires_grad_(False)


@dataclass(frozen=True)
class ThroughBlocks:
    """`arriving` at each input from the chosen token's output, (n,)."""

    untrained: NDArray[np.float64]  # through an untrained block of the same shape
    block: NDArray[np.float64]  # through the encoder block


def through_recurrent(
    model: Network, block: int, read: Read, gain: float, *, bends: bool
) -> NDArray[np.float64]:
    """The same through a recurrent network, (n,), which reads LN(x), as the block's attention does.

    Later tokens get exactly 0.
    """
    norm = _on_the_cpu(model, block).attention_norm
    recurrent = recurrent_like(model, block, gain, bends=bends)
    return arriving(lambda x: recurrent(norm(x))[read.token], read.x)


def through_blocks(model: Network, block: int, read: Read) -> ThroughBlocks:
    """‖∂ output_i / ∂ x_j‖ / √d_model for each j, through the block and an untrained one."""
    module, untrained = _on_the_cpu(model, block), untrained_like(model)
    return ThroughBlocks(
        arriving(lambda x: untrained(x).output[read.token], read.x),
        arriving(lambda x: module(x).output[read.token], read.x),
    )


def arriving(f: Map, x: Tensor, directions: int = DIRECTIONS) -> NDArray[np.float64]:
    """‖∂ f(x) / ∂ x_j‖ (Frobenius) / √d_out for each token j, (n,), of f: (n, d) -> (d_out,).

    The root of the mean of ‖vᵀ ∂f/∂x_j‖² over random orthonormal vectors v: exact with as many
    of them as f has outputs, an estimate with fewer.
    """
    x = x.detach().clone().requires_grad_()
    with torch.enable_grad():
        output = f(x)
    d_out = len(output)
    generator = torch.Generator().manual_seed(SEED)
    random = torch.randn(d_out, min(directions, d_out), generator=generator, dtype=torch.float64)
    orthonormal = torch.linalg.qr(random).Q.mT.to(output.dtype)
    squares = torch.zeros(len(x), dtype=torch.float64)
    for vector in orthonormal:
        (gradient,) = vector_jacobian(vector, output, [x], retain_graph=True)
        squares += gradient.double().square().sum(dim=-1)
    return (squares / len(orthonormal)).sqrt().numpy()


@dataclass(frozen=True)
class Clock:
    """How long both take, in milliseconds."""

    recurrent: NDArray[np.float64]  # up to each token, (n,): the steps' medians, added up
    block: float  # for all tokens, a median
    weights: tuple[int, int]  # of the recurrent network, and of the block
    repeats: int  # how often each was run


@torch.no_grad()
def read_against_the_clock(
    model: Network,
    trace: ForwardPass,
    block: int,
    token: int,
    repeats: int,
    progress: Progress = lambda _: None,
) -> Clock:
    """Both read the same tokens on the CPU, in turn, `repeats` times."""
    read = what_is_read(trace, block, token)
    module = _on_the_cpu(model, block)
    recurrent = recurrent_like(model, block, 1.0, bends=True)
    x = module.attention_norm(read.x)
    steps, passes = [], []
    for round_ in range(-WARM_UP, repeats):
        step_times = _step_times(recurrent, x)
        start = perf_counter()
        module(read.x)
        end = perf_counter()
        if round_ >= 0:
            steps.append(step_times)
            passes.append(1_000 * (end - start))
            progress((round_ + 1) / repeats)
    weights = _count(recurrent), _count(module)
    return Clock(np.median(steps, axis=0).cumsum(), float(np.median(passes)), weights, repeats)


def _count(module: nn.Module) -> int:
    return sum(weight.numel() for weight in module.parameters())


def _step_times(recurrent: Recurrent, x: Tensor) -> list[float]:
    state, times = recurrent.start(), []
    for token in x:
        start = perf_counter()
        state = recurrent.step(state, token)
        times.append(1_000 * (perf_counter() - start))
    return times
