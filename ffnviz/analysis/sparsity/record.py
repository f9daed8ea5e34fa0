"""What was measured while a twin was trained: the training record beside its weights."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.needs import Capability
from ffnviz.models.encoder.folder import TRAINING
from ffnviz.models.encoder.model import MODELS
from ffnviz.models.network import Network, NotForThisNetwork

ARTICLES = "encyclopedia-articles"  # the one text to train on that is no book
NEEDS = (Capability.RECORD,)


@dataclass(frozen=True)
class TrainingRecord:
    """A twin's training in figures; all measured on books it was not trained on."""

    seed: int  # its initial weights follow from this and the configuration
    books: tuple[str, ...]  # the names of those it was trained on, in the order of the alphabet
    articles: bool  # whether it was trained on articles of an encyclopedia too
    sentences: bool  # whether it was trained on single sentences too
    tokens: NDArray[np.int64]  # seen at each point, (n,); the first is 0, before the first step
    loss: NDArray[np.float64]  # at the masked tokens, in nats, (n,)
    above_zero: NDArray[np.float64]  # share of hidden values above zero, (n, n_blocks), from 0 to 1
    never: NDArray[np.float64]  # share of neurons above zero on none of the tokens, (n, n_blocks)
    n_tokens: int  # that each point was measured on
    final_loss: float  # as `loss`, at the end, at all masked tokens of the held-out books
    # neurons above zero on none of those, by their numbers, a tuple a block
    final_never: tuple[tuple[int, ...], ...]
    final_n_tokens: int  # how many held-out tokens those are


def training_record(twin: str) -> TrainingRecord:
    """The record of a twin by its name."""
    return _read(MODELS / twin / TRAINING)


def record_of(network: Network) -> TrainingRecord:
    """The record of a network.

    Raises:
        NotForThisNetwork: if there is none, or it is not one of ours.
    """
    known = network.card.provenance
    if known is None or known.record is None:
        raise NotForThisNetwork(f"Not for {network.card.label}: {Capability.RECORD.value}")
    try:
        return _read(known.record)
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise NotForThisNetwork(
            f"Not for {network.card.label}: its training record cannot be read ({error!r})."
        ) from error


@cache
def _read(path: Path) -> TrainingRecord:
    record = json.loads(path.read_text(encoding="utf-8"))
    points, final = record["points"], record["final"]
    corpora = [run["corpus"] for run in (record, *record.get("further", []))]

    texts = {name for each in corpora for name in each["training_books"]}

    def over_blocks(read: Any) -> NDArray[np.float64]:
        return np.array([[read(block) for block in point["blocks"]] for point in points])

    return TrainingRecord(
        seed=record["recipe"]["seed"],
        books=tuple(sorted(texts - {ARTICLES})),
        articles=ARTICLES in texts,
        sentences=any("sentences" in each for each in corpora),
        tokens=np.array([point["tokens"] for point in points]),
        loss=np.array([point["loss"] for point in points]),
        above_zero=over_blocks(lambda block: block["active"]),
        never=over_blocks(lambda block: block["never_active"]),
        n_tokens=points[0]["n_tokens"],
        final_loss=final["loss"],
        final_never=tuple(tuple(block["never_active_units"]) for block in final["blocks"]),
        final_n_tokens=final["n_tokens"],
    )
