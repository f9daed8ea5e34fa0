"""Gradient × activation: what a small change of each activation would do, for all at once."""

from dataclasses import dataclass

import torch
from torch import Tensor

from ffnviz.analysis.causal.activations import activations
from ffnviz.analysis.causal.measure import Measure, judged_at, measured
from ffnviz.analysis.needs import Capability, require
from ffnviz.models.edit import Edit
from ffnviz.models.network import Network, NotForThisNetwork

NEEDS = (Capability.WORD_HEAD,)


@dataclass(frozen=True, eq=False)
class GradientAttribution:
    """The gradients at one place of every block.

    Attributes:
        gradient: ∂ measure / ∂ activation, (n_blocks, T, width).
        activation: what the pass had there, (n_blocks, T, width).
    """

    gradient: Tensor
    activation: Tensor

    @property
    def product(self) -> Tensor:
        """gradient ⊙ activation: what setting each to zero would take away, to first order."""
        return self.gradient * self.activation

    def towards(self, activation: Tensor) -> Tensor:
        """gradient ⊙ (activation − its own): what patching each would add, to first order.

        Attribution patching (Nanda 2023; Syed et al. 2023), (n_blocks, T, width).
        """
        return self.gradient * (activation - self.activation)


def gradient_attribution(
    network: Network, text: str, measure: Measure, *, at: str = "hidden", token: int | None = None
) -> GradientAttribution:
    """a ⊙ ∂ measure / ∂ a for every value a at a place of every block (Shrikumar et al. 2016).

    Two passes for any number of neurons, where ablating each takes a pass each. It is the
    first-order term of what that finds, and wrong where the network bends.

    Args:
        network: ours, or one of somebody else's.
        text: what it reads.
        measure: of the logits, such as `logit_difference` makes.
        at: the place in each block, as Edit has them.
        token: where it is measured; None takes the mask, or a causal network's last token.

    Raises:
        TypeError: if the measure makes no tensor of one number a row.
        ValueError: if it has no gradient.
        NotForThisNetwork: without a word head; as `patch`.

    Examples:
        >>> model = ffnviz.load("relu")
        >>> rather = ffnviz.logit_difference(model, "do", "does")
        >>> result = ffnviz.gradient_attribution(model, "How [MASK] they know?", rather)
        >>> result.product.shape  # (n_blocks, T, d_ff)
        torch.Size([2, 5, 2048])
    """
    require(network, NEEDS)
    forward = getattr(network, "logits_with_gradients", None)
    if forward is None:
        raise NotForThisNetwork(f"Not for {network.card.label}: it has no pass with gradients.")
    trace = network.trace(text)
    place = judged_at(network, trace, token)
    measured(measure, trace.logits_at(place))
    own = torch.stack([activations(network, block, at) for block in trace.blocks])
    with torch.inference_mode(False), torch.enable_grad():
        # The gradient of zeros that are added is that of what they are added to.
        zeros = [torch.zeros_like(each).requires_grad_() for each in own]
        edits = [Edit(number, add=zero, at=at) for number, zero in enumerate(zeros)]
        result = measure(forward(trace.ids, edits)[place])
        if not result.requires_grad:
            raise ValueError(
                "This measure has no gradient: leave out detach(), item(), argmax and the like."
            )
        gradients = torch.autograd.grad(result, zeros)
    return GradientAttribution(torch.stack(gradients), own)
