"""Direct logit attribution: a logit as the sum of what each part wrote into the stream."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float64, Int64
from torch import Tensor
from torch.nn import functional

from ffnviz.analysis.causal.measure import (
    LogitDifference,
    Measure,
    activations,
    check_words,
    in_whole,
    judged_at,
    measured,
    word_id,
)
from ffnviz.analysis.comparable import Comparable
from ffnviz.analysis.needs import Capability, require, word_head
from ffnviz.analysis.neurons.intervention import direct_contributions
from ffnviz.models.arguments import at_least, at_most, rows_like
from ffnviz.models.edit import Edit, Edits
from ffnviz.models.network import Network, NotForThisNetwork, network_of
from ffnviz.models.trace import BlockStages, ForwardPass, Trace

GRADIENT_NEEDS = (Capability.WORD_HEAD,)


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

        Raises:
            TypeError: if it is not a tensor of floating-point numbers.
            ValueError: if it has another shape than its own.
        """
        activation = rows_like(activation, self.activation, "activation")
        if activation.shape != self.activation.shape:
            given, own = tuple(activation.shape), tuple(self.activation.shape)
            raise ValueError(f"activation has the shape {given} instead of {own}.")
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
    require(network, GRADIENT_NEEDS)
    trace = network.trace(text, edits)
    place = judged_at(network, trace, token)
    measured(network, measure, trace.logits_at(place))
    return _gradients(network, trace, at, lambda logits: measure(logits[place]))


def loss_gradient(
    network: Network,
    text: str,
    *,
    at: str = "hidden",
    words: Sequence[str | int] | None = None,
    edits: Edits = (),
) -> GradientAttribution:
    """∂ loss / ∂ a for every value a at a place of every block, for the network's training loss.

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
        ValueError: if there are not as many words as masks, or a word is not a single token;
            without words, if the network reads both ways, or there is no next token.
        NotForThisNetwork: without a word head; as `patch`.

    Examples:
        >>> found = ffnviz.loss_gradient(ffnviz.load("relu"), "How [MASK] they know?", words=["do"])
        >>> found.gradient.shape, found.value < 2  # nats
        (torch.Size([2, 5, 2048]), True)
    """
    require(network, GRADIENT_NEEDS)
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
        n, n_words = len(masks), len(given)
        raise ValueError(
            f"The text has {n} mask{'s' * (n != 1)}, and words has {n_words} "
            f"{'entry' if n_words == 1 else 'entries'}: give one word for each mask."
        )
    return masks, [word_id(network, word) for word in given]


def _gradients(
    network: Network, trace: Trace, at: str, number_of: Callable[[Tensor], Tensor]
) -> GradientAttribution:
    """The gradients of a number of the logits, (T, vocab_size)."""
    forward = getattr(network, "logits_with_gradients", None)
    if forward is None:
        raise NotForThisNetwork(f"Not for {network.card.label}: it has no pass with gradients.")
    parts = [activations(network, block, at) for block in trace.blocks]
    if len({part.shape for part in parts}) > 1:
        raise NotForThisNetwork(
            f"Not for {network.card.label}: its heads are wider in some blocks than in others, so "
            "their values do not fit in one array."
        )
    own = torch.stack(parts)
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


NEEDS = (Capability.WORD_HEAD, Capability.WORD_VECTORS, Capability.PRE_NORM)


@dataclass(frozen=True, eq=False)
class LogitAttribution(Comparable):
    """A logit, or a difference of two, taken apart; all in logits.

    Attributes:
        total: as the network computed it.
        embedding: what the token's vector and its position add.
        attention: what each block's attention adds, (n_blocks,).
        ffn: what each block's FFN adds, its bias included, (n_blocks,).
        bias: the final norm's and the word head's.
        neurons: the strongest, as (block, neuron), the largest |contribution| first, (k, 2).
        contributions: of those, (k,); they are parts of `ffn`.
        edits: what the trace's edits put into the stream, beside what attention and FFN wrote.

    Examples:
        >>> model = ffnviz.load("relu")
        >>> trace = model.trace("How [MASK] they know?")
        >>> do = ffnviz.logit_difference(model, "do", "does")
        >>> parts = ffnviz.logit_attribution(trace, do, k=3)
        >>> parts.attention.shape, parts.ffn.shape, parts.contributions.shape, parts.edits
        (torch.Size([2]), torch.Size([2]), torch.Size([3]), 0.0)
    """

    total: float
    embedding: float
    attention: Float64[Tensor, "n_blocks"]
    ffn: Float64[Tensor, "n_blocks"]
    bias: float
    neurons: Int64[Tensor, "k 2"]
    contributions: Float64[Tensor, "k"]
    edits: float = 0.0

    @property
    def residue(self) -> float:
        """What rounding leaves between the sum of all terms and the network's number."""
        terms = self.embedding + self.bias + self.edits + self.attention.sum() + self.ffn.sum()
        return float(self.total - terms)


def check_taken_apart(measure: object, network: Network) -> None:
    """Check that a measure is a sum over words' logits, which alone can be taken apart."""
    if not isinstance(measure, LogitDifference):
        raise TypeError(
            f"measure = {measure!r}: only a logit, or a difference of two, is a sum of parts. Give "
            "what ffnviz.logit_difference makes."
        )
    check_words(measure, network)


def direction_of(
    network: Network, trace: ForwardPass, measure: LogitDifference, place: int
) -> tuple[Tensor, dict[str, float]]:
    """What the last stream at a token is multiplied by to make the measure, and what is added.

    (γ ⊙ (E_w − mean)) / σ, (d_model,), in float64 on the CPU, as some GPUs have none; and the final
    norm's and the word head's bias, where they have one.
    """
    head, words = word_head(network)
    entries = [word for word, _ in measure.terms]
    signs = torch.tensor([sign for _, sign in measure.terms]).double()
    vector = signs @ words.vectors[entries].cpu().double()
    along, biases = vector, {}
    if head.norm is not None:
        norm = head.norm.double()
        last = trace.blocks[-1].output[place].cpu().double()
        along = norm.undivided_along(vector) / norm.scale(last)
        if norm.bias is not None:
            biases["LayerNorm's bias"] = float(norm.bias @ vector)
    if head.bias is not None:
        of_words = sum(sign * float(head.bias[word]) for word, sign in measure.terms)
        biases["the word's bias"] = of_words
    return along, biases


@at_most(2)
@torch.no_grad()
def logit_attribution(
    trace: Trace, measure: LogitDifference, token: int | None = None, k: int = 10
) -> LogitAttribution:
    """Σ parts · (γ ⊙ (E_w − mean)) / σ, σ of the whole last stream held as it was.

    The stream is the sum of the embedding and of what attention and FFN of each block wrote; the
    final norm is linear but for σ (Elhage et al. 2021, "direct path"; nostalgebraist 2020). What a
    part does to later parts is in those.

    Args:
        trace: of any network whose parts add up.
        measure: the word, and the word it is compared with, as `logit_difference` makes it.
        token: where; None takes the mask, or a causal network's last token.
        k: how many neurons.

    Raises:
        TypeError: for another measure, or no trace of one text.
        NotForThisNetwork: for a post-LN network, or without a plain word head.

    Examples:
        >>> model = ffnviz.load("relu")
        >>> rather = ffnviz.logit_difference(model, "do", "does")
        >>> parts = ffnviz.logit_attribution(model.trace("How [MASK] they know?"), rather, k=3)
        >>> parts.ffn.shape, parts.neurons.shape, parts.contributions.shape
        (torch.Size([2]), torch.Size([3, 2]), torch.Size([3]))
        >>> abs(parts.residue) < 1e-4
        True
    """
    network = network_of(trace)
    require(network, NEEDS)
    check_taken_apart(measure, network)
    trace, place = in_whole(trace, judged_at(network, trace, token))
    k = at_least("k", k, 0)
    along, biases = direction_of(network, trace, measure, place)

    def row(stream: Tensor) -> Tensor:
        return stream[place].cpu().double()

    def wrote(block: BlockStages) -> tuple[Tensor, Tensor]:
        if trace.edits:  # the stream may have more than attention and FFN added
            return row(activations(network, block, "attention")), row(block.ffn.output)
        return row(block.middle) - row(block.input), row(block.output) - row(block.middle)

    neurons = np.zeros((network.sizes.n_blocks, network.sizes.d_ff))
    for word, sign in measure.terms:
        neurons += sign * direct_contributions(network, trace, place, word)
    flat = neurons.ravel()
    best = np.argsort(-np.abs(flat), kind="stable")[:k]
    attention, ffn = map(torch.stack, zip(*map(wrote, trace.blocks), strict=True))
    rest = row(trace.blocks[-1].output) - row(trace.embedding) - (attention + ffn).sum(dim=0)
    return LogitAttribution(
        total=float(measure(trace.logits_at(place))),
        embedding=float(row(trace.embedding) @ along),
        attention=attention @ along,
        ffn=ffn @ along,
        bias=float(sum(biases.values())),
        neurons=torch.from_numpy(np.stack(np.unravel_index(best, neurons.shape), axis=-1)),
        contributions=torch.from_numpy(flat[best]),
        edits=float(rest @ along) if trace.edits else 0.0,
    )
