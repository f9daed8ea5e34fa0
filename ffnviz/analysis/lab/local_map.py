"""One token, one matrix: the FFN's Jacobian at a token, and on the way to another token.

Between two kinks a ReLU FFN is an affine map (Montúfar et al. 2014); the input chooses which one.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.models.activations import Activation
from ffnviz.models.network import NotForThisNetwork
from ffnviz.models.views import FfnView

STOPS = 41  # along the way
SEEN = 32  # neurons whose switching is shown
NEAR = 6  # switches on either side of the place that is looked at closely
MOST = 8_192  # terms: with more, the products of all pairs would take gigabytes

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Terms:
    """An FFN in float64 whose Jacobian is J(x) = Σ_n c_n(x) reads_nᵀ writes_n.

    Plain, there is a term a neuron, and c = φ′(z): J = W₁ diag(φ′(z)) W₂. Gated, a neuron has two:
    φ′(z) v along its key, and φ(z) along its value projection.
    """

    reads: Tensor  # (n_terms, d_model)
    writes: Tensor  # (n_terms, d_model)
    biases: Tensor  # added to x · reads, (n_terms,)
    output_bias: Tensor  # (d_model,)
    phi: Activation  # φ
    d_ff: int  # the number of neurons

    @property
    def gated(self) -> bool:
        """Whether φ(z) is multiplied by a second projection, v."""
        return len(self.reads) > self.d_ff

    def before_phi(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """z and, if gated, v, which is else empty, (…, d_model) -> (…, d_ff) and (…, d_ff or 0)."""
        both = x @ self.reads.mT + self.biases
        return both[..., : self.d_ff], both[..., self.d_ff :]

    def coefficients(self, x: Tensor) -> Tensor:
        """c, (…, d_model) -> (…, n_terms)."""
        z, v = self.before_phi(x)
        slope = derivative(self.phi, z)
        return torch.cat([slope * v, self.phi.function(z)], dim=-1) if self.gated else slope

    def hidden(self, x: Tensor) -> Tensor:
        """φ(z) or, if gated, φ(z) v, (…, d_model) -> (…, d_ff)."""
        z, v = self.before_phi(x)
        return self.phi.function(z) * v if self.gated else self.phi.function(z)

    def output(self, x: Tensor) -> Tensor:
        """FFN(x), (…, d_model) -> (…, d_model)."""
        return self.hidden(x) @ self.writes[: self.d_ff] + self.output_bias

    def jacobian(self, x: Tensor) -> Tensor:
        """J of one input, (d_model,) -> (d_model, d_model): FFN(x + δ) ≈ FFN(x) + δ J."""
        return (self.reads.mT * self.coefficients(x)) @ self.writes


def derivative(phi: Activation, z: Tensor) -> Tensor:
    """φ′ at each z, any shape to the same shape; at a kink as in PyTorch: 0 for ReLU."""
    with torch.inference_mode(False), torch.enable_grad():
        at = z.detach().clone().requires_grad_()
        (slope,) = torch.autograd.grad(phi.function(at).sum(), at)
    return slope


def terms_of(view: FfnView) -> Terms:
    """A view's weights as the terms of its Jacobian."""

    def double(each: Tensor | None, length: int) -> Tensor:
        return torch.zeros(length).double() if each is None else each.detach().cpu().double()

    d_ff, d_model = view.keys.shape
    reads, writes = double(view.keys, 0), double(view.values, 0)
    biases = double(view.key_bias, d_ff)
    if view.gated_value is not None:
        reads = torch.cat([reads, double(view.gated_value, 0)])
        writes = torch.cat([writes, writes])
        biases = torch.cat([biases, double(view.gated_value_bias, d_ff)])
    return Terms(reads, writes, biases, double(view.output_bias, d_model), view.phi, d_ff)


@dataclass(frozen=True)
class Way:
    """How J changes on a straight line from one FFN input, x₀, to another."""

    shares: Array  # of the way, (STOPS,)
    distance: Array  # ‖J − J₀‖ / ‖J₀‖ there, with Frobenius norms, (STOPS,)
    active: NDArray[np.int64]  # neurons whose pre-activation is above zero there, (STOPS,)
    # neurons whose pre-activation has another sign at the end; on a straight line none changes its
    # sign twice
    switched: int
    # those whose φ′ changes J most, at most SEEN: first those that switch off, in the order in
    # which they do, then those that switch on, the last first
    neurons: NDArray[np.int64]
    slopes: Array  # their φ′, (SEEN, STOPS)


@torch.no_grad()
def way(terms: Terms, start: Tensor, end: Tensor) -> Way:
    """The way from one FFN input to another, (d_model,) each."""
    if len(terms.reads) > MOST:
        raise NotForThisNetwork(
            f"This network's FFN has {terms.d_ff:,} neurons; the change of its matrix is computed "
            f"for {MOST // (1 + terms.gated):,} at most."
        )
    shares = torch.linspace(0, 1, STOPS, dtype=torch.float64)
    points = torch.lerp(start.cpu().double(), end.cpu().double(), shares[:, None])
    z, _ = terms.before_phi(points)
    slopes, coefficients = derivative(terms.phi, z), terms.coefficients(points)
    reach = terms.reads.norm(dim=-1) * terms.writes.norm(dim=-1)
    weight = ((slopes[-1] - slopes[0]).abs() * reach[: terms.d_ff]).topk(min(SEEN, terms.d_ff))
    chosen = weight.indices[weight.values > 0]
    crossing = -z[0, chosen] / (z[-1, chosen] - z[0, chosen])
    falling = slopes[-1, chosen] < slopes[0, chosen]
    chosen = chosen[torch.where(falling, crossing, 2 - crossing).argsort()]
    return Way(
        shares.numpy(),
        _distances(terms, coefficients).numpy(),
        (z > 0).sum(dim=-1).numpy(),
        int(((z[0] > 0) != (z[-1] > 0)).sum()),
        chosen.numpy(),
        slopes[:, chosen].mT.numpy(),
    )


def _distances(terms: Terms, coefficients: Tensor) -> Tensor:
    """‖J(c) − J(c₀)‖ / ‖J(c₀)‖ for rows c, (n, n_terms) -> (n,).

    ‖Σ c_n r_nᵀ w_n‖² = Σ_nm c_n c_m (r_n · r_m)(w_n · w_m): no J is made.
    """
    pairs = (terms.reads @ terms.reads.mT) * (terms.writes @ terms.writes.mT)

    def norm(rows: Tensor) -> Tensor:
        return ((rows @ pairs) * rows).sum(dim=-1).clamp_min(0).sqrt()

    return norm(coefficients - coefficients[0]) / norm(coefficients[:1]).clamp_min(1e-300)


@dataclass(frozen=True)
class Place:
    """One place on the way, looked at closely."""

    singular: Array  # J's singular values there, falling, (d_model,)
    rank: int  # how many of these are more than rounding
    active: int  # neurons whose terms in J are not 0 there
    shares: Array  # of the way, around the place, (n,)
    # ‖FFN(x) − FFN(x₁) − (x − x₁) J(x₁)‖ / ‖FFN(x₁)‖ at these shares, with x₁ at the place, (n,)
    off: Array
    piece: tuple[float, float]  # the shares between which no neuron switches


@torch.no_grad()
def look_at(terms: Terms, start: Tensor, end: Tensor, share: float) -> Place:
    """J at one share of the way, and how well it describes the FFN around that place."""
    start, end = start.cpu().double(), end.cpu().double()
    x = torch.lerp(start, end, share)
    jacobian = terms.jacobian(x)
    singular = torch.linalg.svdvals(jacobian)
    zero = float(singular[0]) * len(singular) * torch.finfo(singular.dtype).eps
    first, last = terms.before_phi(torch.stack([start, end]))[0]
    crossings = (-first / (last - first))[(first > 0) != (last > 0)].sort().values
    below, above = crossings[crossings <= share], crossings[crossings > share]
    near = torch.cat([below[-NEAR:], above[:NEAR]])
    half = max([abs(float(each) - share) for each in near], default=0.5)
    around = torch.linspace(max(0.0, share - half), min(1.0, share + half), 121).double()
    points = torch.lerp(start, end, around[:, None])
    here = terms.output(x)
    off = (terms.output(points) - here - (points - x) @ jacobian).norm(dim=-1)
    return Place(
        singular.numpy(),
        int((singular > zero).sum()),
        int((terms.coefficients(x).view(-1, terms.d_ff) != 0).any(dim=0).sum()),
        around.numpy(),
        (off / here.norm().clamp_min(1e-300)).numpy(),
        (float(below[-1]) if len(below) else 0.0, float(above[0]) if len(above) else 1.0),
    )
