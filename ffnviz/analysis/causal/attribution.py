"""Direct logit attribution: a logit as the sum of what each part wrote into the stream."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.causal.activations import activations
from ffnviz.analysis.causal.measure import LogitDifference, judged_at, network_of
from ffnviz.analysis.comparable import Comparable
from ffnviz.analysis.needs import Capability, require, word_head
from ffnviz.analysis.neurons.intervention import direct_contributions
from ffnviz.models.arguments import at_least
from ffnviz.models.network import Network
from ffnviz.models.positional import at_most
from ffnviz.models.trace import BlockStages, Trace

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
        ((2,), (2,), (3,), 0.0)
    """

    total: float
    embedding: float
    attention: NDArray[np.float64]
    ffn: NDArray[np.float64]
    bias: float
    neurons: NDArray[np.int64]
    contributions: NDArray[np.float64]
    edits: float = 0.0

    @property
    def residue(self) -> float:
        """What rounding leaves between the sum of all terms and the network's number."""
        terms = self.embedding + self.bias + self.edits + self.attention.sum() + self.ffn.sum()
        return float(self.total - terms)


def check_taken_apart(measure: object, network: Network) -> None:
    """Check that a measure is a sum over words' logits, which alone can be taken apart.

    Raises:
        TypeError: if it is not.
        ValueError: if a word is not in the network's vocabulary.
    """
    if not isinstance(measure, LogitDifference):
        raise TypeError(
            f"measure = {measure!r}: only a logit, or a difference of two, is a sum of parts. Give "
            "what ffnviz.logit_difference makes."
        )
    measure.check(network.sizes.vocab_size)


def direction_of(
    network: Network, trace: Trace, measure: LogitDifference, place: int
) -> tuple[Tensor, float]:
    """What the last stream at a token is multiplied with to make the measure, and what is added.

    (γ ⊙ (E_w − mean)) / σ, σ of that stream, (d_model,), in float64 on the CPU, as some GPUs have
    none; and the final norm's and the word head's bias.
    """
    head, words = word_head(network)
    entries = [word for word, _ in measure.terms]
    signs = torch.tensor([sign for _, sign in measure.terms]).double()
    vector = signs @ words.vectors[entries].cpu().double()
    along, bias = vector, 0.0
    if head.norm is not None:
        norm = head.norm.double()
        last = trace.blocks[-1].output[place].cpu().double()
        along = norm.undivided_along(vector) / norm.scale(last)
        bias = 0.0 if norm.bias is None else float(norm.bias @ vector)
    if head.bias is not None:
        bias += sum(sign * float(head.bias[word]) for word, sign in measure.terms)
    return along, bias


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
        ((2,), (3, 2), (3,))
        >>> abs(parts.residue) < 1e-4
        True
    """
    network = network_of(trace)
    require(network, NEEDS)
    check_taken_apart(measure, network)
    place, k = judged_at(network, trace, token), at_least("k", k, 0)
    along, bias = direction_of(network, trace, measure, place)

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
        attention=(attention @ along).numpy(),
        ffn=(ffn @ along).numpy(),
        bias=bias,
        neurons=np.stack(np.unravel_index(best, neurons.shape), axis=-1),
        contributions=flat[best],
        edits=float(rest @ along) if trace.edits else 0.0,
    )
