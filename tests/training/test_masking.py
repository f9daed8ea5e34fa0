"""Batches of books and of single sentences: true stretches, masked as often as is said."""

import hashlib
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.training.corpus import Corpus, CorpusError, Sentences, read_sentences
from ffnviz.training.masking import (
    SHORTEST,
    Batch,
    Recipe,
    sentence_batches,
    training_batch,
    validation_batches,
)

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
    return all(
        torch.equal(getattr(one, name), getattr(other, name))
        for name in ("inputs", "masked", "targets")
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


def test_a_batch_depends_on_the_seed_and_the_step_alone(corpus: Corpus, recipe: Recipe) -> None:
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


def test_tokens_are_masked_everywhere_as_often_as_asked(corpus: Corpus, recipe: Recipe) -> None:
    everywhere = replace(recipe, mask_share=0.2, end_share=0.0, batch_tokens=4_096)
    masked = [batch.masked for batch in batches(corpus, everywhere)]
    others = torch.cat([each.flatten() for each in masked if each.shape[1] != 16])
    assert others.float().mean().item() == pytest.approx(0.2, abs=0.015)
    by_place = torch.cat([each for each in masked if each.shape[1] == 16]).float().mean(0)
    assert by_place.numpy() == pytest.approx(np.full(16, 0.2), abs=0.03)
    never = replace(recipe, mask_share=0.0, end_share=0.0)
    for batch in batches(corpus, never, n=5):
        assert batch.masked.sum() == 1


def test_sequences_for_the_next_word_mask_the_last_token_as_often_as_asked_for(
    corpus: Corpus, recipe: Recipe
) -> None:
    for batch in batches(corpus, replace(recipe, end_share=1.0)):
        assert batch.masked[:, -1].all()
        assert not batch.masked[:, :-1].any()

    # In a long sequence it hardly ever happens by chance that the last token alone is masked.
    only_last = [
        (batch.masked[:, -1] & (batch.masked.sum(1) == 1))
        for batch in batches(corpus, replace(recipe, end_share=0.25, batch_tokens=4_096))
        if batch.masked.shape[1] >= 16
    ]
    chance = 0.75 * 0.2 * 0.8**15
    share = torch.cat(only_last).float().mean().item()
    assert share == pytest.approx(0.25 + chance, abs=0.02)


def test_half_the_sequences_start_where_a_sentence_does(corpus: Corpus, recipe: Recipe) -> None:
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


def test_validation_cuts_held_out_books_and_masks_the_same(corpus: Corpus, recipe: Recipe) -> None:
    long, short, again = (
        validation_batches(corpus.validation, recipe, MASK_ID, MAX_TOKENS, n_tokens)
        for n_tokens in (None, 512, 512)
    )
    whole = corpus.validation[: len(corpus.validation) // 16 * 16].reshape(-1, 16)
    assert torch.cat([unmasked(batch) for batch in long]).tolist() == whole.tolist()
    masked = torch.cat([batch.masked.flatten() for batch in long])
    assert masked.float().mean().item() == pytest.approx(recipe.mask_share, abs=0.03)
    assert all(same(*pair) for pair in zip(short, again, strict=True))

    rows = torch.cat([unmasked(batch) for batch in short])
    assert rows.shape == (32, 16)
    assert rows[[0, -1]].tolist() == whole[[0, -1]].tolist()
    # A short look masks what the long one masks.
    assert torch.equal(short[-1].masked[-1], long[-1].masked[-1])


def rows(part: dict[int, np.ndarray]) -> set[tuple[int, ...]]:
    """All sentences of one part."""
    return {tuple(row) for of_length in part.values() for row in of_length.tolist()}


@pytest.fixture
def all_sentences(half_sentences: Recipe) -> Recipe:
    """Every step of sentences, at a size that gives shares."""
    return replace(half_sentences, sentence_share=1.0, batch_tokens=2_048)


def test_held_out_are_the_lines_whose_sha1_begins_with_a_one(
    sentence_file: Path, sentences: Sentences, tokenizer: Tokenizer
) -> None:
    lines = sentence_file.read_text(encoding="utf-8").splitlines()
    parts: dict[bool, set[tuple[int, ...]]] = {True: set(), False: set()}
    for line in lines:
        held_out = hashlib.sha1(line.encode()).hexdigest()[0] == "1"
        parts[held_out].add(tuple(tokenizer.encode(line).ids))
    assert rows(sentences.held_out) == parts[True]
    assert rows(sentences.training) == parts[False]
    assert all(ids.shape[1] == length for length, ids in sentences.training.items())
    assert sentences.name == "counted"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_neither_a_mark_at_the_start_nor_a_line_without_words_or_too_long_is_read(
    sentence_file: Path, sentences: Sentences, tokenizer: Tokenizer, tmp_path: Path, encoding: str
) -> None:
    file, left_out = tmp_path / "counted.txt", "\n   \n...\n" + "one " * 40 + ".\n"
    file.write_text(sentence_file.read_text(encoding="utf-8") + left_out, encoding=encoding)
    found = read_sentences(file, tokenizer, MAX_TOKENS)
    assert rows(found.training) == rows(sentences.training)
    assert rows(found.held_out) == rows(sentences.held_out)


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"One two.\n", "too few sentences"), (b"\xff\n", "not text in UTF-8 or UTF-16")],
)
def test_a_file_that_cannot_be_trained_on_is_named(
    tokenizer: Tokenizer, tmp_path: Path, content: bytes, said: str
) -> None:
    path = tmp_path / "few.txt"
    path.write_bytes(content)
    with pytest.raises(CorpusError, match=rf"few\.txt.*{said}"):
        read_sentences(path, tokenizer, MAX_TOKENS)


def test_sentence_steps_come_as_often_as_asked_for(
    corpus: Corpus, both: Corpus, recipe: Recipe, sentences: Sentences, half_sentences: Recipe
) -> None:
    assert recipe.sentence_share == 0
    for one, other in zip(batches(corpus, recipe, 8), batches(both, recipe, 8), strict=True):
        assert same(one, other)
    whole = rows(sentences.training)
    of_sentences = [
        np.mean([tuple(row) in whole for row in unmasked(batch).tolist()]) > 0.5
        for batch in batches(both, half_sentences, 300)
    ]
    assert np.mean(of_sentences) == pytest.approx(0.5, abs=0.08)


def test_a_batch_is_of_whole_sentences_a_length_as_often_as_its_tokens(
    both: Corpus, sentences: Sentences, all_sentences: Recipe
) -> None:
    whole = rows(sentences.training)
    for batch in batches(both, replace(all_sentences, end_share=0.0)):
        assert {tuple(row) for row in unmasked(batch).tolist()} <= whole
        assert len(batch.inputs) == 2_048 // batch.inputs.shape[1]
    found = Counter(batch.inputs.shape[1] for batch in batches(both, all_sentences, 600))
    n_tokens = len(sentences.training_ids)
    for length, ids in sentences.training.items():
        assert found[length] / 600 == pytest.approx(ids.size / n_tokens, abs=0.06)


def test_words_alone_are_masked_and_one_at_least_in_each_sentence(
    both: Corpus, tokenizer: Tokenizer, all_sentences: Recipe
) -> None:
    masked = n_words = 0
    for batch in batches(both, replace(all_sentences, end_share=0.0, mask_share=0.3)):
        assert batch.masked.any(1).all()
        assert all(tokenizer.word(i).strip().isalpha() for i in set(batch.targets.tolist()))
        ids = unmasked(batch)
        words = torch.tensor([[tokenizer.word(i) != "." for i in row] for row in ids.tolist()])
        long = words.sum(1) >= 8  # where a sentence hardly ever goes without by chance
        masked += int(batch.masked[long].sum())
        n_words += int(words[long].sum())
    assert masked / n_words == pytest.approx(0.3, abs=0.03)


def test_for_the_end_the_last_word_is_masked_with_or_without_the_full_stop(
    both: Corpus, sentences: Sentences, tokenizer: Tokenizer, all_sentences: Recipe
) -> None:
    whole = rows(sentences.training)
    cut = {row[:-1] for row in whole}
    longest = max(sentences.training)
    n_cut, n_whole = 0, 0
    for batch in batches(both, replace(all_sentences, end_share=1.0)):
        ids = unmasked(batch)
        for row, masked in zip(ids.tolist(), batch.masked.tolist(), strict=True):
            stops = tokenizer.word(row[-1]) == "."
            assert tuple(row) in (whole if stops else cut)
            assert masked == [i == len(row) - 1 - stops for i in range(len(row))]
            if len(row) < longest and len(row) + 1 in sentences.training:
                n_cut, n_whole = n_cut + (not stops), n_whole + stops
    assert n_cut / (n_cut + n_whole) == pytest.approx(0.5, abs=0.03)


def test_one_word_of_each_held_out_sentence_is_masked_the_same_each_time(
    sentences: Sentences, tokenizer: Tokenizer, recipe: Recipe
) -> None:
    found = sentence_batches(sentences, recipe, MASK_ID)
    assert {tuple(row) for b in found for row in unmasked(b).tolist()} == rows(sentences.held_out)
    assert all((batch.masked.sum(1) == 1).all() for batch in found)
    assert all(tokenizer.word(i) != "." for batch in found for i in batch.targets.tolist())
    again = sentence_batches(sentences, recipe, MASK_ID)
    assert all(same(*pair) for pair in zip(found, again, strict=True))
    many = replace(sentences, held_out={6: np.repeat(sentences.training[6][:1], 3_000, axis=0)})
    found = sentence_batches(many, recipe, MASK_ID)
    words = sentences.words[many.held_out[6][0]]
    expected = np.where(words, 1 / words.sum(), 0)
    masked = torch.cat([batch.masked for batch in found])
    assert masked.float().mean(0).numpy() == pytest.approx(expected, abs=0.03)
