"""Steering: a direction between two kinds of texts, added to the pass over another."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import SupportsIndex

import torch
from torch import Tensor

from ffnviz.analysis.causal.measure import activations, judged_at
from ffnviz.analysis.comparable import Comparable
from ffnviz.models.arguments import finite_number, place_of, texts_of
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

    Examples:
        >>> model = ffnviz.load("relu")
        >>> good, bad = ["A good [MASK].", "A kind [MASK]."], ["A bad [MASK].", "A cruel [MASK]."]
        >>> found = ffnviz.contrast(model, good, bad, block=0)
        >>> found.direction.shape, found.error.shape, found.block, found.at
        (torch.Size([512]), torch.Size([512]), 0, 'output')
    """

    direction: Tensor
    error: Tensor
    block: int
    at: str


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
        >>> model = ffnviz.load("relu")
        >>> good, bad = ["A good [MASK].", "A kind [MASK]."], ["A bad [MASK].", "A cruel [MASK]."]
        >>> ffnviz.contrast(model, good, bad, block=0).direction.shape
        torch.Size([512])
    """
    check_network(network)
    means, errors = [], []
    for name, some in (("texts", texts), ("others", others)):
        rows = []
        for text in texts_of(name, some):
            trace = network.trace(text)
            place = judged_at(network, trace, token)
            number = place_of("block", block, len(trace.blocks))
            rows.append(activations(network, trace.blocks[number], at)[place])
        if len(rows) < 2:
            raise ValueError("Give at least two texts of each kind: the error is their spread's.")
        samples = torch.stack(rows)
        means.append(samples.mean(dim=0))
        errors.append(samples.var(dim=0) / len(rows))
    return Contrast(means[0] - means[1], (errors[0] + errors[1]).sqrt(), block, at)


def steer(
    network: Network,
    text: str,
    direction: Tensor | Contrast,
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
        direction: (width,), or what `contrast` found, which knows its block and place.
        block: from 0, or −1, the last; None takes a contrast's own.
        strength: what it is multiplied with.
        at: the place in the block, as Edit has them; None takes a contrast's own, or "output".
        tokens: which; None takes all.

    Raises:
        TypeError: if the direction is neither, or a tensor is given without a block.
        ValueError: naming what is not there.

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
        block = direction.block if block is None else block
        at, direction = at or direction.at, direction.direction
    if not isinstance(direction, Tensor):
        raise TypeError(f"direction = {direction!r}: give a tensor, (width,), or a Contrast.")
    if block is None:
        raise TypeError("block: say into which block a direction is added that is a tensor.")
    added = finite_number("strength", strength) * direction
    return network.trace(text, [Edit(block, add=added, tokens=tokens, at=at or "output")])
