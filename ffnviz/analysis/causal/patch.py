"""Activation patching: what one text makes of a network, put into its pass over another."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import SupportsIndex

import numpy as np
import torch
from numpy.typing import NDArray

from ffnviz.analysis.causal.activations import activations, check_block
from ffnviz.analysis.causal.measure import Measure, at_once, judged_at
from ffnviz.analysis.needs import Capability, require
from ffnviz.models.edit import Edit
from ffnviz.models.network import Network
from ffnviz.models.trace import Trace

NEEDS = (Capability.WORD_HEAD,)  # of the map; a patched trace needs none


@torch.inference_mode()
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
    """The pass over `target`, with what the pass over `source` has at a place of a block.

    a_target ← a_source, then all that follows anew (Meng et al. 2022, "causal tracing"; Wang et
    al. 2022).

    Args:
        network: any.
        source: the text whose activations are taken.
        target: the text into whose pass they are put.
        block: from 0.
        neurons: which, or which components; None takes all.
        at: "hidden", "ffn", "attention", "input" or "output" (the stream), as Edit has them.
        tokens: of the target; None takes all.
        from_tokens: of the source, as many; None takes the same places.

    Raises:
        ValueError: naming what is not there; if the texts have not equally many tokens where no
            tokens are told.
        NotForThisNetwork: for an attention that is not recorded, where it does not simply add up.

    Examples:
        >>> model = ffnviz.load("relu")
        >>> girl, boy = "The girl lost [MASK] hat.", "The boy lost [MASK] hat."
        >>> trace = ffnviz.patch(model, girl, boy, block=0, tokens=[1])
        >>> torch.equal(trace.blocks[0].output[1], model.trace(girl).blocks[0].output[1])
        True
    """
    given, into = network.trace(source), network.trace(target)
    check_block(given, block)
    places = _places(given, into, tokens, from_tokens)
    values = activations(network, given.blocks[block], at)[places]
    which = Edit(block, neurons, value=0.0, at=at)
    if which.neurons is not None:
        which.check(network.sizes.n_blocks, network.sizes.d_ff, 0, network.sizes.d_model)
        values = values[:, which.neuron_places]
    return network.trace(target, [Edit(block, neurons, value=values, tokens=tokens, at=at)])


def _places(
    given: Trace, into: Trace, tokens: Sequence[int] | None, from_tokens: Sequence[int] | None
) -> list[int]:
    if tokens is None and from_tokens is None:
        _check_as_long(given, into)
        return list(range(len(given.tokens)))
    wanted = list(range(len(into.tokens))) if tokens is None else list(tokens)
    places = wanted if from_tokens is None else list(from_tokens)
    if len(places) != len(wanted):
        raise ValueError(f"{len(places)} tokens are taken and put to {len(wanted)}: as many each.")
    for place in places:
        if not 0 <= place < len(given.tokens):
            raise ValueError(
                f"The source has no token {place}: they count from 0 to {len(given.tokens) - 1}."
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
        values: after the patch, (n_blocks, t).
        target: of the target as it is.
        source: of the source as it is.
        tokens: the places, (t,).
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


@torch.inference_mode()
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
    """The measure after patching each block at each token by itself.

    Args:
        network: any with a word head.
        source: the text whose activations are taken.
        target: the text into whose pass they are put, with as many tokens.
        measure: of the logits, such as `logit_difference` makes.
        at: the place in each block, as Edit has them.
        tokens: which; None takes all.
        token: where it is measured; None takes the mask, or the last token of who reads from left
            to right.

    Raises:
        ValueError: if the texts have not equally many tokens, or not one of these.
        NotForThisNetwork: without a word head; as `patch`.

    Examples:
        >>> model = ffnviz.load("relu")
        >>> girl, boy = "The girl lost [MASK] hat.", "The boy lost [MASK] hat."
        >>> found = ffnviz.patch_map(model, girl, boy, ffnviz.logit_difference(model, "her", "his"))
        >>> found.restored.shape, found.labels[3]
        ((2, 6), ' [MASK]')
        >>> round(float(found.restored[1, 3]), 3)  # after the last block all of it is at [MASK]
        1.0
    """
    require(network, NEEDS)
    given, into = network.trace(source), network.trace(target)
    _check_as_long(given, into)
    n = len(into.tokens)
    wanted = _places(given, into, tokens, None)
    place, together = judged_at(network, into, token), at_once(network, n)
    values = np.empty((len(into.blocks), len(wanted)))
    for number, (taken, own) in enumerate(zip(given.blocks, into.blocks, strict=True)):
        put, plain = activations(network, taken, at), activations(network, own, at)
        for start in range(0, len(wanted), together):
            some = wanted[start : start + together]
            # One pass a token: all others keep what they have.
            rows = plain.repeat(len(some), 1, 1)
            rows[range(len(some)), some] = put[some]
            run = network.run(into.ids.expand(len(some), -1), [Edit(number, value=rows, at=at)])
            made = measure(run.logits_at(place)).double().cpu().numpy()
            values[number, start : start + len(some)] = made
    return PatchMap(
        values,
        float(measure(into.logits_at(place))),
        float(measure(given.logits_at(place))),
        np.array(wanted),
        tuple(into.tokens[each].special or into.tokens[each].text for each in wanted),
    )
