"""Points that no straight line divides, lifted by W₁ and φ to where a flat cut does.

An FFN's way in small: 2 → d_ff → 1. Cover 1965: the more dimensions, the likelier a flat cut; in
general position, d_ff ≥ n − 1 suffice for n points of any two classes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from ffnviz.analysis.dimensions.points import Points
from ffnviz.models.activations import ACTIVATIONS, Activation

SQUARE = Activation("square", "x²", r"x^2", torch.square, source="Livni et al. 2014")
PHIS: dict[str, Activation] = {
    **{name: ACTIVATIONS[name] for name in ("identity", "sigmoid", "tanh", "relu", "gelu")},
    "square": SQUARE,
}
WIDEST = 256
STEEP = 3.0  # ‖w‖ of each unit, so that a sigmoid bends within the square
GRID = 65
STEPS = 120
RATE = 0.06
NOTHING = 1e-9  # a score as small as this is rounding


@dataclass(frozen=True)
class Separated:
    """A network 2 → d_ff → 1 and what it makes of the points."""

    right: int  # points on their class's side
    # the read-out over the square, row by row from below, (GRID, GRID); the first class is where it
    # is above 0
    score: NDArray[np.float32]
    weight: NDArray[np.float64]  # W₁'s columns, (d_ff, 2)
    bias: NDArray[np.float64]  # b₁, (d_ff,)
    away: NDArray[np.float64]  # how far each lifted point is from the flat cut, signed, (n,)
    # where it lies along the cut, on the first principal axis there, (n,)
    across: NDArray[np.float64]


@dataclass(frozen=True)
class _Layers:
    weight: Tensor  # (d_ff, 2)
    bias: Tensor  # (d_ff,)
    out: Tensor  # (d_ff,)
    out_bias: Tensor  # ()

    def lift(self, phi: Activation, x: Tensor) -> Tensor:
        """φ(x W₁ + b₁), (n, 2) -> (n, d_ff)."""
        return phi.function(F.linear(x, self.weight, self.bias))

    def score(self, phi: Activation, x: Tensor) -> Tensor:
        """The read-out, (n, 2) -> (n,)."""
        return self.lift(phi, x) @ self.out + self.out_bias


@torch.no_grad()
def separate(points: Points, phi: str, d_ff: int, draw: int, trained: bool) -> Separated:
    """Lift the points and read the class off by a flat cut.

    W₁ and b₁ are drawn: each unit bends along a line of a random direction that crosses the square;
    a wider network has the units of a narrower one, and more. The read-out is least squares on ±1.
    Trained, all weights then go on by Adam on the logistic loss.

    Args:
        points: of two classes.
        phi: a name in PHIS.
        d_ff: hidden units.
        draw: which of the random draws.
        trained: whether W₁ is trained too.
    """
    x, wanted = torch.from_numpy(points.xy), torch.from_numpy(np.where(points.first, 1.0, -1.0))
    activation = PHIS[phi]
    layers = _drawn(d_ff, draw)
    layers = _read_out(layers, activation, x, wanted)
    if trained and len(x):
        layers = _train(layers, activation, x, wanted)
    side = torch.linspace(-1, 1, GRID, dtype=torch.float64)
    over = torch.stack(torch.meshgrid(side, side, indexing="xy"), dim=-1).flatten(0, 1)
    score = layers.score(activation, over).reshape(GRID, GRID).float().numpy()
    away, across = _seen(layers, activation, x)
    right = _right(layers, activation, x, wanted)
    return Separated(right, score, layers.weight.numpy(), layers.bias.numpy(), away, across)


@torch.no_grad()
def by_width(points: Points, phi: str, widths: Sequence[int], draw: int) -> NDArray[np.int64]:
    """The points on their side for random W₁ of each width, (n_widths,)."""
    x, wanted = torch.from_numpy(points.xy), torch.from_numpy(np.where(points.first, 1.0, -1.0))
    results = []
    for d_ff in widths:
        layers = _read_out(_drawn(d_ff, draw), PHIS[phi], x, wanted)
        results.append(_right(layers, PHIS[phi], x, wanted))
    return np.array(results)


def _right(layers: _Layers, phi: Activation, x: Tensor, wanted: Tensor) -> int:
    return int(((layers.score(phi, x) > NOTHING) == (wanted > 0)).sum())


def _drawn(d_ff: int, draw: int) -> _Layers:
    generator = torch.Generator().manual_seed(draw)
    drawn = torch.rand(WIDEST, 2, generator=generator, dtype=torch.float64)[:d_ff]
    angle, offset = 2 * torch.pi * drawn[:, 0], 2 * drawn[:, 1] - 1
    weight = STEEP * torch.stack([angle.cos(), angle.sin()], dim=1)
    nothing = torch.zeros(d_ff, dtype=torch.float64)
    return _Layers(weight, STEEP * offset, nothing, nothing.sum())


def _read_out(layers: _Layers, phi: Activation, x: Tensor, wanted: Tensor) -> _Layers:
    """The same with the best read-out by least squares: the shortest, where there are many."""
    if not len(x):
        return layers
    lifted = layers.lift(phi, x)
    with_one = torch.cat([lifted, torch.ones(len(x), 1, dtype=x.dtype)], dim=1)
    solution = torch.linalg.lstsq(with_one, wanted[:, None], rcond=1e-10, driver="gelsd").solution
    return _Layers(layers.weight, layers.bias, solution[:-1, 0], solution[-1, 0])


def _train(layers: _Layers, phi: Activation, x: Tensor, wanted: Tensor) -> _Layers:
    """All weights by Adam on the mean of log(1 + exp(−wanted · score))."""
    start = (layers.weight, layers.bias, layers.out, layers.out_bias)
    free = [weight.clone().requires_grad_() for weight in start]
    optimiser = torch.optim.Adam(free, RATE)
    with torch.enable_grad():
        for _ in range(STEPS):
            loss = F.softplus(-wanted * _Layers(*free).score(phi, x)).mean()
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
    return _Layers(*(weight.detach() for weight in free))


def _seen(
    layers: _Layers, phi: Activation, x: Tensor
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The lifted points as seen along the cut: their distance from it, and their place on it."""
    if not len(x):
        return np.zeros(0), np.zeros(0)
    length = layers.out.norm()
    if length < NOTHING:  # no cut at all: every point is as far away as any other
        length = torch.ones_like(length)
    lifted, normal = layers.lift(phi, x), layers.out / length
    away = layers.score(phi, x) / length
    rest = lifted - torch.outer(lifted @ normal, normal)
    rest = rest - rest.mean(dim=0)
    axis = torch.linalg.svd(rest, full_matrices=False).Vh[0]
    return away.numpy(), (rest @ axis).numpy()
