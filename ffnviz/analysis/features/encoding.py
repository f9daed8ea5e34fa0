"""A dictionary's features on a text: their activations, and what they miss of x."""

import warnings
from dataclasses import dataclass
from reprlib import repr as shorten

import torch
from jaxtyping import Float
from torch import Tensor

from ffnviz.analysis.causal.activations import activations
from ffnviz.analysis.causal.measure import network_of
from ffnviz.analysis.comparable import Comparable
from ffnviz.models.network import Network, check_network
from ffnviz.models.sae import Sae, SaeError
from ffnviz.models.trace import ForwardPass, Trace


@dataclass(frozen=True, eq=False)
class Features(Comparable):
    """A dictionary's features on the tokens of a text.

    Attributes:
        values: each feature's activation, (T, d_sae).
        x: what the dictionary takes apart, (T, d_in).
        reconstruction: x̂, the sum of what the features write, (T, d_in).
        n_left_out: of `unexplained`: 1 for a dictionary trained on texts that begin with a token of
            their own, as that token, or the one in its place, has a vector like no other; else 0.

    Examples:
        >>> model = ffnviz.load("relu")
        >>> trace = model.trace("How [MASK] they know?")
        >>> eye, zero = torch.eye(2048), torch.zeros(2048)  # a feature a neuron
        >>> weights = {"w_enc": eye, "w_dec": eye, "b_dec": zero, "b_enc": zero}
        >>> sae = ffnviz.Sae("neurons", 1, "hidden", "standard", **weights)
        >>> found = ffnviz.sae_features(trace, sae)
        >>> found.values.shape, found.active.shape, found.unexplained
        (torch.Size([5, 2048]), torch.Size([5]), 0.0)
    """

    values: Float[Tensor, "tokens d_sae"]
    x: Float[Tensor, "tokens d_in"]
    reconstruction: Float[Tensor, "tokens d_in"]
    n_left_out: int = 0

    @property
    def active(self) -> Tensor:
        """How many features are above zero on each token, (T,)."""
        return (self.values > 0).sum(dim=-1)

    @property
    def unexplained(self) -> float:
        """Σ‖x − x̂‖² / Σ‖x − mean‖² over the tokens: 0 is exact, 1 as bad as their mean.

        It may be above 1, and is NaN where all rows are equal, as one alone is.
        """
        x, made = self.x[self.n_left_out :].double(), self.reconstruction[self.n_left_out :]
        error = x - made.double()
        variance = (x - x.mean(dim=0)).square().sum()
        return float(error.square().sum() / variance) if variance > 0 else float("nan")

    @property
    def missed(self) -> Tensor:
        """‖x − x̂‖ / ‖x‖ on each token, (T,)."""
        missed: Tensor = (self.x - self.reconstruction).norm(dim=-1) / self.x.norm(dim=-1)
        return missed


def sae_features(trace: Trace, sae: Sae) -> Features:
    """A dictionary's features on each token of a text, and what they miss.

    Args:
        trace: of a text.
        sae: a dictionary of the network's activations at a place, from `read_sae`.

    Raises:
        SaeError: a ValueError, if the network has no such place, or it has another width there.

    Warns:
        UserWarning: if the dictionary was trained on texts that begin with a token of their own,
            and this one does not.

    Examples:
        >>> eye, zero = torch.eye(2048), torch.zeros(2048)  # a feature a neuron
        >>> weights = {"w_enc": eye, "w_dec": eye, "b_dec": zero, "b_enc": zero}
        >>> sae = ffnviz.Sae("neurons", 1, "hidden", "standard", **weights)
        >>> trace = ffnviz.load("relu").trace("She opened the [MASK].")
        >>> features = ffnviz.sae_features(trace, sae)
        >>> torch.equal(features.values, trace.blocks[1].ffn.hidden), features.unexplained
        (True, 0.0)
    """
    network = network_of(trace)
    check_fit(network, sae)
    warn_without_start(network, trace, sae)
    return features_of(network, trace, sae)


def without_start(network: Network, trace: ForwardPass, sae: Sae) -> str:
    """That a dictionary's texts begin with a token that a whole trace has not, in words; or ""."""
    tokenizer = network.tokenizer
    first = int(trace.ids[0])
    if not sae.prepend_bos or first in tokenizer.special_ids - {tokenizer.mask_id}:
        return ""
    return (
        f"{sae.name} was trained on texts that begin with a token of their own (prepend_bos). This "
        "text has none: its features may differ, most of all on the first token, which is left out "
        "of what is unexplained."
    )


def warn_without_start(network: Network, trace: ForwardPass, sae: Sae) -> None:
    """Warn whoever called a public function with a text that has no such token."""
    if said := without_start(network, trace, sae):
        warnings.warn(said, stacklevel=3)


@torch.no_grad()
def features_of(network: Network, trace: ForwardPass, sae: Sae) -> Features:
    """The same of any pass, given its network."""
    check_fit(network, sae)
    x = activations(network, trace.blocks[sae.block], sae.at).float()
    values = sae.encode(x.to(sae.w_enc.device))
    made = sae.decode(values, x.to(sae.w_enc.device)).to(x)
    return Features(values, x, made, n_left_out=int(sae.prepend_bos))


def check_fit(network: Network, sae: Sae) -> None:
    """Check that a network has the activations that a dictionary takes apart.

    Raises:
        TypeError: if one of them is something else.
        SaeError: naming what does not fit.
    """
    check_network(network)
    if not isinstance(sae, Sae):
        raise TypeError(f"sae = {shorten(sae)}: give a dictionary, as ffnviz.read_sae reads it.")
    sae.check(network.sizes, network.card.label, network.head_shape)
    if sae.at in ("ffn", "attention") and network.ffn(sae.block).write_norm is not None:
        raise SaeError(
            f"{sae.name} takes apart what is written behind a norm; of {network.card.label}, only "
            "what stands before that norm is known here."
        )
