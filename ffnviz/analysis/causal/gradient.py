"""Gradient × activation: what a small change of each value would do, for all values at once."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, cast

import torch
from torch import Tensor

from ffnviz.analysis.causal.activations import activations
from ffnviz.analysis.causal.measure import Measure, judged_at
from ffnviz.analysis.needs import Capability, require
from ffnviz.models.edit import Edit
from ffnviz.models.network import Network, NotForThisNetwork

NEEDS = (Capability.WORD_HEAD,)


class _Differentiable(Protocol):
    logits_with_gradients: Callable[[Tensor, list[Edit]], Tensor]


@dataclass(frozen=True, eq=False)
class GradientAttribution:
    """Of one place in every block.

    Attributes:
        gradient: ∂ measure / ∂ activation, (n_blocks, T, width).
        activation: what the pass had there, (n_blocks, T, width).
    """

    gradient: Tensor
    activation: Tensor

    @property
    def product(self) -> Tensor:
        """gradient ⊙ activation: what setting each to zero would take away, in a straight line."""
        return self.gradient * self.activation

    def towards(self, activation: Tensor) -> Tensor:
        """gradient ⊙ (activation − its own): what patching each would add, in a straight line.

        Attribution patching (Nanda 2023; Syed et al. 2023), (n_blocks, T, width).
        """
        return self.gradient * (activation - self.activation)


def gradient_attribution(
    network: Network, text: str, measure: Measure, *, at: str = "hidden", token: int | None = None
) -> GradientAttribution:
    """a ⊙ ∂ measure / ∂ a for every value a at a place of every block (Shrikumar et al. 2016).

    Two passes, whatever the number of neurons; an ablation of each would be one pass each. It is
    the first term of what that finds, and wrong where the network bends.

    Args:
        network: ours, or one of somebody else's.
        text: what it reads.
        measure: of the logits, such as `logit_difference` makes.
        at: the place in each block, as Edit has them.
        token: where it is measured; None takes the mask, or the last token of who reads from left
            to right.

    Raises:
        NotForThisNetwork: without a word head; as `patch`.

    Examples:
        >>> model = ffnviz.load("relu")
        >>> rather = ffnviz.logit_difference(model, "do", "does")
        >>> found = ffnviz.gradient_attribution(model, "How [MASK] they know?", rather)
        >>> found.product.shape  # (n_blocks, T, d_ff)
        torch.Size([2, 5, 2048])
    """
    require(network, NEEDS)
    if not hasattr(network, "logits_with_gradients"):
        raise NotForThisNetwork(f"Not for {network.card.label}: it has no pass with gradients.")
    trace = network.trace(text)
    place = judged_at(network, trace, token)
    own = torch.stack([activations(network, block, at) for block in trace.blocks])
    with torch.inference_mode(False), torch.enable_grad():
        # Zeros that are added: the gradient of what they are added to is theirs.
        zeros = [torch.zeros(own.shape[1:], device=own.device, requires_grad=True)
                 for _ in trace.blocks]  # fmt: skip
        edits = [Edit(number, add=zero, at=at) for number, zero in enumerate(zeros)]
        logits = cast("_Differentiable", network).logits_with_gradients(trace.ids, edits)
        gradients = torch.autograd.grad(measure(logits[place]), zeros)
    return GradientAttribution(torch.stack(gradients), own)
