"""Interaction: what two changes of an FFN's input do together beyond what each does alone.

I = F(x + u + v) − F(x + u) − F(x + v) + F(x), the second difference of an FFN along two directions.
It is 0 for any affine map; for small steps it is Σ_n φ″(z_n) (u · k_n) (v · k_n) v_n.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.lab.local_map import Terms, derivative
from ffnviz.models.activations import ACTIVATIONS, Activation
from ffnviz.models.network import Network

# Pairs of sentences that differ in one thing, each with the word at which it is read.
PAIRS: dict[str, tuple[tuple[str, str, str, str], ...]] = {
    "singular → plural": (
        ("The dog ran away.", "dog", "The dogs ran away.", "dogs"),
        ("She saw the tree.", "tree", "She saw the trees.", "trees"),
        ("He took the book home.", "book", "He took the books home.", "books"),
        ("The girl sat down.", "girl", "The girls sat down.", "girls"),
    ),
    "present → past": (
        ("I walk to the house.", "walk", "I walked to the house.", "walked"),
        ("They look at the sea.", "look", "They looked at the sea.", "looked"),
        ("We live in the town.", "live", "We lived in the town.", "lived"),
        ("You call the boy.", "call", "You called the boy.", "called"),
    ),
    "he → she": (
        ("Then he came in.", "he", "Then she came in.", "she"),
        ("It was his hat.", "his", "It was her hat.", "her"),
        ("The man was old.", "man", "The woman was old.", "woman"),
        ("The boy was ill.", "boy", "The girl was ill.", "girl"),
    ),
}
STEPS = np.geomspace(1e-4, 4, 93)
FIRST = 12  # neurons that are named

Array = NDArray[np.float64]
Map = Callable[[Tensor], Tensor]


@torch.no_grad()
def direction(model: Network, block: int, name: str) -> Tensor:
    """The mean difference of an FFN's inputs over the pairs of that name, (d_model,) in float64."""

    def read(text: str, word: str) -> Tensor:
        trace, last = model.trace(text), text.index(word) + len(word) - 1
        at = next(k for k, token in enumerate(trace.tokens) if token.start <= last < token.end)
        return trace.blocks[block].ffn.input[at].cpu().double()

    return torch.stack([read(*pair[2:]) - read(*pair[:2]) for pair in PAIRS[name]]).mean(dim=0)


@dataclass(frozen=True)
class Interaction:
    """The interaction I of two directions, relative to ‖F(x)‖.

    Attributes:
        steps: a, by which both are multiplied, (n,).
        with_phi: ‖I‖ at each, (n,).
        without: the same of W₁ and W₂ alone, (n,).
        second: a² times the norm of the second derivative along both, (n,).
        until: the largest a up to which no neuron switches at any of the four places.
        neurons: those that write most of I at the chosen a, at most FIRST.
        lengths: ‖their part of I‖, as many.
        chosen: ‖I‖ at the chosen a.
        chosen_without: likewise without φ.
    """

    steps: Array
    with_phi: Array
    without: Array
    second: Array
    until: float
    neurons: NDArray[np.int64]
    lengths: Array
    chosen: float
    chosen_without: float


def difference(f: Map, x: Tensor, u: Tensor, v: Tensor) -> Tensor:
    """f(x + u + v) − f(x + u) − f(x + v) + f(x), of rows."""
    result: Tensor = f(x + u + v) - f(x + u) - f(x + v) + f(x)
    return result


def interaction(terms: Terms, x: Tensor, u: Tensor, v: Tensor, step: float) -> Interaction:
    """The interaction of two directions at an FFN's input, (d_model,) each."""
    x, u, v = (each.detach().cpu().double().clone() for each in (x, u, v))
    plain = replace(terms, phi=ACTIVATIONS["identity"])
    a = torch.from_numpy(np.append(STEPS, step))[:, None]
    size = terms.output(x).norm().clamp_min(1e-300)
    bent, flat = (
        (difference(each.output, x, a * u, a * v).norm(dim=-1) / size).numpy()
        for each in (terms, plain)
    )
    second = _second(terms, x, u, v).norm() / size
    # Each neuron's part is its hidden value's interaction times its row of W₂.
    parts = difference(terms.hidden, x, step * u, step * v)
    lengths = parts.abs() * terms.writes[: terms.d_ff].norm(dim=-1) / size
    best = lengths.topk(min(FIRST, len(lengths)))
    return Interaction(
        STEPS, bent[:-1], flat[:-1], float(second) * STEPS**2, _until(terms, x, u, v),
        best.indices.numpy(), best.values.numpy(), float(bent[-1]), float(flat[-1]),
    )  # fmt: skip


def _second(terms: Terms, x: Tensor, u: Tensor, v: Tensor) -> Tensor:
    """The second derivative of F along u and v, (d_model,).

    Plain, Σ φ″(z_n) (u · k_n) (v · k_n) v_n; gated, with the value g of each neuron, by the product
    rule: φ″ g z_u z_v + φ′ (z_u g_v + z_v g_u).
    """
    d_ff = terms.d_ff
    z, g = terms.before_phi(x)
    along = [each @ terms.reads.mT for each in (u, v)]
    (zu, gu), (zv, gv) = ((each[:d_ff], each[d_ff:]) for each in along)
    hidden = second_derivative(terms.phi, z) * zu * zv
    if terms.gated:
        hidden = hidden * g + derivative(terms.phi, z) * (zu * gv + zv * gu)
    written: Tensor = hidden @ terms.writes[:d_ff]
    return written


def second_derivative(phi: Activation, z: Tensor) -> Tensor:
    """φ″ at each z, any shape to the same shape; 0 where PyTorch has no second derivative."""
    with torch.inference_mode(False), torch.enable_grad():
        at = z.detach().clone().requires_grad_()
        (slope,) = torch.autograd.grad(phi.function(at).sum(), at, create_graph=True)
        if not slope.requires_grad:
            return torch.zeros_like(z)
        (curved,) = torch.autograd.grad(slope.sum(), at, materialize_grads=True)
    return curved


def _until(terms: Terms, x: Tensor, u: Tensor, v: Tensor) -> float:
    """The smallest a > 0 at which a pre-activation changes sign at x + au, x + av or x + au + av.

    Pre-activations are linear in a, so each changes sign at most once.
    """
    z = terms.before(x)[: terms.d_ff]
    slopes = (torch.stack([u, v, u + v]) @ terms.reads[: terms.d_ff].mT).flatten()
    at = -z.repeat(3) / slopes
    return float(at[at > 0].min()) if bool((at > 0).any()) else float("inf")
