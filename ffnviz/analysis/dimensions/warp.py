"""A plane through three tokens' FFN inputs, carried through W₁, φ and W₂.

W₁ keeps a plane flat; φ bends it along the line on which each neuron's pre-activation is zero. With
ReLU the FFN is linear on each piece between these lines (Montúfar et al. 2014).
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from ffnviz.analysis.needs import Capability, require
from ffnviz.analysis.neurons.memory import row_norms
from ffnviz.models.activations import Activation
from ffnviz.models.network import Network
from ffnviz.models.views import FfnView

NEEDS = (Capability.PLAIN_FFN,)
CELLS = 36  # along each edge of the square
COARSE = 3  # the axes follow from every third point
MARGIN = 1.5  # edge of the square relative to the extent of the three tokens
SEED = 5

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Stage:
    """The square at one stage, projected onto two axes."""

    flat: Array  # its points without φ, (CELLS + 1, CELLS + 1, 2)
    bent: Array  # its points with φ, on the same axes
    # flat_tokens, bent_tokens: the three tokens likewise, (3, 2)
    flat_tokens: Array
    bent_tokens: Array
    explained: Array  # share of the bent points' variance along each axis, (2,)

    def at(self, share: float) -> tuple[Array, Array]:
        """The points and tokens with (1 − share) z + share φ(z) in place of φ(z)."""
        return (
            (1 - share) * self.flat + share * self.bent,
            (1 - share) * self.flat_tokens + share * self.bent_tokens,
        )


@dataclass(frozen=True)
class Warp:
    """The square before the FFN, in the plane's coordinates, and at two stages of it."""

    corners: Array  # the lower left and the upper right, (2, 2)
    plane: Array  # its points, (CELLS + 1, CELLS + 1, 2)
    tokens: Array  # the three tokens, (3, 2)
    hidden: Stage  # after W₁ and φ
    output: Stage  # after W₂
    # neurons with a pre-activation above zero at each cell's centre, (CELLS, CELLS)
    awake: NDArray[np.int64]
    lines: Array  # where a neuron's pre-activation is zero in the square: a s + b t + c = 0, (n, 3)
    n_pieces: int  # the pieces into which these lines cut the square


@torch.no_grad()
def warp(model: Network, block: int, inputs: Tensor, phi: Activation, n_neurons: int) -> Warp:
    """Carry a square of the plane through some of the neurons of a plain FFN.

    The plane goes through one to three FFN inputs, (n, d_model); missing directions are random. The
    neurons that take part are those whose terms vary most over the square. Each stage is projected
    onto the two principal axes of the bent square.

    Raises:
        NotForThisNetwork: for a gated FFN.
    """
    require(model, NEEDS)
    ffn = model.ffn(block)
    origin, axes, tokens = _plane(inputs.cpu().double())
    corners, plane = _square(tokens)
    coarse = plane[::COARSE, ::COARSE].flatten(0, 1)
    # In float32: in float64 the weights of all neurons would be 16 MB.
    slopes, start = _reads(ffn, origin.float(), axes.float())
    spread = phi.function(coarse.float() @ slopes + start).std(dim=0) * row_norms(ffn.values).cpu()
    chosen = spread.topk(min(n_neurons, len(spread))).indices
    slopes, start = _reads(ffn, origin, axes, chosen)
    bent = phi.function(coarse @ slopes + start)  # (n, n_neurons)
    within = ffn.values[chosen].cpu().double().mT
    if within.shape[1] < within.shape[0]:  # few neurons write few directions: the axes are there
        within = torch.linalg.qr(within).R

    def stage(projection: Tensor, explained: Array) -> Stage:
        """The square and the tokens by the neurons' terms on two axes, (n_neurons, 2)."""
        pre_activations = [points @ slopes + start for points in (plane, tokens)]
        flat, flat_tokens = ((z @ projection).numpy() for z in pre_activations)
        curved, curved_tokens = ((phi.function(z) @ projection).numpy() for z in pre_activations)
        return Stage(flat, curved, flat_tokens, curved_tokens, explained)

    hidden_axes, hidden_explained = _principal(bent, coarse)
    output_axes, output_explained = _principal(bent @ within.mT, coarse)
    centres = (plane[:-1, :-1] + plane[1:, 1:]) / 2
    lines = _crossing(torch.cat([slopes, start[None]]).mT, corners).numpy()
    return Warp(
        corners.numpy(),
        plane.numpy(),
        tokens.numpy(),
        stage(hidden_axes, hidden_explained),
        stage(within.mT @ output_axes, output_explained),
        (centres @ slopes + start > 0).sum(dim=-1).numpy(),
        lines,
        pieces(lines, corners.numpy()),
    )


def _reads(
    ffn: FfnView, origin: Tensor, axes: Tensor, chosen: Tensor | slice = slice(None)
) -> tuple[Tensor, Tensor]:
    """Neurons' pre-activations on the plane: the slopes along both axes, and those at the origin.

    (d_model,), (2, d_model) -> (2, n), (n,), in the origin's type.
    """
    keys = ffn.keys[chosen].cpu().to(origin)
    bias = None if ffn.key_bias is None else ffn.key_bias[chosen].cpu().to(origin)
    return axes @ keys.mT, F.linear(origin, keys, bias)


def _plane(inputs: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The first input, two orthonormal axes, (2, d_model), and three points on them, (3, 2)."""
    generator, origin = torch.Generator().manual_seed(SEED), inputs[0]
    length = origin.norm().clamp_min(1e-6)
    random = torch.randn(3, len(origin), generator=generator, dtype=torch.float64)
    axes, basis = torch.zeros(0, len(origin), dtype=torch.float64), [origin]
    for other in (*inputs[1:3], *(origin + length * F.normalize(random, dim=-1))):
        step = other - origin
        rest = step - step @ axes.mT @ axes
        if len(axes) < 2 and rest.norm() > 1e-6 * length:
            axes = torch.cat([axes, rest[None] / rest.norm()])
            basis.append(other)
    return origin, axes, (torch.stack(basis) - origin) @ axes.mT


def _square(tokens: Tensor) -> tuple[Tensor, Tensor]:
    """The corners of the square around the tokens, (2, 2), and its points, (rows, columns, 2)."""
    low, high = tokens.min(dim=0).values, tokens.max(dim=0).values
    half, middle = MARGIN * (high - low).max() / 2, (low + high) / 2
    side = torch.linspace(-1, 1, CELLS + 1, dtype=torch.float64) * half
    x, y = torch.meshgrid(middle[0] + side, middle[1] + side, indexing="xy")
    return torch.stack([middle - half, middle + half]), torch.stack([x, y], dim=-1)


def _principal(points: Tensor, places: Tensor) -> tuple[Tensor, Array]:
    """The first two principal axes of points, (n, d) -> (d, 2), and their shares of variance.

    Each points as the plane's own axis does, where the points have their places, (n, 2).
    """
    centred = points - points.mean(dim=0)
    _, singular, right = torch.linalg.svd(centred, full_matrices=False)
    shares = singular.square() / singular.square().sum().clamp_min(1e-30)
    basis, explained = torch.zeros(2, points.shape[1], dtype=torch.float64), np.zeros(2)
    basis[: len(right[:2])], explained[: len(shares[:2])] = right[:2], shares[:2].numpy()
    along = ((centred @ basis.mT) * (places - places.mean(dim=0))).sum(dim=0)
    return basis.mT * torch.where(along < 0, -1, 1), explained


def _crossing(lines: Tensor, corners: Tensor) -> Tensor:
    """The lines, (n, 3), that cross the square."""
    x, y = corners.mT
    four = torch.cat([torch.cartesian_prod(x, y), torch.ones(4, 1, dtype=torch.float64)], dim=1)
    signed = lines @ four.mT  # (n, 4)
    return lines[(signed.min(dim=1).values < 0) & (signed.max(dim=1).values > 0)]


def pieces(lines: Array, corners: Array) -> int:
    """The number of pieces into which lines cut a square: 1 + lines + crossings within it.

    Args:
        lines: a s + b t + c = 0, each crossing the square, no three through one point, (n, 3).
        corners: the lower left and the upper right, (2, 2).
    """
    n_crossings = 0
    for place in range(len(lines) - 1):
        (a, b, c), (u, v, w) = lines[place], lines[place + 1 :].T
        determinant = a * v - u * b
        with np.errstate(divide="ignore", invalid="ignore"):
            crossings = np.stack([b * w - v * c, c * u - w * a], axis=1) / determinant[:, None]
        inside = (crossings > corners[0]) & (crossings < corners[1])
        n_crossings += int(inside.all(axis=1).sum())
    return 1 + len(lines) + n_crossings
