"""Activation patching: activations of one text put into the pass over another."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import SupportsIndex

import numpy as np
import torch
from jaxtyping import Float64, Int64
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.causal.measure import (
    Measure,
    activations,
    at_once,
    judged_at,
    measured,
    place_at,
)
from ffnviz.analysis.comparable import Comparable
from ffnviz.analysis.measuring import Progress, subprogress
from ffnviz.analysis.needs import Capability, require
from ffnviz.models.arguments import (
    Which,
    at_least,
    finite_number,
    kept_numbers,
    place_of,
    places_of,
    whole_numbers,
)
from ffnviz.models.edit import Edit
from ffnviz.models.network import Network, check_network
from ffnviz.models.trace import ForwardPass, Trace

FACTOR = 3.0  # times the standard deviation of the words' vectors


@dataclass(frozen=True)
class Noise:
    """Gaussian noise on the embeddings of some tokens, drawn several times.

    x₀ ← x₀ + ε, ε ~ N(0, sd²) in each component, with x₀ the stream before the first block (Meng et
    al. 2022, section 2.1). Where a norm follows the embedding, x₀ is taken after that norm.

    Attributes:
        tokens: which: from 0, −1 the last, or a mask; kept as a tuple.
        sd: the standard deviation of ε; None takes 3 × that of the components of all words'
            vectors. (Meng et al. take 3 × that of the words of their own subjects.)
        draws: how many times it is drawn, and averaged over; at least 2.
        seed: of the draws, 0 or more.

    Raises:
        ValueError: naming the argument that is wrong.

    Examples:
        >>> model = ffnviz.load("relu")
        >>> she = ffnviz.logit_difference(model, "she", "he")
        >>> text = "My mother said that [MASK] was ill."
        >>> found = ffnviz.patch_map(model, text, ffnviz.Noise([1], draws=4), she)
        >>> found.values.shape, found.source > found.target
        (torch.Size([2, 8]), True)
    """

    tokens: Iterable[SupportsIndex]
    sd: float | None = None
    draws: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        kept = {
            "tokens": whole_numbers("tokens", self.tokens),
            "draws": at_least("draws", self.draws, 2),
            "seed": at_least("seed", self.seed, 0),
        }
        if self.sd is not None and finite_number("sd", self.sd) <= 0:
            raise ValueError(f"sd = {self.sd}: it must be above 0.")
        if not kept["tokens"]:
            raise ValueError("tokens is empty: name the tokens that get the noise.")
        for name, value in kept.items():
            object.__setattr__(self, name, value)

    def sd_in(self, network: Network) -> float:
        """The standard deviation that is drawn with.

        Raises:
            NotForThisNetwork: if none is given, and the words' vectors are not as wide as the
                stream.
        """
        if self.sd is not None:
            return float(self.sd)
        return FACTOR * float(network.input_words.vectors.float().std())

    def edit(self, network: Network, n_tokens: int) -> Edit:
        """All draws as an Edit of a batch of as many passes over n_tokens tokens.

        Raises:
            ValueError: naming a token that is not there.
        """
        places = places_of("token", self.tokens, n_tokens)
        generator = torch.Generator().manual_seed(self.seed)
        shape = self.draws, len(places), network.sizes.d_model
        noise = self.sd_in(network) * torch.randn(shape, generator=generator)
        return Edit(0, add=noise, tokens=places, at="input")


NEEDS = (Capability.WORD_HEAD,)  # of the map; a patched trace needs none
# Writes what is put in, into the target's rows at a place, (draws, T, width), in place.
Put = Callable[[Tensor], None]


@torch.no_grad()
def patch(
    network: Network,
    source: str,
    target: str,
    block: int,
    neurons: Iterable[SupportsIndex] | None = None,
    *,
    at: str | None = None,
    heads: Iterable[SupportsIndex] | None = None,
    tokens: Iterable[SupportsIndex] | None = None,
    from_tokens: Iterable[SupportsIndex] | None = None,
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
        at: the place in the block, as Edit has them; None takes "output", the stream, or "heads" if
            heads are given.
        heads: which heads of the attention: their z, what they gather, is put in.
        tokens: of the target; None takes all.
        from_tokens: of the source, as many; None takes the same places.

    Raises:
        ValueError: naming what is not there; without `tokens`, if the texts differ in length.
        NotForThisNetwork: for attention that is neither recorded nor simply added to the stream;
            for heads that are not seen.

    Examples:
        >>> model = ffnviz.load("relu")
        >>> girl, boy = "The girl lost [MASK] hat.", "The boy lost [MASK] hat."
        >>> trace = ffnviz.patch(model, girl, boy, block=0, tokens=[1])
        >>> torch.equal(trace.blocks[0].output[1], model.trace(girl).blocks[0].output[1])
        True
    """
    check_network(network)
    at, tokens = place_at(at, heads, "output"), kept_numbers("tokens", tokens)
    given, into = network.trace(source), network.trace(target)
    block = place_of("block", block, len(given.blocks))
    places = _source_places(given, into, tokens, from_tokens)
    values = activations(network, given.blocks[block], at)[places]
    edit = Edit(block, neurons, value=0.0, tokens=tokens, at=at, heads=heads)
    which = edit.settled(network.sizes, len(into.tokens), network.head_shape)
    if which.neurons is not None:
        values = values[:, which.neuron_places]
    return network.trace(target, [replace(edit, value=values)])


def _source_places(given: Trace, into: Trace, tokens: Which, from_tokens: Which) -> list[int]:
    if tokens is None and from_tokens is None:
        check_as_long(given, into)
    n, n_source = len(into.tokens), len(given.tokens)
    wanted = list(range(n)) if tokens is None else places_of("token", tokens, n)
    places = wanted if from_tokens is None else places_of("token", from_tokens, n_source)
    if len(places) != len(wanted):
        taken = "1 token is" if len(places) == 1 else f"{len(places)} tokens are"
        raise ValueError(
            f"{taken} taken from the source for {len(wanted)} of the target: give the same number "
            "of each."
        )
    for place in places:
        if place >= n_source:
            raise ValueError(
                f"The source has no token {place}: its tokens are numbered from 0 to "
                f"{n_source - 1}."
            )
    return places


def check_as_long(given: Trace, into: Trace) -> None:
    """Check that two texts have as many tokens."""
    if len(given.tokens) != len(into.tokens):
        raise ValueError(
            f"The source has {len(given.tokens)} tokens and the target {len(into.tokens)}: give "
            "texts of the same length, or say which tokens go where."
        )


@dataclass(frozen=True, eq=False)
class RestoredMap(Comparable):
    """A measure after each patch, beside that of both texts."""

    values: Float64[Tensor, "n_blocks places"]
    target: float
    source: float

    @property
    def restored(self) -> Float64[Tensor, "n_blocks places"]:
        """(values − target) / (source − target): 0 changes nothing, 1 makes it the source's.

        Raises:
            ValueError: if the measure is the same for both texts.
        """
        if self.source == self.target:
            raise ValueError("The measure is the same for both texts: there is nothing to restore.")
        return (self.values - self.target) / (self.source - self.target)


@dataclass(frozen=True, eq=False)
class PatchMap(RestoredMap):
    """A measure for every block and token that was patched.

    Attributes:
        values: after each patch, (n_blocks, t); into noise, the mean over the draws.
        target: for the target as it is; of noise, the mean.
        source: for the source as it is.
        tokens: the patched tokens, (t,).
        labels: the target's tokens there, as typed.
        error: the standard error of each value over the draws of noise, (n_blocks, t); else 0.

    Examples:
        >>> model = ffnviz.load("relu")
        >>> her = ffnviz.logit_difference(model, "her", "his")
        >>> girl, boy = "The girl lost [MASK] hat.", "The boy lost [MASK] hat."
        >>> found = ffnviz.patch_map(model, girl, boy, her, tokens=[1, 3])
        >>> found.values.shape, found.labels, found.source > found.target
        (torch.Size([2, 2]), (' boy', ' [MASK]'), True)
    """

    values: Float64[Tensor, "n_blocks t"]
    tokens: Int64[Tensor, "t"]
    labels: tuple[str, ...]
    error: Float64[Tensor, "n_blocks t"]


@torch.no_grad()
def patch_map(
    network: Network,
    source: str,
    target: str | Noise,
    measure: Measure,
    *,
    at: str = "output",
    heads: Iterable[SupportsIndex] | None = None,
    tokens: Iterable[SupportsIndex] | None = None,
    token: int | None = None,
) -> PatchMap:
    """The measure after each patch of one block at one token.

    Args:
        network: any with a word head.
        source: the text whose activations are taken.
        target: the text into whose pass they are put, with as many tokens; or Noise, which corrupts
            the source itself.
        measure: of the logits, such as `logit_difference` makes.
        at: the place in each block, as Edit has them.
        heads: at="heads", those whose z is put in; None takes all.
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
        (torch.Size([2, 6]), ' [MASK]')
        >>> round(float(map_.restored[1, 3]), 3)  # after the last block all of it is at [MASK]
        1.0
    """
    require(network, NEEDS)
    given = network.trace(source)
    noise = target if isinstance(target, Noise) else None
    into = given if isinstance(target, Noise) else network.trace(target)
    check_as_long(given, into)
    places = _source_places(given, into, tokens, None)
    place = judged_at(network, into, token)
    pairs = np.array([places, places]).T.reshape(-1, 2)
    return map_of_traces(
        network, given, into, measure, pairs, (place, place), at=at, heads=heads, noise=noise
    )


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
    heads: Which = None,
    noise: Noise | None = None,
    progress: Progress = lambda _: None,
) -> PatchMap:
    """The map of two traces, which may differ in length; see `patch_map`.

    `pairs`, (n, 2): a token of `given` and the one of `into` that it is put to. `judged`: where it
    is measured in each. `neurons`: how many of those that differ most are put in.
    """
    require(network, NEEDS)
    heads = kept_numbers("heads", heads)
    source = measured(network, measure, given.logits_at(judged[0]))
    target = Target(network, into, judged[1], measure, noise)
    sources, targets = pairs.T.tolist()
    values = torch.empty(len(into.blocks), len(pairs), target.draws, dtype=torch.float64)
    for number, block in enumerate(given.blocks):
        components = components_of(network, number, at, heads, len(into.tokens))
        new = activations(network, block, at)[sources]
        puts = [
            partial(put_rows, new=new[[row]], places=[place], components=components, k=neurons)
            for row, place in enumerate(targets)
        ]
        told = subprogress(progress, number, len(values))
        values[number] = target.after(number, at, target.plain(number, at), puts, told)
    return PatchMap(
        values.mean(-1),
        float(target.values.mean()),
        source,
        torch.tensor(targets),
        tuple(into.tokens[each].special or into.tokens[each].text for each in targets),
        standard_error(values),
    )


def put_rows(
    rows: Tensor,
    new: Tensor,
    places: list[int],
    components: list[int] | slice,
    k: int | None = None,
) -> None:
    """Write these components of new, (n, width), or the k that differ most, into rows at n tokens.

    `rows` are what the passes have at a place of a block, (draws, T, width), changed in place.
    """
    for place, row in zip(places, new, strict=True):
        there = rows[:, place]
        changed = _strongest_changes(row.expand_as(there), there, k)
        there[:, components] = changed[:, components]


class Target:
    """The pass into which is patched: of a text, or of a text many times, each with its noise."""

    def __init__(
        self, network: Network, trace: Trace, place: int, measure: Measure, noise: Noise | None
    ) -> None:
        self.draws = 1 if noise is None else noise.draws  # passes
        self._network, self._trace, self._place, self._measure = network, trace, place, measure
        plain = measured(network, measure, trace.logits_at(place))
        self._noise: Edit | None = None
        self._run: ForwardPass = trace
        # the measure of each pass, (draws,)
        self.values = torch.tensor([plain], dtype=torch.float64)
        if noise is not None:
            self._noise = noise.edit(network, len(trace.tokens))
            self._run = network.run(trace.ids.expand(self.draws, -1), self._noise)
            self.values = measure(self._run.logits_at(place)).cpu().double()

    def plain(self, block: int, at: str) -> Tensor:
        """What it has at a place of a block, (draws, T, width)."""
        values = activations(self._network, self._run.blocks[block], at)
        return values[None] if self._noise is None else values

    def after(
        self,
        block: int,
        at: str,
        plain: Tensor,
        puts: Sequence[Put],
        progress: Progress = lambda _: None,
    ) -> Tensor:
        """The measure after each change of these values alone, (changes, draws)."""
        n = max(1, at_once(self._network, len(self._trace.tokens)) // self.draws)
        values = torch.empty(len(puts), self.draws, dtype=torch.float64)
        for start in range(0, len(puts), n):
            batch = puts[start : start + n]
            rows = plain.repeat(len(batch), 1, 1, 1)  # all that is not put in stays
            for each, put in zip(rows, batch, strict=True):
                put(each)
            edits = [Edit(block, value=rows.flatten(0, 1), at=at)]
            if self._noise is not None and isinstance(self._noise.add, Tensor):
                edits.insert(0, replace(self._noise, add=self._noise.add.repeat(len(batch), 1, 1)))
            ids = self._trace.ids.expand(len(batch) * self.draws, -1)
            logits = self._network.run(ids, edits).logits_at(self._place)
            after = self._measure(logits).cpu().double()
            values[start : start + n] = after.reshape(-1, self.draws)
            progress((start + len(batch)) / len(puts))
        return values


def standard_error(values: Tensor) -> Tensor:
    """s / √draws of each row of draws, (…, draws) -> (…); 0 of a single draw."""
    n = values.shape[-1]
    if n == 1:
        return torch.zeros_like(values[..., 0])
    return values.std(dim=-1) / math.sqrt(n)


def components_of(
    network: Network, block: int, at: str, heads: Which, n_tokens: int
) -> list[int] | slice:
    """The components of some heads in their row, or all."""
    if heads is None:
        return slice(None)
    edit = Edit(block, scale=0.0, at=at, heads=heads)
    return edit.settled(network.sizes, n_tokens, network.head_shape).neuron_places


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
    """The logits at a token of `into`, (vocab_size,), after one patch; see `map_of_traces`."""
    source, plain = (activations(network, trace.blocks[block], at) for trace in (given, into))
    new = _strongest_changes(source[[pair[0]]], plain[[pair[1]]], neurons)
    run = network.run(into.ids, [Edit(block, value=new, tokens=[pair[1]], at=at)])
    return run.logits_at(judged)
