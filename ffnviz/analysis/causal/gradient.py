"""Gradients: what a small change of each activation would do to a measure or to the loss."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from ffnviz.analysis.causal.activations import activations
from ffnviz.analysis.causal.measure import Measure, judged_at, measured, word_id
from ffnviz.analysis.comparable import Comparable
from ffnviz.analysis.needs import Capability, require
from ffnviz.models.edit import Edit, Edits
from ffnviz.models.network import Network, NotForThisNetwork
from ffnviz.models.trace import Trace

NEEDS = (Capability.WORD_HEAD,)


@dataclass(frozen=True, eq=False)
class GradientAttribution(Comparable):
    """The gradients at one place of every block.

    Attributes:
        gradient: ∂ measure / ∂ activation, (n_blocks, T, width), in the activations' precision.
        activation: what the pass had there, (n_blocks, T, width).
        value: the measure, or the loss in nats.

    Examples:
        >>> model = ffnviz.load("relu")
        >>> do = ffnviz.logit_difference(model, "do", "does")
        >>> found = ffnviz.gradient_attribution(model, "How [MASK] they know?", do, at="middle")
        >>> found.gradient.shape, found.value > 0
        (torch.Size([2, 5, 512]), True)
    """

    gradient: Tensor
    activation: Tensor
    value: float

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
    network: Network,
    text: str,
    measure: Measure,
    *,
    at: str = "hidden",
    token: int | None = None,
    edits: Edits = (),
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
        edits: made in the pass, before the gradient is taken.

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
    trace = network.trace(text, edits)
    place = judged_at(network, trace, token)
    measured(measure, trace.logits_at(place))
    return _gradients(network, trace, at, lambda logits: measure(logits[place]))


def loss_gradient(
    network: Network,
    text: str,
    *,
    at: str = "hidden",
    words: Sequence[str | int] | None = None,
    edits: Edits = (),
) -> GradientAttribution:
    """∂ loss / ∂ a for every value a at a place of every block, a loss that the network learnt by.

    The loss is the mean cross-entropy, −log p, in nats: of each next token, given those before it,
    1 / (T − 1) Σ −log p(x_t | x_<t) (Radford et al. 2018, eq. 1); or, if words are given, of the
    words behind the masks (Devlin et al. 2019). −gradient points to where the loss falls.

    Args:
        network: ours, or one of somebody else's.
        text: what it reads.
        at: the place in each block, as Edit has them.
        words: what stands behind each [MASK] of the text, in their order, as it stands in a text or
            its entry; None takes the next tokens, for a network that reads from left to right.
        edits: made in the pass, before the gradient is taken.

    Raises:
        TypeError: if a word is neither a text nor an entry.
        ValueError: for as many words as there are not masks, or one that is no one token; without
            words, if the network reads both ways, or there is no next token.
        NotForThisNetwork: without a word head; as `patch`.

    Examples:
        >>> model = ffnviz.load("relu")
        >>> found = ffnviz.loss_gradient(model, "How [MASK] they know?", words=["do"])
        >>> found.gradient.shape, found.value < 2  # nats
        (torch.Size([2, 5, 2048]), True)
    """
    require(network, NEEDS)
    trace = network.trace(text, edits)
    places, entries = _asked(network, trace, words)
    targets = torch.tensor(entries, device=trace.ids.device)
    return _gradients(
        network, trace, at, lambda logits: functional.cross_entropy(logits[places], targets)
    )


def _asked(
    network: Network, trace: Trace, words: Sequence[str | int] | None
) -> tuple[list[int], list[int]]:
    """The tokens at which words are predicted, and the words' entries."""
    if words is None:
        if not network.card.causal:
            raise ValueError(
                "This network reads both ways: say which words stand behind the masks, words=[…]."
            )
        if len(trace.ids) < 2:
            raise ValueError("This text has one token: there is no next one to predict.")
        return list(range(len(trace.ids) - 1)), trace.ids[1:].tolist()
    masks = [i for i, token in enumerate(trace.tokens) if token.id == network.tokenizer.mask_id]
    given = [words] if isinstance(words, str | int) else list(words)
    if not masks or len(given) != len(masks):
        raise ValueError(f"The text has {len(masks)} masks, and words are {len(given)}: one each.")
    return masks, [word_id(network, word) for word in given]


def _gradients(
    network: Network, trace: Trace, at: str, number_of: Callable[[Tensor], Tensor]
) -> GradientAttribution:
    """The gradients of a number of the logits, (T, vocab_size)."""
    forward = getattr(network, "logits_with_gradients", None)
    if forward is None:
        raise NotForThisNetwork(f"Not for {network.card.label}: it has no pass with gradients.")
    own = torch.stack([activations(network, block, at) for block in trace.blocks])
    with torch.inference_mode(False), torch.enable_grad():
        # The gradient of zeros that are added is that of what they are added to.
        zeros = [torch.zeros_like(each).requires_grad_() for each in own]
        moved = [Edit(number, add=zero, at=at) for number, zero in enumerate(zeros)]
        result = number_of(forward(trace.ids, [*trace.edits, *moved]))
        if not result.requires_grad:
            raise ValueError(
                "This measure has no gradient: leave out detach(), item(), argmax and the like."
            )
        gradients = torch.autograd.grad(result, zeros)
    return GradientAttribution(torch.stack(gradients), own, float(result.detach()))
