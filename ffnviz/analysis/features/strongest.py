"""The texts in which each feature is most active."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from ffnviz.analysis.comparable import Comparable
from ffnviz.analysis.features.encoding import check_fit, features_of, warn_without_start
from ffnviz.models.arguments import at_least, texts_of
from ffnviz.models.network import Network
from ffnviz.models.sae import Sae

EXAMPLES = 12


@dataclass(frozen=True, eq=False)
class FeatureExamples(Comparable):
    """Where each feature of a dictionary is strongest.

    Attributes:
        values: its largest values, one a text, the largest first, (k, d_sae); 0 where it is active
            in fewer than k texts.
        texts: the numbers of those texts, (k, d_sae).
        tokens: at which of their tokens, (k, d_sae).
        active: on how many tokens it is active, (d_sae,).
        n_tokens: of all texts.
        read: the texts.

    Examples:
        >>> model = ffnviz.load("relu")
        >>> eye, zero = torch.eye(2048), torch.zeros(2048)  # a feature a neuron
        >>> weights = {"w_enc": eye, "w_dec": eye, "b_dec": zero, "b_enc": zero}
        >>> sae = ffnviz.Sae("neurons", 1, "hidden", "standard", **weights)
        >>> found = ffnviz.sae_examples(model, sae, ["She sat.", "He lit a [MASK]."], k=1)
        >>> found.values.shape, found.texts.shape, found.active.shape, found.read[1]
        ((1, 2048), (1, 2048), (2048,), 'He lit a [MASK].')
    """

    values: NDArray[np.float32]
    texts: NDArray[np.int64]
    tokens: NDArray[np.int64]
    active: NDArray[np.int64]
    n_tokens: int
    read: tuple[str, ...]


@torch.no_grad()
def sae_examples(
    network: Network,
    sae: Sae,
    texts: Iterable[str],
    k: int = EXAMPLES,
    progress: Callable[[int], None] = lambda _texts: None,
) -> FeatureExamples:
    """The k texts in which each feature is most active, in one pass over texts that are kept.

    Args:
        network: any.
        sae: a dictionary of its activations at a place, from `read_sae`.
        texts: each read by itself.
        k: how many for each feature, at most.
        progress: told after each text how many are done.

    Raises:
        TypeError: if one text is given instead of several.
        ValueError: if there are none.
        SaeError: a ValueError, if the dictionary does not fit.

    Warns:
        UserWarning: if the dictionary's texts began with a token of their own, and the first of
            these does not.

    Examples:
        >>> model = ffnviz.load("relu")
        >>> eye, zero = torch.eye(2048), torch.zeros(2048)  # a feature a neuron
        >>> weights = {"w_enc": eye, "w_dec": eye, "b_dec": zero, "b_enc": zero}
        >>> sae = ffnviz.Sae("neurons", 1, "hidden", "standard", **weights)
        >>> result = ffnviz.sae_examples(model, sae, ["She sat.", "He lit a [MASK]."], k=2)
        >>> result.values.shape, result.n_tokens
        ((2, 2048), 8)
    """
    check_fit(network, sae)
    k = at_least("k", k)
    best = torch.zeros(k, sae.d_sae)
    where = torch.zeros(2, k, sae.d_sae, dtype=torch.long)
    active, n_tokens, read = torch.zeros(sae.d_sae, dtype=torch.long), 0, []
    for number, text in enumerate(texts_of("texts", texts)):
        trace = network.trace(text)
        if not number:
            warn_without_start(network, trace, sae)
        values = features_of(network, trace, sae).values.cpu()
        highest, token = values.max(dim=0)
        places = torch.stack([torch.full_like(token, number), token])
        ranked, order = torch.cat([best, highest[None]]).sort(dim=0, descending=True, stable=True)
        best = ranked[:k]
        where = torch.cat([where, places[:, None]], dim=1).gather(1, order[:k].expand(2, -1, -1))
        active += (values > 0).sum(dim=0)
        n_tokens += len(values)
        read.append(text)
        progress(number + 1)
    if not read:
        raise ValueError("There are no texts: give some, texts=[…].")
    return FeatureExamples(
        best.numpy(), where[0].numpy(), where[1].numpy(), active.numpy(), n_tokens, tuple(read)
    )
