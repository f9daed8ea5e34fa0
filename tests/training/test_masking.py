"""Batches: true stretches of the books, masked as often and where the recipe says."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from ffnviz.training.corpus import Corpus
from ffnviz.training.masking import SHORTEST, Batch, Recipe, training_batch, validation_batches

MASK_ID = 0
MAX_TOKENS = 32


def batches(corpus: Corpus, recipe: Recipe, n: int = 60) -> list[Batch]:
    return [training_batch(corpus, recipe, MAX_TOKENS, MASK_ID, step) for step in range(n)]


def unmasked(batch: Batch) -> torch.Tensor:
    """The batch with its targets put back where they were masked."""
    ids = batch.inputs.clone()
    ids[batch.masked] = batch.targets
    return ids


def same(one: Batch, other: Batch) -> bool:
    return (
        torch.equal(one.inputs, other.inputs)
        and torch.equal(one.masked, other.masked)
        and torch.equal(one.targets, other.targets)
    )


def test_with_its_targets_put_back_a_sequence_is_a_stretch_of_the_training_books(
    corpus: Corpus, recipe: Recipe
) -> None:
    books = corpus.training.tobytes()
    for batch in batches(corpus, recipe, n=10):
        assert (batch.inputs[batch.masked] == MASK_ID).all()
        assert len(batch.targets) == batch.masked.sum() > 0
        for row in unmasked(batch).numpy().astype(np.int32):
            assert row.tobytes() in books


def test_a_batch_depends_on_nothing_but_the_seed_and_the_step(
    corpus: Corpus, recipe: Recipe
) -> None:
    one = training_batch(corpus, recipe, MAX_TOKENS, MASK_ID, step=3)
    training_batch(corpus, recipe, MAX_TOKENS, MASK_ID, step=4)
    torch.manual_seed(1)
    assert same(one, training_batch(corpus, recipe, MAX_TOKENS, MASK_ID, step=3))
    assert not same(one, training_batch(corpus, recipe, MAX_TOKENS, MASK_ID, step=4))
    reseeded = replace(recipe, seed=recipe.seed + 1)
    assert not same(one, training_batch(corpus, reseeded, MAX_TOKENS, MASK_ID, step=3))


def test_half_the_batches_have_the_usual_length_and_the_others_any_from_six_up(
    corpus: Corpus, recipe: Recipe
) -> None:
    shapes = [tuple(batch.inputs.shape) for batch in batches(corpus, recipe, n=400)]
    lengths = np.array([length for _, length in shapes])
    assert lengths.min() == SHORTEST == 6
    assert lengths.max() == MAX_TOKENS
    assert (lengths == recipe.usual_length).mean() == pytest.approx(0.5, abs=0.1)
    for n_sequences, length in shapes:
        assert n_sequences == recipe.batch_tokens // length


def test_the_share_of_masked_tokens_is_the_one_asked_for(corpus: Corpus, recipe: Recipe) -> None:
    everywhere = replace(recipe, mask_share=0.2, end_share=0.0)
    masked = torch.cat([batch.masked.flatten() for batch in batches(corpus, everywhere)])
    assert len(masked) > 10_000
    assert masked.float().mean().item() == pytest.approx(0.2, abs=0.015)


def test_every_place_in_a_sequence_is_masked_equally_often(corpus: Corpus, recipe: Recipe) -> None:
    everywhere = replace(recipe, end_share=0.0, batch_tokens=4_096)
    usual = [b.masked for b in batches(corpus, everywhere) if b.masked.shape[1] == 16]
    by_place = torch.cat(usual).float().mean(0)
    assert by_place.numpy() == pytest.approx(np.full(16, 0.2), abs=0.03)


def test_sequences_for_the_next_word_mask_the_last_token_and_no_other(
    corpus: Corpus, recipe: Recipe
) -> None:
    for batch in batches(corpus, replace(recipe, end_share=1.0)):
        assert batch.masked[:, -1].all()
        assert not batch.masked[:, :-1].any()


def test_the_share_of_sequences_for_the_next_word_is_the_one_asked_for(
    corpus: Corpus, recipe: Recipe
) -> None:
    # In a long sequence it hardly ever happens by chance that the last token alone is masked.
    only_last = [
        (batch.masked[:, -1] & (batch.masked.sum(1) == 1))
        for batch in batches(corpus, replace(recipe, end_share=0.25, batch_tokens=4_096))
        if batch.masked.shape[1] >= 16
    ]
    chance = 0.75 * 0.2 * 0.8**15
    share = torch.cat(only_last).float().mean().item()
    assert share == pytest.approx(0.25 + chance, abs=0.02)


def test_about_half_the_sequences_start_where_a_sentence_starts(
    corpus: Corpus, recipe: Recipe
) -> None:
    # Elsewhere a start is drawn from all tokens, a few of which start a sentence, too.
    starts = {corpus.training[i : i + 6].tobytes() for i in corpus.sentence_starts}
    rows = [
        row
        for batch in batches(corpus, recipe)
        for row in unmasked(batch)[:, :6].numpy().astype(np.int32)
    ]
    by_chance = np.mean(
        [corpus.training[i : i + 6].tobytes() in starts for i in range(len(corpus.training) - 6)]
    )
    share = np.mean([row.tobytes() in starts for row in rows])
    assert share == pytest.approx(0.5 + 0.5 * by_chance, abs=0.08)


def test_a_batch_without_a_single_masked_token_gets_one(corpus: Corpus, recipe: Recipe) -> None:
    never = replace(recipe, mask_share=0.0, end_share=0.0)
    for batch in batches(corpus, never, n=5):
        assert batch.masked.sum() == 1


def test_validation_cuts_the_held_out_books_into_sequences_from_end_to_end(
    corpus: Corpus, recipe: Recipe
) -> None:
    found = validation_batches(corpus.validation, recipe, MASK_ID, MAX_TOKENS, None)
    ids = torch.cat([unmasked(batch).flatten() for batch in found])
    n_whole = len(corpus.validation) // 16 * 16
    assert ids.tolist() == corpus.validation[:n_whole].tolist()
    masked = torch.cat([batch.masked.flatten() for batch in found])
    assert masked.float().mean().item() == pytest.approx(recipe.mask_share, abs=0.03)


def test_validation_masks_the_same_tokens_each_time(corpus: Corpus, recipe: Recipe) -> None:
    one = validation_batches(corpus.validation, recipe, MASK_ID, MAX_TOKENS, 512)
    other = validation_batches(corpus.validation, recipe, MASK_ID, MAX_TOKENS, 512)
    assert all(same(*pair) for pair in zip(one, other, strict=True))


def test_a_shorter_validation_is_spread_over_all_held_out_books(
    corpus: Corpus, recipe: Recipe
) -> None:
    found = validation_batches(corpus.validation, recipe, MASK_ID, MAX_TOKENS, 512)
    rows = torch.cat([unmasked(batch) for batch in found])
    assert rows.shape == (32, 16)
    n_whole = len(corpus.validation) // 16
    whole = corpus.validation[: n_whole * 16].reshape(n_whole, 16)
    assert rows[0].tolist() == whole[0].tolist()
    assert rows[-1].tolist() == whole[-1].tolist()
    # A short look masks what the long one masks.
    masked = torch.cat([batch.masked for batch in found])
    long = validation_batches(corpus.validation, recipe, MASK_ID, MAX_TOKENS, None)
    assert torch.equal(masked[-1], long[-1].masked[-1])
