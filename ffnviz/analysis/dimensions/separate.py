"""Points that no straight line divides, lifted by W₁ and φ to where a hyperplane divides them.

This is an FFN in small: 2 → d_ff → 1. The more dimensions, the likelier such a hyperplane; in
general position, d_ff ≥ n − 1 suffice for n points of any two classes (Cover 1965).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from ffnviz.analysis.dimensions.points import Points
from ffnviz.models.activations import ACTIVATIONS, Activation
from ffnviz.models.optimizers import Adam

SQUARE = Activation("square", "x²", r"x^2", torch.square, source="Livni et al. 2014")
PHIS: dict[str, Activation] = {
    **{name: ACTIVATIONS[name] for name in ("identity", "sigmoid", "tanh", "relu", "gelu")},
    "square": SQUARE,
}
WIDEST = 256
STEEP = 3.0  # ‖w‖ of each unit: a sigmoid bends within the square
GRID = 65
STEPS = 120
RATE = 0.06
NOTHING = 1e-9  # a smaller score is rounding


@dataclass(frozen=True)
class Separated:
    """A network 2 → d_ff → 1, and how it divides the points."""

    right: int  # the number of points on their class's side
    # the read-out over the square, lowest row first, (GRID, GRID); above 0 for the first class
    score: NDArray[np.float32]
    weight: NDArray[np.float64]  # W₁'s columns, (d_ff, 2)
    bias: NDArray[np.float64]  # b₁, (d_ff,)
    away: NDArray[np.float64]  # each lifted point's signed distance from the hyperplane, (n,)
    across: NDArray[np.float64]  # its position on the first principal axis within that, (n,)


@dataclass(frozen=True)
class _Layers:
    phi: Activation
    weight: Tensor  # (d_ff, 2)
    bias: Tensor  # (d_ff,)
    out: Tensor  # (d_ff,)
    out_bias: Tensor  # ()

    def lift(self, x: Tensor) -> Tensor:
        """φ(x W₁ + b₁), (n, 2) -> (n, d_ff)."""
        return self.phi.function(F.linear(x, self.weight, self.bias))

    def score(self, x: Tensor) -> Tensor:
        """The read-out, (n, 2) -> (n,)."""
        return self.lift(x) @ self.out + self.out_bias

    def right(self, x: Tensor, target: Tensor) -> int:
        """The number of points, (n, 2), on the side of their class, (n,) of ±1."""
        return int(((self.score(x) > NOTHING) == (target > 0)).sum())


@torch.no_grad()
def separate(points: Points, phi: str, d_ff: int, draw: int, trained: bool) -> Separated:
    """Lift the points, and divide the classes by a flat cut.

    W₁ and b₁ are random: each unit bends along a line of a random direction that crosses the
    square; a wider network contains the units of a narrower one. The read-out is the least-squares
    fit to ±1. With `trained`, Adam then trains all weights on the logistic loss. `phi` is a name in
    PHIS, and `draw` numbers the random draws.
    """
    x, target = _as_tensors(points)
    layers = _random_layers(d_ff, phi, draw, x, target)
    if trained and len(x):
        layers = _train(layers, x, target)
    side = torch.linspace(-1, 1, GRID, dtype=torch.float64)
    grid = torch.stack(torch.meshgrid(side, side, indexing="xy"), dim=-1).flatten(0, 1)
    score = layers.score(grid).reshape(GRID, GRID).float().numpy()
    right, (away, across) = layers.right(x, target), _along_the_cut(layers, x)
    return Separated(right, score, layers.weight.numpy(), layers.bias.numpy(), away, across)


@torch.no_grad()
def by_width(points: Points, phi: str, widths: Sequence[int], draw: int) -> NDArray[np.int64]:
    """The number of points on their class's side with a random W₁ of each width, (n_widths,)."""
    x, target = _as_tensors(points)
    return np.array(
        [_random_layers(d_ff, phi, draw, x, target).right(x, target) for d_ff in widths]
    )


def _as_tensors(points: Points) -> tuple[Tensor, Tensor]:
    """The points, (n, 2), and their classes as ±1, (n,)."""
    return torch.from_numpy(points.xy), torch.from_numpy(np.where(points.first, 1.0, -1.0))


def _random_layers(d_ff: int, phi: str, draw: int, x: Tensor, target: Tensor) -> _Layers:
    """Random W₁ and b₁, with the shortest read-out of all with the least squared error."""
    generator = torch.Generator().manual_seed(draw)
    uniform = torch.rand(WIDEST, 2, generator=generator, dtype=torch.float64)[:d_ff]
    angle, offset = 2 * torch.pi * uniform[:, 0], 2 * uniform[:, 1] - 1
    weight = STEEP * torch.stack([angle.cos(), angle.sin()], dim=1)
    zeros = torch.zeros(d_ff, dtype=torch.float64)
    layers = _Layers(PHIS[phi], weight, STEEP * offset, zeros, zeros.sum())
    if not len(x):
        return layers
    with_one = torch.cat([layers.lift(x), torch.ones(len(x), 1, dtype=x.dtype)], dim=1)
    solution = torch.linalg.lstsq(with_one, target[:, None], rcond=1e-10, driver="gelsd").solution
    return replace(layers, out=solution[:-1, 0], out_bias=solution[-1, 0])


def _train(layers: _Layers, x: Tensor, target: Tensor) -> _Layers:
    """Train all weights by Adam on the mean of log(1 + exp(−target · score))."""
    start = (layers.weight, layers.bias, layers.out, layers.out_bias)
    weights = [weight.clone().requires_grad_() for weight in start]
    optimiser = Adam(weights, RATE)
    with torch.enable_grad():
        for _ in range(STEPS):
            loss = F.softplus(-target * _Layers(layers.phi, *weights).score(x)).mean()
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
    return _Layers(layers.phi, *(weight.detach() for weight in weights))


def _along_the_cut(layers: _Layers, x: Tensor) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Each lifted point's signed distance from the cut, and its position along it, (n,) each."""
    if not len(x):
        return np.zeros(0), np.zeros(0)
    length = layers.out.norm()
    if length < NOTHING:  # there is no cut: every point is equally far away
        length = torch.ones_like(length)
    lifted, normal = layers.lift(x), layers.out / length
    rest = lifted - torch.outer(lifted @ normal, normal)
    rest = rest - rest.mean(dim=0)
    axis = torch.linalg.svd(rest, full_matrices=False).Vh[0]
    return (layers.score(x) / length).numpy(), (rest @ axis).numpy()
