"""The activations of a trace at the places where an Edit can be made."""

from collections.abc import Iterable

import torch
from torch import Tensor

from ffnviz.analysis.needs import Capability, require
from ffnviz.models.arguments import texts_of
from ffnviz.models.edit import PLACES
from ffnviz.models.network import Network, NotForThisNetwork
from ffnviz.models.trace import BlockStages


def activations(network: Network, block: BlockStages, at: str) -> Tensor:
    """What `Edit(…, at=at)` would change: (*batch, T, d_ff) of "hidden", else (…, d_model).

    Raises:
        ValueError: for an unknown place.
        NotForThisNetwork: for attention that is neither recorded nor simply added to the stream,
            and for heads that are not seen.
    """
    if at not in PLACES:
        raise ValueError(f"at = {at!r} is not allowed: one of {', '.join(PLACES)}.")
    if at == "hidden":
        return block.ffn.hidden
    if at == "ffn":
        return block.ffn.output
    if at == "heads":
        return block.attention.z.transpose(-3, -2).flatten(-2)
    if at == "attention":
        try:
            return block.attention.output
        except NotForThisNetwork:
            require(network, (Capability.PRE_NORM,))
            return block.middle - block.input
    stream: Tensor = getattr(block, at)
    return stream


def place_at(at: str | None, heads: object, otherwise: str) -> str:
    """The place of an intervention: heads are at "heads", all else at its usual place."""
    if at is None:
        return otherwise if heads is None else "heads"
    return at


@torch.no_grad()
def rows_of(network: Network, texts: Iterable[str], block: int, at: str) -> Tensor:
    """The activations there of all typed tokens of many texts, (n, width).

    Raises:
        TypeError: if one text is given instead of several.
        ValueError: if there are no texts, or no tokens in them.
    """
    rows, n_texts = [], 0
    for n_texts, text in enumerate(texts_of("reference", texts), start=1):  # noqa: B007
        trace = network.trace(text)
        typed = [place for place, token in enumerate(trace.tokens) if not token.special]
        rows.append(activations(network, trace.blocks[block], at)[typed])
    if n_texts and not sum(map(len, rows)):
        raise ValueError(
            "The texts of reference have no tokens but the tokenizer's own, such as [CLS] and "
            "[SEP]: there is nothing to take the mean of, or to draw from."
        )
    if not n_texts:
        raise ValueError("Give texts to take the mean of, or to draw from: reference=[…].")
    return torch.cat(rows)
