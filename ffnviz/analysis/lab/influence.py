"""Input influence: how steeply each output depends on each input, by automatic differentiation."""

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ffnviz.analysis.gradients import DIRECTIONS, Map, input_slopes, shares, vector_jacobian
from ffnviz.analysis.lab.decoder import DecoderBlock
from ffnviz.analysis.lab.experiment import Check, Finding, Result, Subject
from ffnviz.analysis.lab.tolerances import agreed
from ffnviz.analysis.measuring import Progress, subprogress
from ffnviz.analysis.number_format import short
from ffnviz.models.encoder.attention import SelfAttention
from ffnviz.models.torch_shortcuts import draws_from

SEEDS = tuple(range(11, 21))
GAIN, LOUDEST = 8.0, 16.0  # what makes an RNN's gradient explode: its recurrent weights, times this
RNN, LSTM, LOUD = "RNN", "LSTM", "RNN, louder"


@dataclass(frozen=True)
class Fading:
    """One kind of untrained recurrent network of one layer, drawn several times."""

    name: str
    slopes: NDArray[np.float64]  # ‖∂ last output / ∂ input‖ at each distance, (n_seeds, n)
    radius: float = math.nan  # the mean spectral radius of W_h; NaN for an LSTM

    @property
    def factors(self) -> NDArray[np.float64]:
        """The factor by which each further step back multiplies the slope, (n_seeds,).

        From the line through the logarithms at all distances but 0, where no recurrent weight is
        passed. NaN with fewer than two distances left.
        """
        if self.slopes.shape[1] < 3:
            return np.full(len(self.slopes), np.nan)
        logs = np.log(np.maximum(self.slopes[:, 1:], 1e-300))
        distances = np.arange(1, logs.shape[1] + 1)
        factors: NDArray[np.float64] = np.exp(np.polyfit(distances, logs.T, 1)[0])
        return factors


def fade(x: Tensor, gain: float = GAIN) -> tuple[Fading, ...]:
    """RNN, LSTM, and the RNN with its recurrent weights times `gain`, on inputs x, (n, d)."""
    x, d = x.double(), x.shape[-1]
    slopes: dict[str, list[NDArray[np.float64]]] = {RNN: [], LSTM: [], LOUD: []}
    for seed in SEEDS:
        generator = torch.Generator().manual_seed(seed)
        with draws_from(generator):
            rnn = nn.RNN(d, d, batch_first=True).double()
            lstm = nn.LSTM(d, d, batch_first=True).double()
        directions = torch.randn(DIRECTIONS, d, generator=generator).double()
        slopes[RNN].append(_last(rnn, x, directions))
        slopes[LSTM].append(_last(lstm, x, directions))
        rnn.get_parameter("weight_hh_l0").data.mul_(gain)
        slopes[LOUD].append(_last(rnn, x, directions))
    radius = _mean_spectral_radius(nn.RNN, d)
    radii = {RNN: radius, LSTM: math.nan, LOUD: gain * radius}
    return tuple(Fading(name, np.stack(rows), radii[name]) for name, rows in slopes.items())


@cache
def _mean_spectral_radius(kind: type[nn.RNN], d: int) -> float:
    """Of the recurrent weights, (d, d), that `fade` draws for any sentence; slow."""
    radii = []
    for seed in SEEDS:
        with draws_from(torch.Generator().manual_seed(seed)):
            weights = kind(d, d).get_parameter("weight_hh_l0").data
        # float32 takes a third of the time and is off by less than 5e-6.
        radii.append(float(torch.linalg.eigvals(weights[:d]).abs().max()))
    return float(np.mean(radii))


def _last(layer: nn.RNN | nn.LSTM, x: Tensor, directions: Tensor) -> NDArray[np.float64]:
    """How steeply the last output depends on each input, by distance, (n,)."""
    copies = x.expand(len(directions), *x.shape).clone().requires_grad_()
    with torch.enable_grad():
        output = layer(copies)[0][:, -1]
    (gradient,) = vector_jacobian(directions, output, [copies])
    norms: Tensor = gradient.square().sum(dim=-1).mean(dim=0).sqrt().flip(0)
    return norms.numpy()


def fading_findings(fadings: tuple[Fading, ...], gain: float) -> tuple[Finding, ...]:
    """Three claims, each over all draws of the weights."""
    kinds = {each.name: each for each in fadings}
    n = fadings[0].slopes.shape[1]
    factors = {name: each.factors for name, each in kinds.items()}

    def described(name: str) -> str:
        ends = kinds[name].slopes.mean(axis=0)
        return (
            f"{len(SEEDS)} draws: times {short(float(np.exp(np.log(factors[name]).mean())))} with "
            f"each step, from {short(float(ends[min(1, n - 1)]))} at a distance of 1 to "
            f"{short(float(ends[-1]))} at {n - 1}"
        )

    slower = factors[LSTM] - factors[RNN]
    radius, louder = short(kinds[RNN].radius), short(kinds[LOUD].radius)
    small = f"with a spectral radius of {louder} the recurrent weights are not large"
    findings = (
        Finding(
            "In an untrained RNN, as PyTorch draws it, the gradient vanishes over distance.",
            "each step back multiplies it by less than 1",
            f"spectral radius {radius}, {described(RNN)}",
            Check(float(factors[RNN].max()), "≤", 1.0),
            untestable=agreed(1 - factors[RNN]),
        ).cited("Bengio, Simard & Frasconi 1994"),
        Finding(
            "With large recurrent weights an RNN's gradient explodes.",
            "each step back multiplies it by more than 1",
            f"times {gain:g}, spectral radius {louder}, {described(LOUD)}",
            Check(float(factors[LOUD].min()), ">", 1.0),
            untestable=agreed(factors[LOUD] - 1) if kinds[LOUD].radius > 1 else small,
        ).cited("Pascanu, Mikolov & Bengio 2013, section 2"),
        Finding(
            "Even in an untrained LSTM the gradient vanishes more slowly than in an RNN.",
            "each step back multiplies it by more than in the RNN",
            f"{described(LSTM)}; larger than the RNN's factor in "
            f"{int((slower > 0).sum())} of {len(slower)}",
            Check(float(slower.min()), ">", 0.0),
            untestable=agreed(slower),
        ).cited("Hochreiter & Schmidhuber 1997"),
    )
    if n > 2:
        return findings
    there = "are 2 tokens" if n > 1 else "is 1 token"
    few = f"it takes at least 3 tokens, and there {there}"
    return tuple(
        replace(each, measured="nothing was measured", check=Check(0.0, ">", 0.0), untestable=few)
        for each in findings
    )


SEED = 11
LENGTH, LONGEST_MAP = 10, 24
DEPTH, DEEPEST = 3, 6


@dataclass(frozen=True)
class InfluenceMap:
    """One layer, or a stack of them."""

    name: str
    trained: bool  # whether its weights are the network's
    slope: NDArray[np.float64]  # ‖∂ output_i / ∂ input_j‖, (n, n); exactly 0 without influence
    steps: int  # that must run one after the other, for n tokens

    @property
    def share(self) -> NDArray[np.float64]:
        """The share of input j in all of output i's dependence, (n, n)."""
        return shares(self.slope)

    @property
    def receptive_field(self) -> int:
        """The most inputs that one output depends on."""
        return int((self.slope > 0).sum(axis=1).max())

    @property
    def by_distance(self) -> NDArray[np.float64]:
        """The mean slope at each distance |i − j|, (n,)."""
        n = len(self.slope)
        distance = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
        return np.array([self.slope[distance == d].mean() for d in range(n)])


@dataclass(frozen=True)
class Influence(Result):
    """The maps of all layers."""

    maps: tuple[InfluenceMap, ...]  # one a layer
    fading: tuple[Fading, ...]  # recurrent networks of one layer
    memory: NDArray[np.float64]  # the shares of the sentence read in the decoder's outputs, (n, n)
    depth: int  # how often each layer is stacked
    gain: float  # what the recurrent weights of the louder RNN are multiplied by


def input_influence(
    subject: Subject,
    length: int = LENGTH,
    depth: int = DEPTH,
    progress: Progress = lambda _: None,
    gain: float = GAIN,
) -> Influence:
    """‖∂ output_i / ∂ input_j‖ of each layer, stacked `depth` times, on the first `length` tokens.

    Attention and FFN stand behind their LayerNorm, which mixes no tokens, and so keep the scale
    they were trained on. The Frobenius norm is estimated, see `input_slopes`.
    """
    # Cloned, as tensors made in inference mode take no part in differentiation.
    x = subject.trace.blocks[subject.block].input[:length].to("cpu", torch.float32).clone()
    # What the network made of the sentence: the decoder's memory, as many tokens as x has.
    read = subject.trace.final[: len(x)].to("cpu", torch.float32).clone()
    layers = _layers(subject, x, read, depth)
    maps = []
    for place, layer in enumerate(layers):
        slope = input_slopes(layer.make(), x, subprogress(progress, place, len(layers) + 1))
        maps.append(InfluenceMap(layer.name, layer.trained, slope, layer.steps))
    decoder = _decoder(subject, depth)
    told = subprogress(progress, len(layers), len(layers) + 1)
    memory = shares(
        input_slopes(lambda copies: decoder(x.expand(len(copies), -1, -1), copies), read, told)
    )
    by_name = {each.name: each for each in maps}
    fading = fade(x, gain)
    findings = (*_findings(by_name, memory, len(x), depth), *fading_findings(fading, gain))
    return Influence(tuple(maps), fading, memory, depth, gain, findings=findings)


@dataclass(frozen=True)
class _Layer:
    """An InfluenceMap's layer, made when it is needed, as only one at a time is held in memory."""

    name: str
    trained: bool
    steps: int
    make: Callable[[], Map]  # gives a map (B, n, d) -> (B, n, d)


def _layers(subject: Subject, x: Tensor, read: Tensor, depth: int) -> tuple[_Layer, ...]:
    """All layers, to be made in this order, as the untrained ones share one generator."""
    n, d = x.shape
    encoder = subject.ours.encoder
    if subject.model.device.type != "cpu":
        encoder = copy.deepcopy(encoder).cpu()
    blocks = [encoder.blocks[(subject.block + k) % len(encoder.blocks)] for k in range(depth)]
    generator = torch.Generator().manual_seed(SEED)

    def feeding() -> Map:
        return _stacked([nn.Sequential(block.ffn_norm, block.ffn) for block in blocks])

    def attention(kind: Callable[[SelfAttention], SelfAttention]) -> Map:
        pairs = [(block.attention_norm, kind(block.attention)) for block in blocks]
        return _stacked([nn.Sequential(*pair) for pair in pairs])

    def convolving(n_layers: int = depth) -> Map:
        with draws_from(generator):
            return _convolutions([nn.Conv1d(d, d, 3, padding=1) for _ in range(n_layers)])

    def recurrent(kind: type[nn.RNN] | type[nn.LSTM]) -> Map:
        with draws_from(generator):
            layer = kind(d, d, depth, batch_first=True)
        return lambda v: layer(v)[0]

    def decoding() -> Map:
        decoder = _decoder(subject, depth)
        return lambda v: decoder(v, read.expand(len(v), -1, -1))

    return (
        _Layer("FFN", True, depth, feeding),
        _Layer("attention", True, depth, lambda: attention(lambda layer: layer)),
        _Layer("causal attention", True, depth, lambda: attention(_causal)),
        _Layer("encoder block", True, depth, lambda: _stacked(blocks)),
        _Layer("decoder block", False, depth, decoding),
        _Layer("convolution, width 3", False, 1, lambda: convolving(1)),
        _Layer(f"{depth} convolution{'s' * (depth > 1)}", False, depth, convolving),
        _Layer("RNN", False, n + depth - 1, lambda: recurrent(nn.RNN)),
        _Layer("LSTM", False, n + depth - 1, lambda: recurrent(nn.LSTM)),
    )


def _stacked(layers: Sequence[nn.Module]) -> Map:
    def run(v: Tensor) -> Tensor:
        for layer in layers:
            v = layer(v).output
        return v

    return run


def _causal(layer: SelfAttention) -> SelfAttention:
    """The same attention, with shared weights, without what comes later."""
    masked = copy.deepcopy(layer, {id(weight): weight for weight in layer.parameters()})
    masked.causal = True
    return masked


def _convolutions(layers: list[nn.Conv1d]) -> Map:
    def run(v: Tensor) -> Tensor:
        for layer in layers[:-1]:
            v = layer(v.mT).mT.relu()
        return layers[-1](v.mT).mT  # type: ignore[no-any-return]

    return run


def _decoder(subject: Subject, depth: int) -> Callable[[Tensor, Tensor], Tensor]:
    with draws_from(torch.Generator().manual_seed(SEED)):
        blocks = [DecoderBlock(subject.ours.encoder.config).eval() for _ in range(depth)]

    def run(v: Tensor, memory: Tensor) -> Tensor:
        for block in blocks:
            v = block(v, memory).output
        return v

    return run


def _findings(
    maps: dict[str, InfluenceMap], memory: NDArray[np.float64], n: int, depth: int
) -> tuple[Finding, ...]:
    alone = "it takes two tokens at least" if n < 2 else ""
    off = ~np.eye(n, dtype=bool)
    future = np.triu(np.ones((n, n), dtype=bool), 1)

    def most(name: str, where: NDArray[np.bool_]) -> float:
        return float(maps[name].share[where].max(initial=0.0))

    def least(name: str) -> float:
        return float(maps[name].share[off].min(initial=1.0))

    def nothing(claim: str, name: str, where: NDArray[np.bool_], because: str) -> Finding:
        share = most(name, where)
        measured = f"the largest of these shares: {short(share)}"
        found = Finding(claim, "exactly 0", measured, Check(share, "≤", 0.0), untestable=alone)
        return found.by_construction(because)

    def everything(claim: str, share: float, untestable: str = "") -> Finding:
        measured, check = f"the smallest share of any input: {short(share)}", Check(share, ">", 0.0)
        found = Finding(claim, "more than 0 everywhere", measured, check, untestable=untestable)
        return found.cited("Vaswani et al. 2017, section 3.2.3")

    reach = min(n, 2 * depth + 1)
    stack = next(name for name in maps if name.startswith(f"{depth} convolution"))
    return (
        nothing("FFN: an output depends on its own input and no other.", "FFN", off,
                "each row goes through W₁, φ and W₂ by itself"),
        everything("Attention: every output depends on every input.", least("attention"), alone),
        nothing("Causal attention: no output depends on what comes later.", "causal attention",
                future, "the mask sets later weights to 0"),
        everything("Encoder block: every output depends on every input.", least("encoder block"),
                   alone),
        nothing("Decoder block: no output depends on a later token of its own.", "decoder block",
                future, "the mask sets later weights to 0"),
        everything("Decoder block: every output depends on all of the sentence that was read.",
                   float(memory.min())),
        Finding(f"{depth} convolution{'s' * (depth > 1)} of width 3 see{'s' * (depth == 1)} "
                f"{2 * depth + 1} tokens.",
                f"{reach} of these {n}", f"{maps[stack].receptive_field} tokens",
                Check(abs(maps[stack].receptive_field - reach), "≤", 0.0,
                      words=("the number expected", "another number"))).by_construction(
                          "each layer adds a token on either side"),
        nothing("RNN and LSTM: no output depends on what comes later.",
                max(("RNN", "LSTM"), key=lambda name: most(name, future)), future,
                "they read from the first token to the last"),
    )  # fmt: skip
