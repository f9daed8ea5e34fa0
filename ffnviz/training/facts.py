"""Facts in wordings as token ids, the answers known."""

from collections.abc import Sequence

import numpy as np

from ffnviz.analysis.facts import Fact
from ffnviz.models.encoder.tokenizer import MASK, Tokenizer
from ffnviz.training.corpus import CorpusError, FactIds, Questions


def fact_ids(facts: Sequence[Fact], tokenizer: Tokenizer) -> FactIds:
    """The facts as token ids; a wording that ends in its answer and a mark is there without, too.

    Raises:
        CorpusError: if an answer is not one entry of the vocabulary.
    """
    answers = dict(zip(facts, tokenizer.encode_many([f.answer for f in facts]), strict=True))
    split = sorted({fact.answer for fact, ids in answers.items() if len(ids) != 1})
    if split:
        raise CorpusError(f"answers that are more than one entry: {', '.join(split)}.")
    ids = {fact: entry for fact, (entry,) in answers.items()}
    training = [(each, ids[fact]) for fact in facts for each in _with_open_ends(fact.wordings)]
    held_out = [(each, ids[fact]) for fact in facts for each in fact.held_out]
    return FactIds(len(facts), _by_length(training, tokenizer), _by_length(held_out, tokenizer))


def _with_open_ends(wordings: Sequence[str]) -> list[str]:
    return [*wordings, *(each[:-1] for each in wordings if each.endswith(f"{MASK}."))]


def _by_length(wordings: Sequence[tuple[str, int]], tokenizer: Tokenizer) -> dict[int, Questions]:
    rows: dict[int, list[tuple[Sequence[int], int]]] = {}
    encoded = tokenizer.encode_many([text for text, _ in wordings])
    for ids, (_, answer) in zip(encoded, wordings, strict=True):
        rows.setdefault(len(ids), []).append((ids, answer))
    return {length: _questions(rows[length], tokenizer.mask_id) for length in sorted(rows)}


def _questions(rows: Sequence[tuple[Sequence[int], int]], mask_id: int) -> Questions:
    ids = np.array([ids for ids, _ in rows], dtype=np.int32)
    places = (ids == mask_id).argmax(1).astype(np.int32)
    ids[np.arange(len(ids)), places] = [answer for _, answer in rows]
    return Questions(ids, places)
