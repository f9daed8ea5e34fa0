"""Steering: a direction between two kinds of texts, added to the pass over another."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from reprlib import repr as shorten
from typing import Any, SupportsIndex

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.causal.measure import activations, judged_at
from ffnviz.analysis.comparable import Comparable
from ffnviz.models.arguments import check_has_values, finite_number, place_of, texts_of
from ffnviz.models.edit import Edit
from ffnviz.models.network import Network, check_network
from ffnviz.models.trace import Trace


@dataclass(frozen=True, eq=False)
class Contrast(Comparable):
    """The mean of some activations minus the mean of others.

    Attributes:
        direction: the difference, (width,).
        error: its standard error, √(s²₊/n₊ + s²₋/n₋), by component, (width,).
        block: from 0.
        at: the place in the block, as Edit has them.
        network: in which it was found; None if it was pickled.

    Examples:
        >>> good, bad = ["A good [MASK].", "A kind [MASK]."], ["A bad [MASK].", "A cruel [MASK]."]
        >>> found = ffnviz.contrast(ffnviz.load("relu"), good, bad, block=0)
        >>> found.direction.shape, found.error.shape, found.block, found.at
        (torch.Size([512]), torch.Size([512]), 0, 'output')
    """

    direction: Tensor
    error: Tensor
    block: int
    at: str
    network: Any = field(default=None, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        """Pickled, it leaves its network out."""
        return vars(self) | {"network": None}


@torch.no_grad()
def contrast(
    network: Network,
    texts: Iterable[str],
    others: Iterable[str],
    block: int,
    *,
    at: str = "output",
    token: int | None = None,
) -> Contrast:
    """mean(a | texts) − mean(a | others), (width,): the difference in means (Rimsky et al. 2024).

    Args:
        network: any.
        texts: at least two with the property that is looked for.
        others: at least two without it.
        block: from 0.
        at: the place in the block, as Edit has them.
        token: of each text; None takes the mask, or a causal network's last token.

    Raises:
        TypeError: if one text is given instead of several.
        ValueError: for fewer than two texts of a kind, which have no standard error.

    Examples:
        >>> good, bad = ["A good [MASK].", "A kind [MASK]."], ["A bad [MASK].", "A cruel [MASK]."]
        >>> ffnviz.contrast(ffnviz.load("relu"), good, bad, block=0).direction.shape
        torch.Size([512])
    """
    check_network(network)
    block = place_of("block", block, network.sizes.n_blocks)
    means, errors = [], []
    for name, some in (("texts", texts), ("others", others)):
        rows = []
        for text in texts_of(name, some):
            trace = network.trace(text)
            place = judged_at(network, trace, token)
            rows.append(activations(network, trace.blocks[block], at)[place])
        if len(rows) < 2:
            raise ValueError(
                "Give at least two texts of each kind: the error comes from their spread."
            )
        samples = torch.stack(rows)
        means.append(samples.mean(dim=0))
        errors.append(samples.var(dim=0) / len(rows))
    return Contrast(means[0] - means[1], (errors[0] + errors[1]).sqrt(), block, at, network)


def steer(
    network: Network,
    text: str,
    direction: Tensor | NDArray[np.floating] | Contrast,
    block: int | None = None,
    strength: float = 1.0,
    *,
    at: str | None = None,
    tokens: Iterable[SupportsIndex] | None = None,
) -> Trace:
    """a ← a + strength · direction, at all tokens or some (Turner et al. 2023).

    Args:
        network: any.
        text: what it reads.
        direction: (width,), or what `contrast` found, which knows its block, place and network.
        block: from 0, or −1, the last; None takes a contrast's own.
        strength: what it is multiplied by.
        at: the place in the block, as Edit has them; None takes a contrast's own, or "output".
        tokens: which; None takes all.

    Raises:
        TypeError: if the direction is neither, or a tensor is given without a block.
        ValueError: naming what is not there; if the contrast is one of another network.

    Examples:
        >>> model = ffnviz.load("relu")
        >>> direction = torch.ones(model.sizes.d_model)
        >>> trace = ffnviz.steer(model, "It was late.", direction, block=0, strength=2.0)
        >>> plain = model.trace("It was late.")
        >>> torch.allclose(trace.blocks[0].output, plain.blocks[0].output + 2, atol=1e-5)
        True
    """
    check_network(network)
    if isinstance(direction, Contrast):
        other = direction.network
        known = other is None or other is network or other.fingerprint == network.fingerprint
        if not known:
            raise ValueError(
                f"This contrast was found in another network, {other.card.label}. If it is to be "
                f"added to {network.card.label} all the same, give its direction and say where: "
                f"steer(network, text, found.direction, block={direction.block}, "
                f"at={direction.at!r})."
            )
        block = direction.block if block is None else block
        at, direction = direction.at if at is None else at, direction.direction
    if not isinstance(direction, Tensor | np.ndarray):
        raise TypeError(
            f"direction = {shorten(direction)}: give a tensor, (width,), or a Contrast."
        )
    check_has_values("direction", direction)
    direction = torch.as_tensor(direction)
    if block is None:
        raise TypeError("block: a direction that is a tensor needs the block to which it is added.")
    added = finite_number("strength", strength) * direction
    at = "output" if at is None else at
    return network.trace(text, [Edit(block, add=added, tokens=tokens, at=at)])
