"""A folder of books as ids, and the promise that held-out books stay out."""

from pathlib import Path

import numpy as np
import pytest

from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.training.corpus import Corpus, CorpusError, encode_corpus, read_books, split_books
from ffnviz.training.masking import Recipe
from ffnviz.training.twin import prepare, train_tokenizer
from tests.training.conftest import VOCAB_SIZE, counting


def write(folder: Path, **books: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in books.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    return folder


def refusal(folder: Path, recipe: Recipe, work: Path) -> str:
    with pytest.raises(CorpusError) as caught:
        prepare(folder, recipe, VOCAB_SIZE, work)
    return str(caught.value)


def test_books_are_read_by_name_a_paragraph_a_line_and_split(tmp_path: Path, books: Path) -> None:
    write(tmp_path, b="One.\n\n  Two \t three.  \r\n", a="\ufeffGröße.")
    (tmp_path / "c.txt").write_text("Größe.", encoding="utf-16")
    (tmp_path / "MANIFEST.tsv").write_text("no book", encoding="utf-8")
    read = [(book.name, book.paragraphs) for book in read_books(tmp_path)]
    assert read == [("a", ("Größe.",)), ("b", ("One.", "Two three.")), ("c", ("Größe.",))]
    training, validation = split_books(read_books(books), ("unseen",))
    assert [book.name for book in training] == ["first", "second"]
    assert [book.name for book in validation] == ["unseen"]
    with pytest.raises(CorpusError, match="one to hold out"):
        split_books(read_books(books), ())


def test_the_ids_are_those_of_the_paragraphs_and_a_sentence_starts_after_each_stop(
    books: Path, tokenizer: Tokenizer, corpus: Corpus
) -> None:
    lines = [
        line
        for name in ("first", "second")
        for line in (books / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    ]
    expected = [id_ for line in lines for id_ in tokenizer.encode(line).ids]
    assert corpus.training.tolist() == expected
    assert corpus.training_books == ("first", "second")
    assert corpus.validation_books == ("unseen",)

    (stop,) = [i for i in range(VOCAB_SIZE) if tokenizer.word(i) == "."]
    after_stops = np.flatnonzero(corpus.training == stop) + 1
    # After the very last one there is nothing.
    assert corpus.sentence_starts.tolist() == after_stops[:-1].tolist()


def test_a_sentence_may_end_in_a_quotation_and_not_start_within_a_number(tmp_path: Path) -> None:
    line = '"one?" two! three 3.5 four (five.) six'
    books = read_books(write(tmp_path, seen=f"{line}\n" * 200, unseen=f"{line}\n" * 200))
    tokenizer = train_tokenizer([line] * 200, VOCAB_SIZE)
    corpus = encode_corpus(*split_books(books, ("unseen",)), tokenizer)
    words = {tokenizer.word(i) for i in corpus.training[corpus.sentence_starts].tolist()}
    assert words == {" two", " three", " six"}
    assert len(corpus.sentence_starts) == 3 * 200


def test_what_a_held_out_book_says_changes_no_training(tmp_path: Path, recipe: Recipe) -> None:
    seen = {"first": counting(1, 300), "second": counting(2, 300)}
    one = write(tmp_path / "one", unseen=counting(3, 300), **seen)
    other = write(tmp_path / "other", unseen="Zebras quizzed xylophones. " * 300, **seen)
    tokenizer, corpus = prepare(one, recipe, VOCAB_SIZE, tmp_path / "work one")
    tokenizer_2, corpus_2 = prepare(other, recipe, VOCAB_SIZE, tmp_path / "work other")
    kept, kept_2 = (tmp_path / f"work {name}" / "tokenizer.json" for name in ("one", "other"))
    assert kept.read_bytes() == kept_2.read_bytes()
    assert corpus.training.tolist() == corpus_2.training.tolist()
    assert corpus.sentence_starts.tolist() == corpus_2.sentence_starts.tolist()
    assert corpus.validation.tolist() != corpus_2.validation.tolist()
    # Never having met it, the tokenizer has to spell the word.
    assert len(tokenizer.encode("zebras").ids) > 4
    assert tokenizer_2.decode(corpus_2.validation[:30].tolist()).startswith("zebras quizzed")


def test_a_kept_tokenizer_is_used_or_refused(books: Path, recipe: Recipe, tmp_path: Path) -> None:
    first, _ = prepare(books, recipe, VOCAB_SIZE, tmp_path / "work")
    other = write(tmp_path / "other", first=counting(9, 300), unseen="Zebras sleep. " * 500)
    second, _ = prepare(other, recipe, VOCAB_SIZE, tmp_path / "work")
    assert second.encode("zebras sleep").ids == first.encode("zebras sleep").ids
    prepare(books, recipe, VOCAB_SIZE - 10, tmp_path)
    message = refusal(books, recipe, tmp_path)
    assert "tokenizer.json has 280 entries; 290 are needed" in message
    (tmp_path / "tokenizer.json").write_text("{}", encoding="utf-8")
    assert "tokenizer.json: it is not a tokenizer" in refusal(books, recipe, tmp_path)


@pytest.mark.parametrize("part", ["training", "held-out"])
def test_a_part_too_short_for_sequences_is_refused(
    recipe: Recipe, tmp_path: Path, tokenizer: Tokenizer, part: str
) -> None:
    short, long = "One two three. " * 10, counting(1, 300)
    texts = (short, long) if part == "training" else (long, short)
    write(tmp_path, first=texts[0], unseen=texts[1])
    training, validation = split_books(read_books(tmp_path), recipe.held_out)
    with pytest.raises(CorpusError, match=rf"the {part} books have \d+ tokens"):
        encode_corpus(training, validation, tokenizer)


@pytest.mark.parametrize(
    ("books", "said"),
    [
        ({"notes.md": "no book"}, "holds no .txt file"),
        ({"unseen.txt": "one", "latin.txt": "café"}, "latin.txt is not text in UTF-8 or UTF-16"),
        ({"first.txt": "one", "second.txt": "two"}, "unseen"),
        ({"unseen.txt": "one"}, "to train on"),
        ({"first.txt": "ab ab ab", "unseen.txt": counting(1, 300)}, f"{VOCAB_SIZE} are needed"),
    ],
)
def test_books_that_cannot_be_trained_on_are_refused_before_training_starts(
    recipe: Recipe, tmp_path: Path, books: dict[str, str], said: str
) -> None:
    for name, text in books.items():
        (tmp_path / name).write_text(text, encoding="latin-1")
    assert said in refusal(tmp_path, recipe, tmp_path / "work")
    assert not (tmp_path / "work" / "tokenizer.json").exists()
