"""A corpus as token ids, to train on and held out: a folder of .txt books, sentences and facts."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.facts import Fact, is_held_out
from ffnviz.models.encoder.tokenizer import MASK, Tokenizer
from ffnviz.models.spelling import as_read
from ffnviz.models.text_encoding import read_text

IdArray = NDArray[np.int32]
BATCH_LINES = 512


class CorpusError(ValueError):
    """A corpus that cannot be trained on; the message says what is missing."""


@dataclass(frozen=True)
class Book:
    """A book."""

    name: str  # the file's, without .txt
    paragraphs: tuple[str, ...]  # one line each


@dataclass(frozen=True)
class Sentences:
    """Single sentences, those of one length together."""

    name: str  # the file's, without .txt
    training: dict[int, IdArray]  # by length T: ids, (n, T)
    held_out: dict[int, IdArray]  # likewise
    words: NDArray[np.bool_]  # whether an entry is a word or a piece of one, (vocab_size,)

    @property
    def training_ids(self) -> IdArray:
        """(n,) ids of all sentences to train on."""
        return np.concatenate([rows.ravel() for rows in self.training.values()])

    @property
    def held_out_ids(self) -> IdArray:
        """(n,) ids of all held-out sentences."""
        return np.concatenate([rows.ravel() for rows in self.held_out.values()])


@dataclass(frozen=True)
class Questions:
    """Wordings of one length, each with its answer masked."""

    ids: IdArray  # the answer in its place, (n, T)
    places: IdArray  # of the answers, (n,)


@dataclass(frozen=True)
class FactIds:
    """Facts in wordings as token ids, by length T."""

    n: int  # of facts
    training: dict[int, Questions]
    held_out: dict[int, Questions]

    def to_dict(self) -> dict[str, int]:
        """How many there are, as JSON values."""
        parts = {"training_wordings": self.training, "held_out_wordings": self.held_out}
        counts = {
            name: sum(len(each.ids) for each in rows.values()) for name, rows in parts.items()
        }
        return {"n": self.n, **counts}


@dataclass(frozen=True)
class Corpus:
    """Books as token ids."""

    training: IdArray  # ids of the books to train on, one after the other, (n,)
    validation: IdArray  # of the held-out books
    sentence_starts: NDArray[np.int64]  # positions in `training` at which a sentence starts
    training_books: tuple[str, ...]  # their names
    validation_books: tuple[str, ...]
    sentences: Sentences | None = None  # single sentences, if some steps are to be made of them
    facts: FactIds | None = None  # facts in wordings, likewise

    def to_dict(self) -> dict[str, Any]:
        """The names and the token counts of its parts, as JSON values."""
        values: dict[str, Any] = {
            "training_books": list(self.training_books),
            "training_tokens": len(self.training),
            "held_out_books": list(self.validation_books),
            "held_out_tokens": len(self.validation),
        }
        if self.sentences:
            values["sentences"] = {
                "name": self.sentences.name,
                "training_tokens": len(self.sentences.training_ids),
                "held_out_tokens": len(self.sentences.held_out_ids),
            }
        if self.facts:
            values["facts"] = self.facts.to_dict()
        return values


def read_books(folder: Path) -> list[Book]:
    """The books of a folder, sorted by name; raises CorpusError."""
    with reading(folder):
        paths = sorted(path for path in folder.iterdir() if path.name.endswith(".txt"))
    if not paths:
        raise CorpusError(f"{folder} holds no .txt file: give a folder of plain-text books.")
    for path in paths:
        with reading(path):
            if not path.exists():
                raise CorpusError(f"{path} is a link to nothing: remove it.")
            if not path.is_file():  # nor a pipe, which would be waited for
                raise CorpusError(f"{path} is not a file: remove it, or give it another name.")
        if any("\ud800" <= character <= "\udfff" for character in path.name):
            raise CorpusError(f"{path} has a name that is not UTF-8: rename it.")
    return [_book(path) for path in paths]


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Raise errors of reading a corpus's file as a CorpusError that names it."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise CorpusError(f"{path} is not text in UTF-8 or UTF-16 ({error}).") from error
    except OSError as error:
        raise CorpusError(f"{path} cannot be read: {error.strerror}.") from error


def _book(path: Path) -> Book:
    with reading(path):
        text = as_read(read_text(path))
    lines = (" ".join(line.split()) for line in text.splitlines())
    return Book(path.stem, tuple(line for line in lines if line))


def split_books(books: list[Book], held_out: tuple[str, ...]) -> tuple[list[Book], list[Book]]:
    """The books to train on, and the held-out ones; raises CorpusError."""
    names = {book.name for book in books}
    missing = [name for name in held_out if name not in names]
    if missing:
        raise CorpusError(
            f"held-out books not in the corpus: {', '.join(name or '“”' for name in missing)}. "
            "Say with --hold-out which of its books to hold out."
        )
    training = [book for book in books if book.name not in held_out]
    validation = [book for book in books if book.name in held_out]
    if not training or not validation:
        why = "at least one book to train on and one to hold out (--hold-out) are needed."
        raise CorpusError(why)
    return training, validation


def encode_corpus(training: list[Book], validation: list[Book], tokenizer: Tokenizer) -> Corpus:
    """The books as ids; raises CorpusError if a part is too short to take sequences from."""
    train_ids, validation_ids = _encode(training, tokenizer), _encode(validation, tokenizer)
    for part, ids in (("training", train_ids), ("held-out", validation_ids)):
        if len(ids) < 1_024:
            why = f"the {part} books have {len(ids)} tokens: at least 1,024 are needed."
            raise CorpusError(why)
    words = [tokenizer.word(i) for i in range(tokenizer.vocab_size)]
    ends = np.array([word.rstrip("\"')").endswith((".", "?", "!")) for word in words])
    opens = np.array([word.startswith(" ") for word in words])
    starts = np.flatnonzero(ends[train_ids[:-1]] & opens[train_ids[1:]]) + 1
    return Corpus(
        training=train_ids,
        validation=validation_ids,
        sentence_starts=starts,
        training_books=tuple(book.name for book in training),
        validation_books=tuple(book.name for book in validation),
    )


def _encode(books: list[Book], tokenizer: Tokenizer) -> IdArray:
    ids: list[int] = []
    for book in books:
        for first in range(0, len(book.paragraphs), BATCH_LINES):
            for encoding in tokenizer.encode_many(book.paragraphs[first : first + BATCH_LINES]):
                ids.extend(encoding)
    return np.array(ids, dtype=np.int32)


def read_sentences(path: Path, tokenizer: Tokenizer, max_tokens: int) -> Sentences:
    """The sentences of a file, one a line; held out are lines whose SHA-1 begins with a 1.

    Lines without a word, or of more than max_tokens tokens, are left out.
    """
    with reading(path):
        lines = read_text(path).splitlines()
    sentences = sentences_of(lines, path.stem, tokenizer, max_tokens)
    if not sentences.training or not sentences.held_out:
        raise CorpusError(
            f"{path} has too few sentences: one line in sixteen is held out, "
            "and at least one must be held out and one left to train on."
        )
    return sentences


def sentences_of(lines: list[str], name: str, tokenizer: Tokenizer, max_tokens: int) -> Sentences:
    """The sentences of some lines, left out and held out as by `read_sentences`."""
    lines = [line for line in lines if line.strip()]
    words = np.array([tokenizer.word(i).strip()[:1].isalnum() for i in range(tokenizer.vocab_size)])
    word_ids = frozenset(np.flatnonzero(words).tolist())
    training: dict[int, list[list[int]]] = {}
    held_out: dict[int, list[list[int]]] = {}
    for line, ids in zip(lines, tokenizer.encode_many(lines), strict=True):
        if len(ids) <= max_tokens and not word_ids.isdisjoint(ids):
            part = held_out if is_held_out(line) else training
            part.setdefault(len(ids), []).append(ids)
    return Sentences(name, _arrays(training), _arrays(held_out), words)


def _arrays(rows: dict[int, list[list[int]]]) -> dict[int, IdArray]:
    return {length: np.array(rows[length], dtype=np.int32) for length in sorted(rows)}


def fact_ids(facts: Sequence[Fact], tokenizer: Tokenizer) -> FactIds:
    """The facts as token ids; a wording that ends in its answer and a mark is there without, too.

    Raises CorpusError if an answer is not one entry of the vocabulary.
    """
    answers = dict(zip(facts, tokenizer.encode_many([f.answer for f in facts]), strict=True))
    split = sorted({fact.answer for fact, ids in answers.items() if len(ids) != 1})
    if split:
        raise CorpusError(f"answers that are more than one entry: {', '.join(split)}.")
    ids = {fact: entry for fact, (entry,) in answers.items()}
    training: list[tuple[str, int]] = []
    for fact in facts:
        open_ends = [each[:-1] for each in fact.wordings if each.endswith(f"{MASK}.")]
        training += [(each, ids[fact]) for each in (*fact.wordings, *open_ends)]
    held_out = [(each, ids[fact]) for fact in facts for each in fact.held_out]
    return FactIds(len(facts), _by_length(training, tokenizer), _by_length(held_out, tokenizer))


def _by_length(wordings: Sequence[tuple[str, int]], tokenizer: Tokenizer) -> dict[int, Questions]:
    rows: dict[int, list[tuple[Sequence[int], int]]] = {}
    encoded = tokenizer.encode_many([text for text, _ in wordings])
    for ids, (_, answer) in zip(encoded, wordings, strict=True):
        rows.setdefault(len(ids), []).append((ids, answer))
    asked: dict[int, Questions] = {}
    for length in sorted(rows):
        masked = np.array([ids for ids, _ in rows[length]], dtype=np.int32)
        places = (masked == tokenizer.mask_id).argmax(1).astype(np.int32)
        masked[np.arange(len(masked)), places] = [answer for _, answer in rows[length]]
        asked[length] = Questions(masked, places)
    return asked
