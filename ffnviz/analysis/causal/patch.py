"""Activation patching: activations of one text put into the pass over another."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import SupportsIndex

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.causal.activations import activations
from ffnviz.analysis.causal.measure import Measure, at_once, judged_at, measured
from ffnviz.analysis.needs import Capability, require
from ffnviz.analysis.spread import Progress
from ffnviz.models.arguments import place_of, places_of
from ffnviz.models.edit import Edit
from ffnviz.models.network import Network, check_network
from ffnviz.models.trace import Trace

NEEDS = (Capability.WORD_HEAD,)  # of the map; a patched trace needs none


@torch.no_grad()
def patch(
    network: Network,
    source: str,
    target: str,
    block: int,
    neurons: Iterable[SupportsIndex] | None = None,
    *,
    at: str = "output",
    tokens: Sequence[int] | None = None,
    from_tokens: Sequence[int] | None = None,
) -> Trace:
    """The pass over `target`, with the activations of `source` at a place of a block.

    a_target ← a_source, and all that follows is computed anew (Meng et al. 2022, "causal tracing";
    Wang et al. 2022).

    Args:
        network: any.
        source: the text whose activations are taken.
        target: the text into whose pass they are put.
        block: from 0.
        neurons: which, or which components; None takes all.
        at: the place in the block, as Edit has them.
        tokens: of the target; None takes all.
        from_tokens: of the source, as many; None takes the same places.

    Raises:
        ValueError: naming what is not there; without `tokens`, if the texts differ in length.
        NotForThisNetwork: for attention that is neither recorded nor simply added to the stream.

    Examples:
        >>> model = ffnviz.load("relu")
        >>> girl, boy = "The girl lost [MASK] hat.", "The boy lost [MASK] hat."
        >>> trace = ffnviz.patch(model, girl, boy, block=0, tokens=[1])
        >>> torch.equal(trace.blocks[0].output[1], model.trace(girl).blocks[0].output[1])
        True
    """
    check_network(network)
    given, into = network.trace(source), network.trace(target)
    block = place_of("block", block, len(given.blocks))
    places = _source_places(given, into, tokens, from_tokens)
    values = activations(network, given.blocks[block], at)[places]
    which = Edit(block, neurons, value=0.0, at=at)
    if which.neurons is not None:
        which = which.settled(network.sizes, len(into.tokens), network.head_shape)
        values = values[:, which.neuron_places]
    return network.trace(target, [Edit(block, neurons, value=values, tokens=tokens, at=at)])


def _source_places(
    given: Trace, into: Trace, tokens: Sequence[int] | None, from_tokens: Sequence[int] | None
) -> list[int]:
    if tokens is None and from_tokens is None:
        _check_as_long(given, into)
    n, n_source = len(into.tokens), len(given.tokens)
    wanted = list(range(n)) if tokens is None else places_of("token", tokens, n)
    places = wanted if from_tokens is None else places_of("token", from_tokens, n_source)
    if len(places) != len(wanted):
        raise ValueError(f"{len(places)} tokens are taken and put to {len(wanted)}: as many each.")
    for place in places:
        if place >= n_source:
            raise ValueError(
                f"The source has no token {place}: they count from 0 to {n_source - 1}."
            )
    return places


def _check_as_long(given: Trace, into: Trace) -> None:
    if len(given.tokens) != len(into.tokens):
        raise ValueError(
            f"The source has {len(given.tokens)} tokens and the target {len(into.tokens)}: give "
            "texts with as many, or say which tokens go where."
        )


@dataclass(frozen=True)
class PatchMap:
    """A measure for every block and token that was patched.

    Attributes:
        values: after each patch, (n_blocks, t).
        target: for the target as it is.
        source: for the source as it is.
        tokens: the patched tokens, (t,).
        labels: the target's tokens there, as typed.
    """

    values: NDArray[np.float64]
    target: float
    source: float
    tokens: NDArray[np.int64]
    labels: tuple[str, ...]

    @property
    def restored(self) -> NDArray[np.float64]:
        """(values − target) / (source − target): 0 changes nothing, 1 makes it the source's.

        Raises:
            ValueError: if the measure is the same for both texts.
        """
        if self.source == self.target:
            raise ValueError("The measure is the same for both texts: there is nothing to restore.")
        share: NDArray[np.float64] = (self.values - self.target) / (self.source - self.target)
        return share


@torch.no_grad()
def patch_map(
    network: Network,
    source: str,
    target: str,
    measure: Measure,
    *,
    at: str = "output",
    tokens: Sequence[int] | None = None,
    token: int | None = None,
) -> PatchMap:
    """The measure after each patch of one block at one token.

    Args:
        network: any with a word head.
        source: the text whose activations are taken.
        target: the text into whose pass they are put, with as many tokens.
        measure: of the logits, such as `logit_difference` makes.
        at: the place in each block, as Edit has them.
        tokens: which; None takes all.
        token: where it is measured; None takes the mask, or a causal network's last token.

    Raises:
        ValueError: if the texts differ in length, or have no such token.
        NotForThisNetwork: without a word head; as `patch`.

    Examples:
        >>> model = ffnviz.load("relu")
        >>> girl, boy = "The girl lost [MASK] hat.", "The boy lost [MASK] hat."
        >>> map_ = ffnviz.patch_map(model, girl, boy, ffnviz.logit_difference(model, "her", "his"))
        >>> map_.restored.shape, map_.labels[3]
        ((2, 6), ' [MASK]')
        >>> round(float(map_.restored[1, 3]), 3)  # after the last block all of it is at [MASK]
        1.0
    """
    require(network, NEEDS)
    given, into = network.trace(source), network.trace(target)
    _check_as_long(given, into)
    places = _source_places(given, into, tokens, None)
    place = judged_at(network, into, token)
    pairs = np.array([places, places]).T.reshape(-1, 2)
    return map_of_traces(network, given, into, measure, pairs, (place, place), at=at)


@torch.no_grad()
def map_of_traces(
    network: Network,
    given: Trace,
    into: Trace,
    measure: Measure,
    pairs: NDArray[np.integer],
    judged: tuple[int, int],
    *,
    at: str = "output",
    neurons: int | None = None,
    progress: Progress = lambda _: None,
) -> PatchMap:
    """The map of two traces, which may differ in length.

    Args:
        network: any with a word head.
        given: the trace of the source.
        into: the trace of the target.
        measure: of the logits.
        pairs: a token of `given` and the token of `into` that it is put to, (n, 2).
        judged: where it is measured in `given`, and in `into`.
        at: the place in the block, as Edit has them.
        neurons: at each token, how many of those that differ most are put in; None takes all.
        progress: told the share of all patches that are done.
    """
    require(network, NEEDS)
    before, wanted = (
        measured(measure, trace.logits_at(at_token))
        for trace, at_token in zip((into, given), judged[::-1], strict=True)
    )
    sources, targets = pairs.T.tolist()
    batch_size = at_once(network, len(into.tokens))
    values = np.empty((len(into.blocks), len(pairs)))
    for number, blocks in enumerate(zip(given.blocks, into.blocks, strict=True)):
        source, plain = (activations(network, block, at) for block in blocks)
        new = _strongest_changes(source[sources], plain[targets], neurons)
        for start in range(0, len(pairs), batch_size):
            batch = targets[start : start + batch_size]
            # One pass a token: all others keep what they have.
            rows = plain.repeat(len(batch), 1, 1)
            rows[range(len(batch)), batch] = new[start : start + batch_size]
            run = network.run(into.ids.expand(len(batch), -1), [Edit(number, value=rows, at=at)])
            after = measure(run.logits_at(judged[1]))
            values[number, start : start + len(batch)] = after.double().cpu().numpy()
            progress((number * len(pairs) + start + len(batch)) / values.size)
    return PatchMap(
        values,
        before,
        wanted,
        pairs[:, 1].astype(np.int64),
        tuple(into.tokens[each].special or into.tokens[each].text for each in targets),
    )


def _strongest_changes(new: Tensor, plain: Tensor, k: int | None) -> Tensor:
    """The rows of `plain`, (n, width), with the k entries of `new` that differ most from them."""
    if k is None or k >= new.shape[1]:
        return new
    strongest = (new - plain).abs().topk(k, dim=1).indices
    return plain.scatter(1, strongest, new.gather(1, strongest))


@torch.no_grad()
def patched_logits(
    network: Network,
    given: Trace,
    into: Trace,
    block: int,
    pair: tuple[int, int],
    judged: int,
    *,
    at: str = "output",
    neurons: int | None = None,
) -> Tensor:
    """The logits at a token of `into` after one patch of such a map, (vocab_size,).

    The arguments are those of `map_of_traces`, with one pair and one token to measure at.
    """
    source, plain = (activations(network, trace.blocks[block], at) for trace in (given, into))
    new = _strongest_changes(source[[pair[0]]], plain[[pair[1]]], neurons)
    run = network.run(into.ids, [Edit(block, value=new, tokens=[pair[1]], at=at)])
    return run.logits_at(judged)
