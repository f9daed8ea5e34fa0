"""Single sentences as token ids, to train on and held out."""

from pathlib import Path

import numpy as np

from ffnviz.analysis.everyday import is_held_out
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.models.text_encoding import read_text
from ffnviz.training.corpus import CorpusError, IdArray, Sentences, reading


def read_sentences(path: Path, tokenizer: Tokenizer, max_tokens: int) -> Sentences:
    """The sentences of a file, one a line; held out are lines whose SHA-1 begins with a 1.

    Lines without a word, or of more than max_tokens tokens, are left out.

    Raises:
        CorpusError: if it cannot be read, or one of the two parts is empty.
    """
    with reading(path):
        lines = read_text(path).splitlines()
    sentences = sentences_of(lines, path.stem, tokenizer, max_tokens)
    if not sentences.training or not sentences.held_out:
        raise CorpusError(
            f"{path} has too few sentences: one line in sixteen is held out, "
            "and at least one must be, and one be left."
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
