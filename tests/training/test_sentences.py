"""Single sentences: which are held out, and what a batch of them is made of."""

import hashlib
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.training.corpus import Corpus, CorpusError, Sentences, read_sentences
from ffnviz.training.masking import Batch, Recipe, sentence_batches, training_batch
from tests.training.test_masking import MASK_ID, MAX_TOKENS, same, unmasked

Row = tuple[int, ...]


def rows(part: dict[int, np.ndarray]) -> set[Row]:
    """All sentences of one part."""
    return {tuple(row) for of_length in part.values() for row in of_length.tolist()}


@pytest.fixture
def all_sentences(half_sentences: Recipe) -> Recipe:
    """Every step of sentences, at a size that gives shares."""
    return replace(half_sentences, sentence_share=1.0, batch_tokens=2_048)


def made(corpus: Corpus, recipe: Recipe, n: int = 60) -> list[Batch]:
    return [training_batch(corpus, recipe, MAX_TOKENS, MASK_ID, step) for step in range(n)]


def test_held_out_are_the_lines_whose_sha1_begins_with_a_one(
    sentence_file: Path, sentences: Sentences, tokenizer: Tokenizer
) -> None:
    lines = sentence_file.read_text(encoding="utf-8").splitlines()
    parts: dict[bool, set[Row]] = {True: set(), False: set()}
    for line in lines:
        held_out = hashlib.sha1(line.encode()).hexdigest()[0] == "1"
        parts[held_out].add(tuple(tokenizer.encode(line).ids))
    assert rows(sentences.held_out) == parts[True]
    assert rows(sentences.training) == parts[False]
    assert all(ids.shape[1] == length for length, ids in sentences.training.items())
    assert sentences.name == "counted"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_mark_at_the_start_of_a_file_is_no_part_of_its_first_sentence(
    sentence_file: Path, sentences: Sentences, tokenizer: Tokenizer, tmp_path: Path, encoding: str
) -> None:
    marked = tmp_path / "counted.txt"
    marked.write_text(sentence_file.read_text(encoding="utf-8"), encoding=encoding)
    found = read_sentences(marked, tokenizer, MAX_TOKENS)
    assert rows(found.training) == rows(sentences.training)
    assert rows(found.held_out) == rows(sentences.held_out)


def test_lines_without_a_word_or_too_long_are_left_out(
    sentence_file: Path, sentences: Sentences, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    text = sentence_file.read_text(encoding="utf-8")
    more = tmp_path / "counted.txt"
    more.write_text(text + "\n   \n...\n" + "one " * 40 + ".\n", encoding="utf-8")
    found = read_sentences(more, tokenizer, MAX_TOKENS)
    assert rows(found.training) | rows(found.held_out) == (
        rows(sentences.training) | rows(sentences.held_out)
    )


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "too few sentences"),
        (b"One two.\n", "too few sentences"),
        (b"\xff\n", "not text in UTF-8 or UTF-16"),
    ],
)
def test_a_file_that_cannot_be_trained_on_is_named(
    tokenizer: Tokenizer, tmp_path: Path, content: bytes, said: str
) -> None:
    path = tmp_path / "few.txt"
    path.write_bytes(content)
    with pytest.raises(CorpusError, match=rf"few\.txt.*{said}"):
        read_sentences(path, tokenizer, MAX_TOKENS)


def test_without_a_share_of_sentences_every_batch_is_what_it_was(
    corpus: Corpus, both: Corpus, recipe: Recipe
) -> None:
    assert recipe.sentence_share == 0
    for one, other in zip(made(corpus, recipe, 8), made(both, recipe, 8), strict=True):
        assert same(one, other)


def test_the_share_of_sentence_steps_is_the_one_asked_for(
    both: Corpus, sentences: Sentences, half_sentences: Recipe
) -> None:
    whole = rows(sentences.training)
    of_sentences = [
        np.mean([tuple(row) in whole for row in unmasked(batch).tolist()]) > 0.5
        for batch in made(both, half_sentences, 300)
    ]
    assert np.mean(of_sentences) == pytest.approx(0.5, abs=0.08)


def test_a_batch_is_of_whole_sentences_to_train_on(
    both: Corpus, sentences: Sentences, all_sentences: Recipe
) -> None:
    whole = rows(sentences.training)
    for batch in made(both, replace(all_sentences, end_share=0.0)):
        assert {tuple(row) for row in unmasked(batch).tolist()} <= whole
        assert len(batch.inputs) == 2_048 // batch.inputs.shape[1]


def test_a_length_comes_as_often_as_there_are_tokens_of_it(
    both: Corpus, sentences: Sentences, all_sentences: Recipe
) -> None:
    found = Counter(batch.inputs.shape[1] for batch in made(both, all_sentences, 600))
    n_tokens = len(sentences.training_ids)
    for length, ids in sentences.training.items():
        assert found[length] / 600 == pytest.approx(ids.size / n_tokens, abs=0.06)


def test_words_alone_are_masked_and_one_at_least_in_each_sentence(
    both: Corpus, tokenizer: Tokenizer, all_sentences: Recipe
) -> None:
    masked = n_words = 0
    for batch in made(both, replace(all_sentences, end_share=0.0, mask_share=0.3)):
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
    for batch in made(both, replace(all_sentences, end_share=1.0)):
        ids = unmasked(batch)
        for row, masked in zip(ids.tolist(), batch.masked.tolist(), strict=True):
            stops = tokenizer.word(row[-1]) == "."
            assert tuple(row) in (whole if stops else cut)
            assert masked == [i == len(row) - 1 - stops for i in range(len(row))]
            if len(row) < longest and len(row) + 1 in sentences.training:
                n_cut, n_whole = n_cut + (not stops), n_whole + stops
    assert n_cut / (n_cut + n_whole) == pytest.approx(0.5, abs=0.03)


def test_held_out_sentences_are_all_looked_at_with_one_word_masked_the_same_each_time(
    sentences: Sentences, tokenizer: Tokenizer, recipe: Recipe
) -> None:
    found = sentence_batches(sentences, recipe, MASK_ID)
    assert {tuple(row) for b in found for row in unmasked(b).tolist()} == rows(sentences.held_out)
    assert all((batch.masked.sum(1) == 1).all() for batch in found)
    assert all(tokenizer.word(i) != "." for batch in found for i in batch.targets.tolist())
    again = sentence_batches(sentences, recipe, MASK_ID)
    assert all(same(*pair) for pair in zip(found, again, strict=True))


def test_the_masked_word_of_a_held_out_sentence_is_any_of_its_words(
    sentences: Sentences, recipe: Recipe
) -> None:
    many = replace(sentences, held_out={6: np.repeat(sentences.training[6][:1], 3_000, axis=0)})
    found = sentence_batches(many, recipe, MASK_ID)
    words = sentences.words[many.held_out[6][0]]
    expected = np.where(words, 1 / words.sum(), 0)
    masked = torch.cat([batch.masked for batch in found])
    assert masked.float().mean(0).numpy() == pytest.approx(expected, abs=0.03)
