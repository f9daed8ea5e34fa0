"""What single heads of the attention do: their terms of a logit, and patches of them."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import SupportsIndex

import torch
from jaxtyping import Float64
from torch import Tensor

from ffnviz.analysis.causal.attribution import check_taken_apart, direction_of
from ffnviz.analysis.causal.measure import (
    LogitDifference,
    Measure,
    activations,
    in_whole,
    judged_at,
    measured,
)
from ffnviz.analysis.causal.patch import (
    Noise,
    RestoredMap,
    Target,
    check_as_long,
    components_of,
    put_rows,
    standard_error,
)
from ffnviz.analysis.comparable import Comparable
from ffnviz.analysis.needs import Capability, require
from ffnviz.models.arguments import places_of
from ffnviz.models.network import Network, network_of
from ffnviz.models.trace import Trace

NEEDS = (Capability.WORD_HEAD, Capability.WORD_VECTORS, Capability.PRE_NORM, Capability.ATTENTION)
MAP_NEEDS = (Capability.WORD_HEAD, Capability.ATTENTION)


@dataclass(frozen=True, eq=False)
class HeadAttribution(Comparable):
    """What each head adds to a logit, or to a difference of two; all in logits.

    Attributes:
        heads: each head's z W_O,h, (n_blocks, n_heads); 0 where a block has fewer heads.
        bias: of each block's W_O, (n_blocks,).
        edits: what edits at="attention" put into what the heads wrote, (n_blocks,); else rounding.

    Examples:
        >>> model = ffnviz.load("relu")
        >>> trace = model.trace("How [MASK] they know?")
        >>> parts = ffnviz.head_attribution(trace, ffnviz.logit_difference(model, "do"))
        >>> parts.heads.shape, parts.bias.shape, parts.attention.shape
        (torch.Size([2, 8]), torch.Size([2]), torch.Size([2]))
    """

    heads: Float64[Tensor, "n_blocks n_heads"]
    bias: Float64[Tensor, "n_blocks"]
    edits: Float64[Tensor, "n_blocks"]

    @property
    def attention(self) -> Float64[Tensor, "n_blocks"]:
        """What each block's attention adds, as LogitAttribution has it, (n_blocks,)."""
        return self.heads.sum(dim=1) + self.bias + self.edits


@torch.no_grad()
def head_attribution(
    trace: Trace, measure: LogitDifference, *, token: int | None = None
) -> HeadAttribution:
    """z_h W_O,h · (γ ⊙ (E_w − mean)) / σ for every head, σ of the whole last stream held as it was.

    A block's attention is the sum of what its heads write and a bias, Σ_h z_h W_O,h + b (Elhage et
    al. 2021, "attention heads are independent and additive"); see logit_attribution for the rest.

    Args:
        trace: of any network whose parts add up and whose heads are seen.
        measure: the word, and the word it is compared with, as `logit_difference` makes it.
        token: where; None takes the mask, or a causal network's last token.

    Raises:
        TypeError: for another measure, or no trace of one text.
        NotForThisNetwork: for a post-LN network, without a plain word head, or if what its heads
            do cannot be seen.

    Examples:
        >>> model = ffnviz.load("relu")
        >>> rather = ffnviz.logit_difference(model, "do", "does")
        >>> trace = model.trace("How [MASK] they know?")
        >>> parts = ffnviz.head_attribution(trace, rather)
        >>> parts.heads.shape  # (n_blocks, n_heads)
        torch.Size([2, 8])
        >>> whole = ffnviz.logit_attribution(trace, rather).attention
        >>> bool(abs(parts.attention - whole).max() < 1e-4)
        True
    """
    network = network_of(trace)
    require(network, NEEDS)
    check_taken_apart(measure, network)
    trace, place = in_whole(trace, judged_at(network, trace, token))
    along, _ = direction_of(network, trace, measure, place)
    n_blocks = len(trace.blocks)
    most = max(network.head_shape(number)[0] for number in range(n_blocks))
    heads = torch.zeros(n_blocks, most, dtype=torch.float64)
    bias, rest = torch.zeros_like(heads[:, 0]), torch.zeros_like(heads[:, 0])
    for number, block in enumerate(trace.blocks):
        view, z = network.heads(number), block.attention.z[:, place].cpu().double()
        terms = torch.einsum("hd,hdm->hm", z, view.outputs.cpu().double()) @ along
        heads[number, : len(terms)] = terms
        if view.output_bias is not None:
            bias[number] = float(view.output_bias.cpu().double() @ along)
        output = activations(network, block, "attention")[place].cpu().double()
        rest[number] = float(output @ along) - terms.sum() - bias[number]
    return HeadAttribution(heads, bias, rest)


@dataclass(frozen=True, eq=False)
class HeadMap(RestoredMap):
    """A measure for every head that was patched.

    Attributes:
        values: after each patch, (n_blocks, n_heads), NaN where a block has fewer heads; into
            noise, the mean over the draws.
        target: for the target as it is; of noise, the mean.
        source: for the source as it is.
        error: the standard error of each value over the draws of noise; else 0.

    Examples:
        >>> model = ffnviz.load("relu")
        >>> do = ffnviz.logit_difference(model, "do", "does")
        >>> found = ffnviz.head_map(model, "How [MASK] they know?", ffnviz.Noise([2]), do)
        >>> found.values.shape, bool((found.error > 0).all())
        (torch.Size([2, 8]), True)
    """

    values: Float64[Tensor, "n_blocks n_heads"]
    error: Float64[Tensor, "n_blocks n_heads"]


@torch.no_grad()
def head_map(
    network: Network,
    source: str,
    target: str | Noise,
    measure: Measure,
    *,
    tokens: Iterable[SupportsIndex] | None = None,
    token: int | None = None,
) -> HeadMap:
    """The measure after each patch of one head: its z of the source in the target's pass.

    Args:
        network: any with a word head whose heads are seen.
        source: the text whose activations are taken.
        target: the text into whose pass they are put, with as many tokens; or Noise, which corrupts
            the source itself.
        measure: of the logits, such as `logit_difference` makes.
        tokens: at which a head's z is put in; None takes all.
        token: where it is measured; None takes the mask, or a causal network's last token.

    Raises:
        ValueError: if the texts differ in length, or have no such token.
        NotForThisNetwork: without a word head, or if what its heads do cannot be seen.

    Examples:
        >>> model = ffnviz.load("relu")
        >>> girl, boy = "The girl lost [MASK] hat.", "The boy lost [MASK] hat."
        >>> found = ffnviz.head_map(model, girl, boy, ffnviz.logit_difference(model, "her", "his"))
        >>> found.restored.shape
        torch.Size([2, 8])
    """
    require(network, MAP_NEEDS)
    given = network.trace(source)
    noise = target if isinstance(target, Noise) else None
    into = given if isinstance(target, Noise) else network.trace(target)
    check_as_long(given, into)
    n = len(into.tokens)
    places = list(range(n)) if tokens is None else places_of("token", tokens, n)
    place = judged_at(network, into, token)
    to = Target(network, into, place, measure, noise)
    shapes = [network.head_shape(number) for number in range(len(into.blocks))]
    values = torch.full((len(shapes), max(h for h, _ in shapes), to.draws), torch.nan).double()
    for number, block in enumerate(given.blocks):
        new = activations(network, block, "heads")
        heads = range(shapes[number][0])
        own = [components_of(network, number, "heads", [head], n) for head in heads]
        puts = [partial(put_rows, new=new[places], places=places, components=each) for each in own]
        values[number, : len(puts)] = to.after(number, "heads", to.plain(number, "heads"), puts)
    of_source = measured(network, measure, given.logits_at(place))
    return HeadMap(values.mean(-1), float(to.values.mean()), of_source, standard_error(values))
