"""Against an RNN: it reads one by one what the block reads all at once."""

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from ffnviz.analysis.gradients import vector_jacobian
from ffnviz.analysis.measuring import Progress
from ffnviz.analysis.needs import encoder_of
from ffnviz.analysis.number_format import short
from ffnviz.jobs.run_queue import SERIAL_LOCK
from ffnviz.models.encoder.block import Block
from ffnviz.models.network import Network
from ffnviz.models.torch_shortcuts import draws_from
from ffnviz.models.trace import ForwardPass
from ffnviz.parts.sheet import Measured, Measurement, Sheet, Soon, measured_on, row
from ffnviz.pictures import plot
from ffnviz.pictures.cell import Cell, Head
from ffnviz.pictures.chart import chart_cell
from ffnviz.pictures.plot import Array
from ffnviz.pictures.wording import counted, number, quoted, spare
from ffnviz.state.run import Run
from ffnviz.state.settings import Values, choice_setting, number_slider

SEED = 17
LONGEST = 32  # tokens that are read; of a longer sentence, those up to the chosen one
DIRECTIONS = 12  # random directions at an output, for an estimate of its gradient's norm
WARM_UP, RUNS = 3, 30


class Recurrent(nn.Module):
    """h_t = φ(W_x x_t + W_h h_{t−1} + b), untrained; W_h makes a vector `gain` times as long."""

    def __init__(self, d_model: int, d_hidden: int, gain: float, *, bends: bool) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(SEED)
        self.bends = bends
        read = torch.randn(d_hidden, d_model, generator=generator) / math.sqrt(d_model)
        keep = torch.randn(d_hidden, d_hidden, generator=generator) * gain / math.sqrt(d_hidden)
        self.read = nn.Parameter(read, requires_grad=False)
        self.keep = nn.Parameter(keep, requires_grad=False)
        self.bias = nn.Parameter(torch.zeros(d_hidden), requires_grad=False)

    def step(
        self, state: Float[Tensor, "d_hidden"], x: Float[Tensor, "d_model"]
    ) -> Float[Tensor, "d_hidden"]:
        """The state after one more token, (d_hidden,)."""
        mixed = self.read @ x + self.keep @ state + self.bias
        return mixed.tanh() if self.bends else mixed

    def forward(self, x: Float[Tensor, "tokens d_model"]) -> Float[Tensor, "tokens d_hidden"]:
        """The state after each token, (T, d_model) -> (T, d_hidden); at first it is zero."""
        states, state = [], torch.zeros_like(self.bias)
        for token in x:
            state = self.step(state, token)
            states.append(state)
        return torch.stack(states)


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
    """A recurrent network with about as many weights as the block."""
    n_weights, d_model = _count(encoder_of(model).blocks[block]), model.sizes.d_model
    # d_model · d_hidden + d_hidden² = n_weights
    d_hidden = round((math.sqrt(d_model**2 + 4 * n_weights) - d_model) / 2)
    return Recurrent(d_model, d_hidden, gain, bends=bends)


def untrained_like(model: Network) -> Block:
    """A block of the network's shape with weights from PyTorch's own initialisation."""
    with draws_from(torch.Generator().manual_seed(SEED)):
        return Block(encoder_of(model).config).eval().requires_grad_(False)


@dataclass(frozen=True)
class ThroughBlocks:
    """`arriving` at each input from the chosen token's output, (n,)."""

    untrained: Array  # through an untrained block of the same shape
    block: Array  # through the encoder block


def through_recurrent(model: Network, block: int, read: Read, gain: float, *, bends: bool) -> Array:
    """The same through a recurrent network that reads LN(x), (n,); later tokens get exactly 0."""
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


def arriving(f: Callable[[Tensor], Tensor], x: Tensor, directions: int = DIRECTIONS) -> Array:
    """‖∂ f(x) / ∂ x_j‖ (Frobenius) / √d_out for each j, (n,), estimated along random directions."""
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

    recurrent: Array  # up to each token, (n,): the steps' medians, added up
    block: float  # for all tokens, a median
    weights: tuple[int, int]  # of the recurrent network, and of the block


@torch.no_grad()
def read_against_the_clock(run: Run, progress: Progress) -> Clock:
    """Both read the same tokens on the CPU, in turn, RUNS times."""
    block = run.state.block
    read = what_is_read(run.trace, block, run.token)
    module = _on_the_cpu(run.model, block)
    recurrent = recurrent_like(run.model, block, 1.0, bends=True)
    x = module.attention_norm(read.x)
    steps, passes = [], []
    for round_ in range(-WARM_UP, RUNS):
        state, step_times = torch.zeros_like(recurrent.bias), []
        for token in x:
            start = perf_counter()
            state = recurrent.step(state, token)
            step_times.append(1_000 * (perf_counter() - start))
        start = perf_counter()
        module(read.x)
        end = perf_counter()
        if round_ >= 0:
            steps.append(step_times)
            passes.append(1_000 * (end - start))
            progress((round_ + 1) / RUNS)
    weights = _count(recurrent), _count(module)
    return Clock(np.median(steps, axis=0).cumsum(), float(np.median(passes)), weights)


def _count(module: nn.Module) -> int:
    return sum(weight.numel() for weight in module.parameters())


WIDTH = 0.36  # of a bar, in rows
MOST_LABELS = 3  # of the logarithmic axis, about
GAINS = (0.1, 0.25, 0.5, 0.75, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0, 3.0, 4.0)
GAIN = number_slider("gain", 1.0, GAINS, "gain of the RNN's W_h")
PHI = choice_setting("rnn_phi", {"tanh": "tanh", "none": "none"}).with_control("φ of the RNN")
SETTINGS = (GAIN, PHI)


def sheet(run: Run, values: Values) -> Sheet:
    """The time that each takes beside the gradient that reaches each token."""
    return Sheet([row(clock(run), gradient(run, values[GAIN], values[PHI]))])


def clock(run: Run) -> Measurement[Clock]:
    """When each is done with each token."""
    setup = (run.card.id, run.state.block, run.state.sentence, run.token)
    soon = Soon("clock", "When an RNN and the block are done with each token", 520)

    def after(measured: Measured[Clock]) -> list[Cell]:
        return [ready_times(run, measured)]

    doing = "An RNN and the block read the sentence …"
    return Measurement("turns", setup, read_against_the_clock, after, before=[soon], doing=doing)


def ready_times(run: Run, measured: Measured[Clock]) -> Cell:
    """When each token is done: a bar from its step's start to its end, and one for the block."""
    ready, block = measured.result.recurrent, measured.result.block
    n, took, finishes = len(ready), number(f"{ready[-1]:.2f} ms"), f"after {block:.2f} ms"
    sentence = f"Reading 1 token takes an RNN {took}. The block finishes it {finishes}."
    if n > 1:
        sentence = (
            f"Reading {n} tokens takes an RNN {took}: {n} steps, each waiting for the one before. "
            f"The block finishes them all {finishes}."
        )
    rnn, own = (f"{weights / 1e6:.2f} million" for weights in measured.result.weights)
    each = f"Each has {rnn} weights."
    if rnn != own:
        each = f"The RNN has {rnn} weights, the block {own}."
    head = Head(f"{sentence} {each}", "clock", run.card.colour, under=measured_on(measured))
    bars = (
        ("RNN", np.concatenate([[0.0], ready[:-1]]), ready, np.arange(n) - 0.2, "@muted"),
        ("block", np.zeros(n), np.full(n, block), np.arange(n) + 0.2, f"@{run.card.colour}"),
    )
    hover = "done after %{customdata:.2f} ms<extra>%{fullData.name}</extra>"
    drawn: plot.Options = {"orientation": "h", "width": WIDTH, "hovertemplate": hover}
    figure = plot.figure(
        [
            plot.bar_trace(name, end - start, y, shade, base=start, customdata=end, **drawn)
            for name, start, end, y, shade in bars
        ],
        plot.axis("milliseconds from the start", rangemode="tozero"),
        plot.row_axis(n, **plot.some_named(_labels(run), 16, 10), tickfont={"size": 16}),
        margin={"l": 96, "r": 20, "t": 44, "b": 84},
        barmode="overlay",
    )
    alt = "When the recurrent network and the block were done with each token."
    return chart_cell(head, figure, alt, height=520)


def gradient(run: Run, gain: float, phi: str) -> Cell:
    """How much of a unit gradient reaches each token, on a logarithmic axis."""
    block, labels = run.state.block, _labels(run)
    read = what_is_read(run.trace, block, run.token)
    with SERIAL_LOCK:
        recurrent = through_recurrent(run.model, block, read, gain, bends=phi == "tanh")
        blocks = run.subject.per_sentence(
            ("through blocks", block, run.token), lambda: through_blocks(run.model, block, read)
        )
    depends, others = "", np.delete(np.arange(len(labels)), read.token)
    if len(others):
        most = int(others[blocks.block[others].argmax()])
        depends = (
            f" The trained one depends most on {quoted(labels[most])} "
            f"({short(float(blocks.block[most]))})."
        )
    if read.token:
        sentence = (
            f"From {quoted(labels[read.token])} to {quoted(labels[0])}, "
            f"{counted(read.token, 'step')} back, a gradient of length 1 becomes "
            f"{number(short(float(recurrent[0])))} in the RNN, "
            f"{short(float(blocks.untrained[0]))} in an untrained block.{depends}"
        )
    else:
        sentence = (
            f"{quoted(labels[0])} is the first token, so there is nothing before it for an RNN to "
            f"forget. Choose a later one above.{spare(depends)}"
        )
    series = (
        ("RNN, untrained", recurrent, "@text", "dash"),
        ("block, untrained", blocks.untrained, "@muted", "dot"),
        (f"block {block + 1}, trained", blocks.block, f"@{run.card.colour}", "solid"),
    )
    lengths = np.concatenate([values[values > 0] for _, values, _, _ in series])
    decades = float(np.ptp(np.log10(lengths))) if len(lengths) else 0
    every, title = max(1, math.ceil(decades / MOST_LABELS)), "length of the gradient that arrives"
    x, hover = np.arange(len(labels)), "%{y:.3g}<extra>%{fullData.name}</extra>"
    looks: plot.Options = {"dots": 9, "hovertemplate": hover}
    figure = plot.figure(
        [
            plot.line_trace(name, x, np.where(y > 0, y, np.nan), colour, 3, dash, **looks)
            for name, y, colour, dash in series
        ],
        plot.token_axis(labels),
        plot.axis(title, type="log", dtick=every, exponentformat="power"),
        shapes=[plot.band(read.token - 0.5, read.token + 0.5)],
        margin={"l": 84, "r": 20, "t": 44, "b": 84},
    )
    alt = "The length at each token of a gradient of length 1 at the chosen token's output."
    head = Head(sentence, "arrives", run.card.colour)
    return chart_cell(head, figure, alt, height=520)


def _labels(run: Run) -> list[str]:
    first = max(0, run.token + 1 - LONGEST)
    return run.labels[first : first + LONGEST]
