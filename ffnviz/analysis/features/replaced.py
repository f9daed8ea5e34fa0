"""What a dictionary misses, by the network's answer with x̂ in the place of x."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import SupportsIndex

import torch

from ffnviz.analysis.causal.measure import judged_at
from ffnviz.analysis.divergence import divergence
from ffnviz.analysis.features.encoding import check_fit, features_of, warn_without_start
from ffnviz.analysis.needs import Capability, require
from ffnviz.models.arguments import kept_numbers, places_of
from ffnviz.models.edit import Edit
from ffnviz.models.network import Network
from ffnviz.models.sae import Sae
from ffnviz.models.trace import Trace

NEEDS = (Capability.WORD_HEAD,)


@dataclass(frozen=True, eq=False)
class Replaced:
    """The pass over a text with x̂ in the place of x.

    Attributes:
        plain: the pass as it is.
        trace: the pass with x̂.
        unexplained: Σ‖x − x̂‖² / Σ‖x − mean‖² over the tokens.
        token: where the answer is judged.
        divergence: KL(plain ‖ with x̂) of the answer there, in nats.
        without: the same with zero in the place of x, to compare with.

    Examples:
        >>> model = ffnviz.load("relu")
        >>> trace = model.trace("How [MASK] they know?")
        >>> eye, zero = torch.eye(2048), torch.zeros(2048)  # a feature a neuron
        >>> weights = {"w_enc": eye, "w_dec": eye, "b_dec": zero, "b_enc": zero}
        >>> sae = ffnviz.Sae("neurons", 1, "hidden", "standard", **weights)
        >>> told = ffnviz.sae_error(model, trace.text, sae)
        >>> told.token, round(told.divergence, 6), told.without > 0
        (1, 0.0, True)
    """

    plain: Trace
    trace: Trace
    unexplained: float
    token: int
    divergence: float
    without: float

    @property
    def kept(self) -> float:
        """1 − divergence / without: 1 if the answer is the same, 0 if it is as without x."""
        return 1 - self.divergence / self.without if self.without else float("nan")


@torch.no_grad()
def sae_error(
    network: Network,
    text: str,
    sae: Sae,
    *,
    tokens: Iterable[SupportsIndex] | None = None,
    token: int | None = None,
) -> Replaced:
    """How the answer changes when the reconstruction x̂ takes the place of x, at all tokens.

    Args:
        network: any with a word head.
        text: what it reads.
        sae: a dictionary of the network's activations at a place, from `read_sae`.
        tokens: at which x is replaced; None takes all.
        token: where the answer is judged; None takes the mask, or a causal network's last token.

    Raises:
        SaeError: a ValueError, if the dictionary does not fit.
        ValueError: if there is no such token.
        NotForThisNetwork: without a word head.

    Warns:
        UserWarning: if the dictionary was trained on texts that begin with a token of their own,
            and this one does not.

    Examples:
        >>> model = ffnviz.load("relu")
        >>> eye, zero = torch.eye(2048), torch.zeros(2048)  # a feature a neuron
        >>> weights = {"w_enc": eye, "w_dec": eye, "b_dec": zero, "b_enc": zero}
        >>> sae = ffnviz.Sae("neurons", 1, "hidden", "standard", **weights)
        >>> result = ffnviz.sae_error(model, "She opened the [MASK].", sae)
        >>> result.unexplained, round(result.kept, 3)
        (0.0, 1.0)
    """
    require(network, NEEDS)
    check_fit(network, sae)
    plain = network.trace(text)
    warn_without_start(network, plain, sae)
    return replaced(network, plain, sae, judged_at(network, plain, token), tokens)


@torch.no_grad()
def replaced(
    network: Network,
    plain: Trace,
    sae: Sae,
    place: int,
    tokens: Iterable[SupportsIndex] | None = None,
) -> Replaced:
    """The same, given the pass over all tokens of the text, judged at the token `place`."""
    features, tokens = features_of(network, plain, sae), kept_numbers("tokens", tokens)
    put = features.reconstruction
    if tokens is not None:
        put = put[places_of("token", tokens, len(put))]
    trace = network.trace(plain.text, [Edit(sae.block, value=put, tokens=tokens, at=sae.at)])
    none = network.run(plain.ids, [Edit(sae.block, scale=0.0, tokens=tokens, at=sae.at)])
    logits = plain.logits_at(place)
    return Replaced(
        plain, trace, features.unexplained, place,
        divergence(logits, trace.logits_at(place)), divergence(logits, none.logits_at(place)),
    )  # fmt: skip
