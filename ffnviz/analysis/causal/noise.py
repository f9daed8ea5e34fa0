"""Corruption by noise: a text whose embeddings are disturbed at some tokens."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import SupportsIndex

import torch

from ffnviz.models.arguments import at_least, finite_number, places_of, whole_numbers
from ffnviz.models.edit import Edit
from ffnviz.models.network import Network

FACTOR = 3.0  # times the standard deviation of the words' vectors


@dataclass(frozen=True)
class Noise:
    """Gaussian noise on the embeddings of some tokens, drawn several times.

    x₀ ← x₀ + ε, ε ~ N(0, sd²) in each component, with x₀ the stream before the first block (Meng et
    al. 2022, section 2.1). Where a norm follows the embedding, x₀ is behind that norm.

    Attributes:
        tokens: which: from 0, −1 the last, or a mask; kept as a tuple.
        sd: the standard deviation of ε; None takes 3 × that of the components of all words'
            vectors. (Meng et al. take 3 × that of the words of their own subjects.)
        draws: how many times it is drawn, and averaged over; at least 2.
        seed: of the draws, 0 or more.

    Raises:
        ValueError: naming the argument that is wrong.

    Examples:
        >>> model = ffnviz.load("relu")
        >>> she = ffnviz.logit_difference(model, "she", "he")
        >>> text = "My mother said that [MASK] was ill."
        >>> found = ffnviz.patch_map(model, text, ffnviz.Noise([1], draws=4), she)
        >>> found.values.shape, found.source > found.target
        ((2, 8), True)
    """

    tokens: Iterable[SupportsIndex]
    sd: float | None = None
    draws: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        kept = {
            "tokens": whole_numbers("tokens", self.tokens),
            "draws": at_least("draws", self.draws, 2),
            "seed": at_least("seed", self.seed, 0),
        }
        if self.sd is not None and finite_number("sd", self.sd) <= 0:
            raise ValueError(f"sd = {self.sd}: a standard deviation is above 0.")
        if not kept["tokens"]:
            raise ValueError("tokens is empty: say on which the noise is.")
        for name, value in kept.items():
            object.__setattr__(self, name, value)

    def sd_in(self, network: Network) -> float:
        """The standard deviation that is drawn with.

        Raises:
            NotForThisNetwork: if none is given, and the words' vectors are not as wide as the
                stream.
        """
        if self.sd is not None:
            return float(self.sd)
        return FACTOR * float(network.input_words.vectors.float().std())

    def edit(self, network: Network, n_tokens: int) -> Edit:
        """All draws as an Edit of a batch of as many passes over n_tokens tokens.

        Raises:
            ValueError: naming a token that is not there.
        """
        places = places_of("token", self.tokens, n_tokens)
        generator = torch.Generator().manual_seed(self.seed)
        shape = self.draws, len(places), network.sizes.d_model
        noise = self.sd_in(network) * torch.randn(shape, generator=generator)
        return Edit(0, add=noise, tokens=places, at="input")
