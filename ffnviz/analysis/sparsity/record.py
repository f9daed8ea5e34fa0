"""The training record: what was measured while a network was trained, saved beside its weights."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.needs import Capability
from ffnviz.models.network import Network, NotForThisNetwork

ARTICLES = "encyclopedia-articles"  # the one training text that is not a book
NEEDS = (Capability.RECORD,)


@dataclass(frozen=True)
class TrainingRecord:
    """Measurements during training, all on books that the network was not trained on."""

    seed: int  # determines the initial weights, together with the configuration
    books: tuple[str, ...]  # names of the books it was trained on, sorted
    articles: bool  # whether encyclopedia articles were part of the training text
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
    """The training record of a network.

    Raises:
        NotForThisNetwork: if there is none, or it cannot be read.
    """
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

    def by_block(key: str) -> NDArray[np.float64]:
        return np.array([[block[key] for block in point["blocks"]] for point in points])

    return TrainingRecord(
        seed=record["recipe"]["seed"],
        books=tuple(sorted(texts - {ARTICLES})),
        articles=ARTICLES in texts,
        sentences=any("sentences" in corpus for corpus in corpora),
        tokens=np.array([point["tokens"] for point in points]),
        loss=np.array([point["loss"] for point in points]),
        above_zero=by_block("active"),
        never=by_block("never_active"),
        n_tokens=points[0]["n_tokens"],
        final_never=tuple(tuple(block["never_active_units"]) for block in final["blocks"]),
        final_n_tokens=final["n_tokens"],
    )
