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
from ffnviz.models.activations import Activation
from ffnviz.models.network import Network

NEEDS = (Capability.PLAIN_FFN,)
CELLS = 36  # along each edge of the square
COARSE = 3  # every third point decides on the axes
MARGIN = 1.5  # edge of the square, in sizes of the three tokens' triangle
SEED = 5

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Stage:
    """The square at one stage, on two axes."""

    flat: Array  # where its points are without φ, (CELLS + 1, CELLS + 1, 2)
    bent: Array  # where they are with φ, on the same axes
    # flat_tokens, bent_tokens: the same of the three tokens, (3, 2)
    flat_tokens: Array
    bent_tokens: Array
    explained: Array  # share of the bent points' variance along each axis, (2,)

    def at(self, share: float) -> tuple[Array, Array]:
        """Points and tokens for (1 − share) z + share φ(z) in place of φ(z)."""
        return (
            (1 - share) * self.flat + share * self.bent,
            (1 - share) * self.flat_tokens + share * self.bent_tokens,
        )


@dataclass(frozen=True)
class Warp:
    """What becomes of the square."""

    corners: Array  # the lowest left and the upper right one, in the plane, (2, 2)
    plane: Array  # its points in the plane, (CELLS + 1, CELLS + 1, 2)
    tokens: Array  # the three tokens there, (3, 2)
    hidden: Stage  # after W₁ and φ
    output: Stage  # after W₂
    # neurons with a pre-activation above zero in each cell's middle, (CELLS, CELLS)
    awake: NDArray[np.int64]
    lines: Array  # where a neuron's pre-activation is zero in the square: a s + b t + c = 0, (n, 3)
    n_pieces: int  # into how many pieces these lines cut the square


@torch.inference_mode()
def warp(model: Network, block: int, inputs: Tensor, phi: Activation, n_neurons: int) -> Warp:
    """Carry a square of the plane through a plain FFN of which some neurons take part.

    Each stage is seen on the two principal axes of what φ makes of the square there.

    Args:
        model: whose FFN.
        block: from 0.
        inputs: one to three FFN inputs, (n, d_model); what is missing for a plane is drawn.
        phi: the activation function, the network's or another.
        n_neurons: how many neurons take part: those whose writing varies most over the square.

    Raises:
        NotForThisNetwork: for a gated FFN.
    """
    require(model, NEEDS)
    ffn = model.ffn(block)
    origin, axes, tokens = _plane(inputs.cpu().double())
    keys, values = ffn.keys.cpu().double(), ffn.values.cpu().double()
    start = F.linear(origin, keys, None if ffn.key_bias is None else ffn.key_bias.cpu().double())
    slopes = axes @ keys.mT  # (2, d_ff)
    corners, plane = _square(tokens)
    coarse = plane[::COARSE, ::COARSE].flatten(0, 1)
    bent = phi.function(coarse @ slopes + start)  # (n, d_ff)
    spread = bent.std(dim=0) * values.norm(dim=-1)
    chosen = spread.topk(min(n_neurons, len(spread))).indices
    bent, start, slopes, values = bent[:, chosen], start[chosen], slopes[:, chosen], values[chosen]

    def seen(reads: Tensor, explained: Array) -> Stage:
        """What the neurons add along two axes, reads, (n_neurons, 2)."""
        before = [each @ slopes + start for each in (plane, tokens)]
        flat, flat_tokens = ((z @ reads).numpy() for z in before)
        curved, curved_tokens = ((phi.function(z) @ reads).numpy() for z in before)
        return Stage(flat, curved, flat_tokens, curved_tokens, explained)

    across, explained = _principal(bent)
    hidden = seen(across, explained)
    across, explained = _principal(bent @ values)
    output = seen(values @ across, explained)
    middles = (plane[:-1, :-1] + plane[1:, 1:]) / 2
    awake = (middles @ slopes + start > 0).sum(dim=-1)
    lines = _crossing(torch.cat([slopes, start[None]]).mT, corners).numpy()
    n_pieces = pieces(lines, corners.numpy())
    return Warp(
        corners.numpy(), plane.numpy(), tokens.numpy(), hidden, output, awake.numpy(), lines,
        n_pieces,
    )  # fmt: skip


def _plane(inputs: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The first input, two axes of length 1, (2, d_model), and three points on them, (3, 2)."""
    generator = torch.Generator().manual_seed(SEED)
    origin = inputs[0]
    length = origin.norm().clamp_min(1e-6)
    drawn = torch.randn(3, len(origin), generator=generator, dtype=torch.float64)
    axes, basis = torch.zeros(0, len(origin), dtype=torch.float64), [origin]
    for other in (*inputs[1:3], *(origin + length * F.normalize(drawn, dim=-1))):
        step = other - origin
        rest = step - step @ axes.mT @ axes
        if len(axes) < 2 and rest.norm() > 1e-6 * length:
            axes = torch.cat([axes, rest[None] / rest.norm()])
            basis.append(other)
    return origin, axes, (torch.stack(basis) - origin) @ axes.mT


def _square(tokens: Tensor) -> tuple[Tensor, Tensor]:
    """The corners of the square around the three, (2, 2), and its points."""
    low, high = tokens.min(dim=0).values, tokens.max(dim=0).values
    half, middle = MARGIN * (high - low).max() / 2, (low + high) / 2
    side = torch.linspace(-1, 1, CELLS + 1, dtype=torch.float64) * half
    plane = torch.stack(
        torch.meshgrid(middle[0] + side, middle[1] + side, indexing="xy"), dim=-1
    )  # (rows, columns, 2)
    return torch.stack([middle - half, middle + half]), plane


def _principal(points: Tensor) -> tuple[Tensor, Array]:
    """The first two principal axes of points, (n, d) -> (d, 2), and their shares of variance."""
    centred = points - points.mean(dim=0)
    _, singular, right = torch.linalg.svd(centred, full_matrices=False)
    shares = singular.square() / singular.square().sum().clamp_min(1e-30)
    basis, explained = torch.zeros(2, points.shape[1], dtype=torch.float64), np.zeros(2)
    basis[: len(right[:2])], explained[: len(shares[:2])] = right[:2], shares[:2].numpy()
    return basis.mT, explained


def _crossing(lines: Tensor, corners: Tensor) -> Tensor:
    """Those of the lines, (n, 3), that cross the square."""
    (left, low), (right, high) = corners.tolist()
    four = torch.tensor(
        [[left, low, 1], [left, high, 1], [right, low, 1], [right, high, 1]], dtype=torch.float64
    )
    at = lines @ four.mT  # (n, 4)
    return lines[(at.min(dim=1).values < 0) & (at.max(dim=1).values > 0)]


def pieces(lines: Array, corners: Array) -> int:
    """Into how many pieces lines cut a square: 1, and 1 a line, and 1 a crossing within it.

    Args:
        lines: a s + b t + c = 0, each crossing the square, no three through one point, (n, 3).
        corners: the lowest left and the upper right, (2, 2).
    """
    n_crossings = 0
    for place in range(len(lines) - 1):
        (a, b, c), (u, v, w) = lines[place], lines[place + 1 :].T
        turn = a * v - u * b
        with np.errstate(divide="ignore", invalid="ignore"):
            at = np.stack([(b * w - v * c) / turn, (c * u - w * a) / turn], axis=1)
        inside = (at > corners[0]) & (at < corners[1])
        n_crossings += int(inside.all(axis=1).sum())
    return 1 + len(lines) + n_crossings
