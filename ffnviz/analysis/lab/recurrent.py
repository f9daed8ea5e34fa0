"""Recurrent networks: how the gradient of the last output changes with distance."""

import math
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ffnviz.analysis.lab.chance import agreed
from ffnviz.analysis.lab.experiment import Check, Finding
from ffnviz.analysis.lab.shares import DIRECTIONS
from ffnviz.analysis.number_format import short
from ffnviz.analysis.vector_jacobian import vector_jacobian
from ffnviz.models.random_init import draws_from

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
    """RNN, LSTM, and the RNN with its recurrent weights times `gain`; inputs x, (n, d).

    Weights as PyTorch draws them. A Frobenius norm is estimated as in `input_slopes`.
    """
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
        Finding("In an untrained RNN, as PyTorch draws it, the gradient vanishes over distance.",
                "each step back multiplies it by less than 1",
                f"spectral radius {radius}, {described(RNN)}",
                Check(float(factors[RNN].max()), "≤", 1.0),
                untestable=agreed(1 - factors[RNN])).cited("Bengio, Simard & Frasconi 1994"),
        Finding("With large recurrent weights an RNN's gradient explodes.",
                "each step back multiplies it by more than 1",
                f"times {gain:g}, spectral radius {louder}, {described(LOUD)}",
                Check(float(factors[LOUD].min()), ">", 1.0),
                untestable=agreed(factors[LOUD] - 1) if kinds[LOUD].radius > 1 else small).cited(
                    "Pascanu, Mikolov & Bengio 2013, section 2"),
        Finding("In an LSTM the gradient vanishes more slowly than in an RNN, untrained, too.",
                "each step back multiplies it by more than in the RNN",
                f"{described(LSTM)}; larger than the RNN's factor in "
                f"{int((slower > 0).sum())} of {len(slower)}",
                Check(float(slower.min()), ">", 0.0),
                untestable=agreed(slower)).cited("Hochreiter & Schmidhuber 1997"),
    )  # fmt: skip
    if n > 2:
        return findings
    there = "are 2 tokens" if n > 1 else "is 1 token"
    few = f"it takes a distance of 2 at least, and there {there}"
    return tuple(
        replace(each, measured="nothing was measured", check=Check(0.0, ">", 0.0), untestable=few)
        for each in findings
    )
