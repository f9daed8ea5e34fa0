"""Ablation: a part of a block is taken away, and the word's logit is measured again."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import SupportsIndex

import torch
from jaxtyping import Float64
from torch import Tensor

from ffnviz.analysis.causal.measure import Measure, at_once, judged_at, measured, place_at, rows_of
from ffnviz.analysis.causal.patch import standard_error
from ffnviz.analysis.comparable import Comparable
from ffnviz.analysis.needs import Capability, require
from ffnviz.analysis.prediction import divergence
from ffnviz.models.arguments import at_least
from ffnviz.models.edit import Edit
from ffnviz.models.network import Network

NEEDS = (Capability.WORD_HEAD,)
WAYS = ("zero", "mean", "resample")


@dataclass(frozen=True, eq=False)
class Ablation(Comparable):
    """A measure with and without a part.

    Attributes:
        plain: of the network as it is.
        values: of each pass without the part, (1,); with "resample", (draws,).
        divergence: KL(plain ‖ ablated) between the softmaxes there, in nats, the passes' mean.

    Examples:
        >>> model = ffnviz.load("relu")
        >>> do = ffnviz.logit_difference(model, "do", "does")
        >>> lost = ffnviz.ablate(model, "How [MASK] they know?", do, block=1, at="ffn")
        >>> lost.values.shape, lost.effect < 0 < lost.divergence, lost.error
        (torch.Size([1]), True, 0.0)
    """

    plain: float
    values: Float64[Tensor, "passes"]
    divergence: float

    @property
    def ablated(self) -> float:
        """The mean of the passes without the part."""
        return float(self.values.mean())

    @property
    def effect(self) -> float:
        """ablated − plain."""
        return self.ablated - self.plain

    @property
    def error(self) -> float:
        """The standard error of that mean: s / √draws; 0 for a single pass."""
        return float(standard_error(self.values))


@torch.no_grad()
def ablate(
    network: Network,
    text: str,
    measure: Measure,
    block: int,
    neurons: Iterable[SupportsIndex] | None = None,
    *,
    at: str | None = None,
    heads: Iterable[SupportsIndex] | None = None,
    tokens: Iterable[SupportsIndex] | None = None,
    how: str = "zero",
    reference: Iterable[str] = (),
    draws: int = 16,
    seed: int = 0,
    token: int | None = None,
) -> Ablation:
    """A measure with a part of a block taken away.

    h ← 0 ("zero"); h ← the mean of h over the tokens of reference texts ("mean"; Wang et al. 2022,
    section 3); h ← h at a token of them drawn at random, all neurons of one token together
    ("resample"; Chan et al. 2022, "resampling ablation"), with a standard error.

    Args:
        network: any.
        text: what it reads.
        measure: of the logits, such as `logit_difference` makes.
        block: from 0.
        neurons: which; None takes all, and with at="ffn" a block's whole FFN.
        at: the place in the block, as Edit has them; None takes "hidden", or "heads" if heads are
            given.
        heads: which heads of the attention: their z, what they gather, is taken away.
        tokens: at which tokens; None takes all.
        how: "zero", "mean" or "resample".
        reference: texts for the mean and the draws; special tokens are left out.
        draws: passes with drawn values; at least 2, as the error is told from their spread.
        seed: of the draws, 0 or more.
        token: where it is measured; None takes the mask, or a causal network's last token.

    Raises:
        ValueError: naming what is not there.
        NotForThisNetwork: without a word head; for heads that are not seen.

    Examples:
        >>> model = ffnviz.load("relu")
        >>> rather = ffnviz.logit_difference(model, "do", "does")
        >>> lost = ffnviz.ablate(model, "How [MASK] they know?", rather, block=1, at="ffn")
        >>> lost.plain > 0 > lost.ablated  # without that FFN it says “does”
        True
    """
    require(network, NEEDS)
    if how not in WAYS:
        raise ValueError(f"how = {how!r} must be one of {', '.join(WAYS)}.")
    draws, seed = at_least("draws", draws, 2), at_least("seed", seed, 0)
    plain, at = network.trace(text), place_at(at, heads, "hidden")
    changed = Edit(block, neurons, value=0.0, tokens=tokens, at=at, heads=heads)
    changed = changed.settled(network.sizes, len(plain.tokens), network.head_shape)
    place = judged_at(network, plain, token)
    before = measured(network, measure, plain.logits_at(place))
    if how == "zero":
        edits = [replace(changed, scale=0.0, value=None)]
    else:
        rows = rows_of(network, reference, changed.block, at)
        rows = rows if changed.neurons is None else rows[:, changed.neuron_places]
        if how == "mean":
            new = [rows.mean(dim=0)]  # (width,)
        else:  # batches of drawn rows, (passes, n, width)
            n = len(plain.tokens) if tokens is None else len(changed.token_places)
            generator = torch.Generator().manual_seed(seed)
            drawn = torch.randint(len(rows), (draws, n), generator=generator).to(rows.device)
            new = [rows[each] for each in torch.split(drawn, at_once(network, len(plain.tokens)))]
        edits = [replace(changed, value=value) for value in new]
    values, divergences = list[Tensor](), list[float]()
    for edit in edits:
        n = len(edit.value) if isinstance(edit.value, Tensor) and edit.value.ndim == 3 else 1
        logits = network.run(plain.ids.expand(n, -1), [edit]).logits_at(place)
        values.append(measure(logits).cpu().double())
        divergences += [divergence(plain.logits_at(place), each) for each in logits]
    return Ablation(before, torch.cat(values), sum(divergences) / len(divergences))
