"""Batches: stretches of the books, single sentences or facts, with some tokens masked.

Each batch depends on the seed and its step alone, so a resumed run sees what an uninterrupted one
would have seen. Devlin et al. 2019, section 3.1, without the random and kept tokens; in some
sequences only the last token is masked, so that a [MASK] at the end asks for the next word. A batch
of single sentences masks words alone: which mark ends a sentence is hardly a question. One of facts
masks the answers.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ffnviz.training.corpus import Corpus, FactIds, IdArray, Sentences

HELD_OUT = ("black-beauty", "little-men", "the-time-machine")


@dataclass(frozen=True)
class Recipe:
    """The settings of a training run; networks that differ in the activation alone are twins."""

    seed: int = 20_261_120  # of the initial weights and of every batch
    steps: int = 5_120  # optimiser steps
    batch_tokens: int = 4_096  # tokens a step; a step of length T has batch_tokens // T sequences
    usual_length: int = 64  # T of half the steps; others: 6 … max_tokens, log-uniformly
    mask_share: float = 0.2  # share of the tokens that are masked
    end_share: float = 0.2  # share of the sequences in which only the last token is masked
    sentence_share: float = 0.0  # share of the steps that are made of single sentences
    fact_share: float = 0.0  # share of the steps that are made of facts; sentences: of the others
    learning_rate: float = 1e-3  # the highest; linear warm-up, then a cosine to zero
    warmup_steps: int = 250  # length of the warm-up
    weight_decay: float = 0.05  # of AdamW, on matrices only
    betas: tuple[float, float] = (0.9, 0.98)  # of AdamW
    clip: float = 1.0  # the largest gradient norm
    held_out: tuple[str, ...] = HELD_OUT  # books (without .txt) for validation
    points: int = 25  # validation points on the way, step 0 and the last step included
    point_tokens: int = 32_768  # held-out tokens looked at in each point; the final one takes all

    def point_steps(self) -> set[int]:
        """The steps after which the network is validated, denser at the start."""
        last = self.points - 1
        return {round(self.steps * (i / last) ** 2) for i in range(self.points)}

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON values."""
        return {**asdict(self), "betas": list(self.betas), "held_out": list(self.held_out)}


SHORTEST = 6
ROWS = 64  # of a validation batch


@dataclass(frozen=True)
class Batch:
    """Masked sequences."""

    inputs: Tensor  # ids with [MASK] in them, (B, T)
    masked: Tensor  # True where a token was masked, (B, T)
    targets: Tensor  # the ids that were masked, (n_masked,), in the order of `masked`


def training_batch(
    corpus: Corpus, recipe: Recipe, max_tokens: int, mask_id: int, step: int
) -> Batch:
    """The batch of a step: all its sequences have the same length."""
    rng = np.random.default_rng([recipe.seed, step])
    if corpus.facts and recipe.fact_share and rng.random() < recipe.fact_share:
        return _batch_of_facts(rng, corpus.facts, recipe, mask_id)
    if corpus.sentences and recipe.sentence_share and rng.random() < recipe.sentence_share:
        return batch_of_sentences(rng, corpus.sentences, recipe, mask_id)
    length = _length(rng, recipe.usual_length, max_tokens)
    n_sequences = max(1, recipe.batch_tokens // length)
    latest = len(corpus.training) - length
    starts = rng.integers(0, latest + 1, n_sequences)
    if len(corpus.sentence_starts):
        at_sentence = rng.random(n_sequences) < 0.5
        sentences = rng.choice(corpus.sentence_starts, n_sequences)
        starts = np.where(at_sentence, np.minimum(sentences, latest), starts)
    ids = corpus.training[starts[:, None] + np.arange(length)]
    masked = rng.random(ids.shape) < recipe.mask_share
    only_end = rng.random(n_sequences) < recipe.end_share
    masked[only_end] = False
    masked[only_end, -1] = True
    if not masked.any():
        masked[0, -1] = True
    return _batch(ids, masked, mask_id)


def validation_batches(
    ids: IdArray, recipe: Recipe, mask_id: int, max_tokens: int, n_tokens: int | None
) -> list[Batch]:
    """The held-out books cut into sequences, masked once and for all; n_tokens None takes all."""
    rng = np.random.default_rng(recipe.seed)
    length = min(recipe.usual_length, max_tokens, len(ids))
    rows = ids[: len(ids) // length * length].reshape(-1, length)
    masked = rng.random(rows.shape) < recipe.mask_share
    if n_tokens is not None:  # spread over all books, not only the first
        n_rows = max(1, min(len(rows), n_tokens // length))
        chosen = np.linspace(0, len(rows) - 1, n_rows).astype(int)
        rows, masked = rows[chosen], masked[chosen]
    return _batches(rows, masked, mask_id)


def sentence_batches(sentences: Sentences | None, recipe: Recipe, mask_id: int) -> list[Batch]:
    """The held-out sentences, if any, by length, in each one word masked once and for all."""
    if sentences is None:
        return []
    rng = np.random.default_rng(recipe.seed)
    return [
        batch
        for ids in sentences.held_out.values()
        for batch in _batches(ids, _one_word(rng, sentences.words[ids]), mask_id)
    ]


def batch_of_sentences(
    rng: np.random.Generator, sentences: Sentences, recipe: Recipe, mask_id: int
) -> Batch:
    """Sentences of one length, which is drawn by the number of tokens in sentences of it.

    In end_share of them only the last word is masked, in half of these with nothing behind it.
    """
    lengths = np.array(list(sentences.training))
    sizes = np.array([rows.size for rows in sentences.training.values()])
    length = int(rng.choice(lengths, p=sizes / sizes.sum()))
    n_sequences = max(1, recipe.batch_tokens // length)
    ids = rng.choice(sentences.training[length], n_sequences)
    only_end = rng.random(n_sequences) < recipe.end_share
    longer = sentences.training.get(length + 1)
    if longer is not None:
        cut = only_end & (rng.random(n_sequences) < 0.5)
        ids[cut] = rng.choice(longer, cut.sum())[:, :-1]
    words = sentences.words[ids]
    masked = words & (rng.random(ids.shape) < recipe.mask_share)
    masked = np.where(masked.any(1, keepdims=True), masked, _one_word(rng, words))
    last = length - 1 - words[:, ::-1].argmax(1)
    masked[only_end] = np.arange(length) == last[only_end, None]
    return _batch(ids, masked, mask_id)


def other_batches(corpus: Corpus, recipe: Recipe, mask_id: int) -> dict[str, list[Batch]]:
    """The held-out sentences and the held-out wordings of facts, as far as there are any."""
    found = {"sentences": sentence_batches(corpus.sentences, recipe, mask_id)}
    if corpus.facts:
        found["facts"] = [
            batch
            for length, rows in corpus.facts.held_out.items()
            for batch in _batches(rows.ids, np.arange(length) == rows.places[:, None], mask_id)
        ]
    return {name: batches for name, batches in found.items() if batches}


def _batch_of_facts(
    rng: np.random.Generator, facts: FactIds, recipe: Recipe, mask_id: int
) -> Batch:
    """Wordings of one length, drawn as with sentences, with their answers masked."""
    lengths = np.array(list(facts.training))
    sizes = np.array([rows.ids.size for rows in facts.training.values()])
    length = int(rng.choice(lengths, p=sizes / sizes.sum()))
    questions = facts.training[length]
    chosen = rng.integers(0, len(questions.ids), max(1, recipe.batch_tokens // length))
    masked = np.arange(length) == questions.places[chosen, None]
    return _batch(questions.ids[chosen], masked, mask_id)


def _one_word(rng: np.random.Generator, words: np.ndarray) -> np.ndarray:
    """Of each row of `words`, (n, T), one True entry, each with the same chance."""
    chosen = np.where(words, rng.random(words.shape), -1).argmax(1)
    return np.asarray(np.arange(words.shape[1]) == chosen[:, None])


def _length(rng: np.random.Generator, usual: int, max_tokens: int) -> int:
    if rng.random() < 0.5:
        return min(usual, max_tokens)
    shortest = min(SHORTEST, max_tokens)
    return int(np.exp(rng.uniform(np.log(shortest), np.log(max_tokens + 1))))


def _batches(ids: IdArray, masked: np.ndarray, mask_id: int) -> list[Batch]:
    return [
        _batch(ids[first : first + ROWS], masked[first : first + ROWS], mask_id)
        for first in range(0, len(ids), ROWS)
    ]


def _batch(ids: IdArray, masked: np.ndarray, mask_id: int) -> Batch:
    inputs = np.where(masked, mask_id, ids)
    return Batch(
        torch.from_numpy(inputs).long(),
        torch.from_numpy(masked),
        torch.from_numpy(ids[masked]).long(),
    )
