"""Which neurons are active: the one definition, which all counts and sentences follow.

A neuron is active (awake, it fires) on a token where its hidden value is not zero, for a φ whose
zeros are exact, as ReLU's are; for any other φ, where it is further than 0.1 from zero, on either
side: GELU goes down to −0.17, tanh to −1, and the product of a gated FFN as far as it likes.
"""

import copy
import json
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from ffnviz.analysis.needs import Capability, encoder_of, require
from ffnviz.models.activations import ACTIVATIONS, Activation
from ffnviz.models.encoder.model import Model
from ffnviz.models.network import Network, NotForThisNetwork
from ffnviz.models.trace import ForwardPass

ARTICLES = "encyclopedia-articles"  # the one training text that is not a book


@dataclass(frozen=True)
class TrainingRecord:
    """Measurements during training, all on books that the network was not trained on."""

    seed: int  # determines the initial weights, together with the configuration
    books: tuple[str, ...]  # names of the books it was trained on, sorted
    besides: tuple[str, ...]  # what it was trained on besides books, in words
    sentences: bool  # whether single sentences were part of it
    tokens: NDArray[np.int64]  # training tokens seen at each point, (n,), starting at 0
    loss: NDArray[np.float64]  # mean cross-entropy at the masked tokens, in nats, (n,)
    above_zero: NDArray[np.float64]  # share of hidden values above zero, (n, n_blocks), from 0 to 1
    never: NDArray[np.float64]  # share of neurons above zero on none of the tokens, (n, n_blocks)
    n_tokens: int  # held-out tokens that each point was measured on
    # neurons above zero on none of the held-out tokens at the end, a tuple of indices per block
    final_never: tuple[tuple[int, ...], ...]
    final_n_tokens: int  # the number of those held-out tokens


def record_of(network: Network) -> TrainingRecord:
    """The training record of a network."""
    provenance = network.card.provenance
    if provenance is None or provenance.record is None:
        raise NotForThisNetwork(f"Not for {network.card.label}: {Capability.RECORD.value}")
    try:
        return _read(provenance.record)
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise NotForThisNetwork(
            f"Not for {network.card.label}: its training record cannot be read ({error!r})."
        ) from error


@cache
def _read(path: Path) -> TrainingRecord:
    record = json.loads(path.read_text(encoding="utf-8"))
    points, final = record["points"], record["final"]
    corpora = [run["corpus"] for run in (record, *record.get("further", []))]
    texts = {name for corpus in corpora for name in corpus["training_books"]}

    sentences = any("sentences" in corpus for corpus in corpora)
    facts = max((corpus["facts"]["n"] for corpus in corpora if "facts" in corpus), default=0)
    besides = {
        "encyclopedia articles": ARTICLES in texts,
        "everyday sentences": sentences,
        f"{facts:,} everyday facts": facts > 0,
    }

    def by_block(key: str) -> NDArray[np.float64]:
        return np.array([[block[key] for block in point["blocks"]] for point in points])

    return TrainingRecord(
        seed=record["recipe"]["seed"],
        books=tuple(sorted(texts - {ARTICLES})),
        besides=tuple(name for name, read in besides.items() if read),
        sentences=sentences,
        tokens=np.array([point["tokens"] for point in points]),
        loss=np.array([point["loss"] for point in points]),
        above_zero=by_block("active"),
        never=by_block("never_active"),
        n_tokens=points[0]["n_tokens"],
        final_never=tuple(tuple(block["never_active_units"]) for block in final["blocks"]),
        final_n_tokens=final["n_tokens"],
    )


OTHER_NEEDS = (Capability.OURS, Capability.PLAIN_FFN)


def with_activation(model: Model, activation: str) -> Model:
    """A model with the same weights, shared and not copied, and another plain φ."""
    config = replace(encoder_of(model).config, activation=activation)
    other = ACTIVATIONS[activation]
    require(model, OTHER_NEEDS)
    if other.gated:
        raise NotForThisNetwork(
            f"{other.label} is gated and has one more matrix: it cannot stand in for a plain φ."
        )
    shared = {id(tensor): tensor for tensor in model.encoder.parameters()}
    encoder = copy.deepcopy(model.encoder, shared)
    encoder.config = config
    for block in encoder.blocks:
        block.ffn.activation = other
    return replace(model, encoder=encoder)


NEAR_ZERO = 0.1
Values = TypeVar("Values", Tensor, NDArray[Any])


@dataclass(frozen=True)
class Awake:
    """The number of active neurons on each token of a sentence."""

    threshold: float  # a neuron is active where |hidden| is above it
    counts: NDArray[np.int64]  # active neurons on each token, (T,)
    d_ff: int

    @property
    def shares(self) -> NDArray[np.float64]:
        """Share of neurons active on each token, (T,), from 0 to 1."""
        return self.counts / self.d_ff

    @property
    def share(self) -> float:
        """Share of the sentence's T × d_ff hidden values that are active, from 0 to 1."""
        return float(self.shares.mean())


def threshold_for(phi: Activation) -> float:
    """The |hidden| above which a neuron is active, for a φ."""
    return 0.0 if phi.exact_zeros else NEAR_ZERO


def active(hidden: Values, threshold: float) -> Values:
    """Whether each hidden value, in an array of any shape, is that of an active neuron."""
    beyond: Values = abs(hidden) > threshold
    return beyond


def awake(trace: ForwardPass, block: int, threshold: float) -> Awake:
    """Count the active neurons of a block on each token of a trace."""
    hidden = trace.blocks[block].ffn.hidden  # (T, d_ff)
    return Awake(threshold, active(hidden, threshold).sum(dim=-1).cpu().numpy(), hidden.shape[-1])


def share_against_threshold(
    trace: ForwardPass, block: int, thresholds: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The share of a block's T × d_ff hidden values with |hidden| above each threshold, (n,).

    The thresholds, (n,), must rise and not be negative.
    """
    magnitudes = trace.blocks[block].ffn.hidden.abs().flatten().cpu().double().numpy()
    # A float64 threshold such as 0.1 lies between two float32 values: compare as float64 does.
    counts, _ = np.histogram(magnitudes, [-1.0, *np.nextafter(thresholds, 9e9), np.inf])
    return 1 - counts[:-1].cumsum() / magnitudes.size
