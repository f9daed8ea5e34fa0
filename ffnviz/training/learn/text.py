"""The sentences that a small network is trained on, and its vocabulary."""

import json
import re
from collections import Counter
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any

import numpy as np

from ffnviz.analysis.facts import everyday_sentences, is_held_out
from ffnviz.models.encoder.folder import TOKENIZER
from ffnviz.models.encoder.model import MODELS
from ffnviz.models.encoder.tokenizer import BYTE_OF, MASK, Tokenizer
from ffnviz.models.spelling import as_read
from ffnviz.training.corpus import IdArray, Sentences, sentences_of

LONGEST = 500_000  # characters: some hundred pages, read in a few seconds
FEWEST = 200  # sentences
MOST_WORDS = 16  # of a sentence; of a longer one each such stretch is one
ENDS = re.compile(r"(?<=[.!?…])[\"'”’)»]*\s+")


class OwnTextError(ValueError):
    """A text that a small network cannot be trained on; the message says why, and what helps."""


def sentences_in(text: str) -> list[str]:
    """The sentences of a text: cut at lines, at full stops, and where they are too long.

    Raises OwnTextError if it is too long, no text, or has too few sentences.
    """
    if len(text) > LONGEST:
        raise OwnTextError(f"The file has more than {LONGEST:,} characters: take a part of it.")
    if "\0" in text or text.count("\ufffd") > len(text) / 100:
        raise OwnTextError("The file is not UTF-8 text: save it as plain text (.txt, UTF-8).")
    sentences: list[str] = []
    for line in as_read(text).splitlines():
        for sentence in ENDS.split(line):
            words = sentence.split()
            firsts = range(0, len(words), MOST_WORDS)
            sentences += [" ".join(words[first : first + MOST_WORDS]) for first in firsts]
    sentences = [each for each in dict.fromkeys(sentences) if any(map(str.isalpha, each))]
    if len(sentences) < FEWEST or not any(map(is_held_out, sentences)):
        raise OwnTextError(
            f"The file has {len(sentences)} different sentence{'s' * (len(sentences) != 1)}, "
            f"but training needs at least {FEWEST}: choose a longer file."
        )
    return sentences


VOCABULARY = 2_000
MAX_TOKENS = 32
COUNTED = 8  # one line in so many is counted, which finds nearly the same tokens as all
LOOKED_AT = 500  # held-out sentences
TEXTS = 4  # that are kept as read


@cache
def all_everyday() -> tuple[Tokenizer, Sentences]:
    """The tokenizer and all everyday sentences."""
    return _read(list(everyday_sentences()), "everyday-sentences", COUNTED)


@lru_cache(maxsize=TEXTS)
def text_read(own: str = "") -> tuple[Tokenizer, Sentences]:
    """The tokenizer and the sentences of a person's own text, or the everyday ones without one.

    At most 500 are held out.
    """
    tokenizer, sentences = _read(sentences_in(own), "own-text", 1) if own else all_everyday()
    return tokenizer, replace(sentences, held_out=thinned(sentences.held_out, LOOKED_AT))


def _read(lines: list[str], name: str, every: int) -> tuple[Tokenizer, Sentences]:
    full = Tokenizer.from_json((MODELS / "relu" / TOKENIZER).read_bytes())
    tokenizer = commonest(full, lines[::every], VOCABULARY)
    return tokenizer, sentences_of(lines, name, tokenizer, MAX_TOKENS)


@lru_cache(maxsize=TEXTS)
def training_sentences(n: int | None, own: str = "") -> Sentences:
    """The sentences with n to train on, spread evenly over all lengths; None keeps all."""
    _, sentences = text_read(own)
    return sentences if n is None else replace(sentences, training=thinned(sentences.training, n))


def commonest(full: Tokenizer, lines: list[str], size: int) -> Tokenizer:
    """A tokenizer of the bytes, [MASK], and the tokens that are commonest in some lines.

    With a token it has those that it is merged from, so a token that it has comes of the same
    characters as before, and whatever else is typed is read in smaller pieces.
    """
    values: dict[str, Any] = json.loads(full.to_json())
    model = values["model"]
    names = {id_: name for name, id_ in model["vocab"].items()}
    parts = {first + second: (first, second) for first, second in model["merges"]}
    kept = {MASK, *BYTE_OF}
    counts = Counter(id_ for ids in full.encode_many(lines) for id_ in ids)
    for id_, _ in counts.most_common():
        more = _with_parts(names[id_], parts) - kept
        if len(kept) + len(more) > size:
            break
        kept |= more
    in_order = [name for name, _ in sorted(model["vocab"].items(), key=lambda entry: entry[1])]
    model["vocab"] = {name: id_ for id_, name in enumerate(n for n in in_order if n in kept)}
    model["merges"] = [merge for merge in model["merges"] if "".join(merge) in kept]
    for added in values["added_tokens"]:
        added["id"] = model["vocab"][added["content"]]
    return Tokenizer.from_json(json.dumps(values).encode())


def _with_parts(name: str, parts: dict[str, tuple[str, str]]) -> set[str]:
    """A token's name and the names of all tokens that it is merged from."""
    if name not in parts:
        return {name}
    first, second = parts[name]
    return {name} | _with_parts(first, parts) | _with_parts(second, parts)


def thinned(rows: dict[int, IdArray], n: int) -> dict[int, IdArray]:
    """At most n of the sentences, spread evenly over all lengths."""
    total = sum(map(len, rows.values()))
    chosen = np.linspace(0, total - 1, min(n, total)).astype(int)
    thinned, first = {}, 0
    for length, sentences in rows.items():
        places = chosen[(chosen >= first) & (chosen < first + len(sentences))] - first
        first += len(sentences)
        if len(places):
            thinned[length] = sentences[places]
    return thinned
