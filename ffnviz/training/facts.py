"""Everyday facts in several wordings: some to train on, the others held out."""

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

from ffnviz.models.assets import ASSETS
from ffnviz.models.encoder.tokenizer import MASK, Tokenizer
from ffnviz.training.corpus import CorpusError, FactIds, Questions, reading

FACTS = ASSETS / "facts" / "facts.toml"
ARTICLE = re.compile(r"\b[Aa] $")
FRAMED = 2  # times that each wording is read in a frame, besides once as it is
TAKES_AN = re.compile("[aeio]|u(?!ni|s)|hour")


@dataclass(frozen=True)
class Fact:
    """One fact of a kind, in all its wordings."""

    kind: str
    asked: str  # what it is about
    answer: str
    wordings: tuple[str, ...]  # with MASK in place of the answer, to train on
    held_out: tuple[str, ...]  # likewise, never trained on


def read_facts(path: Path = FACTS) -> list[Fact]:
    """The facts of a file.

    Raises:
        CorpusError: if it cannot be read, or is no such file.
    """
    with reading(path):
        text = path.read_text(encoding="utf-8")
    try:
        values = tomllib.loads(text)
        frames = cycle(values["frames"])
        return [fact for kind in values["kind"] for fact in _facts(kind, frames)]
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise CorpusError(f"{path} holds no facts in wordings ({error}).") from error


def _facts(kind: dict[str, Any], frames: Iterator[str]) -> Iterator[Fact]:
    for entry in filter(None, map(str.strip, kind["facts"].split(";"))):
        asked, answer = map(str.strip, " ".join(entry.split()).split(":"))
        wordings, held_out = ([_worded(each, asked, answer) for each in kind[part]]
                              for part in ("wordings", "held_out"))  # fmt: skip
        framed = [next(frames).format(each) for each in wordings for _ in range(FRAMED)]
        yield Fact(kind["name"], asked, answer, (*wordings, *framed), tuple(held_out))


def _worded(wording: str, asked: str, answer: str) -> str:
    """A wording of a fact with its answer masked; the article before it is the answer's."""
    about, _, thing = map(str.strip, asked.partition("/"))
    texts = {"s": about, "t": thing}
    texts |= {name.upper(): text[:1].upper() + text[1:] for name, text in texts.items()}
    before, after = (part.format(**texts) for part in re.split(r"\{[oO]\}", wording))
    an = ARTICLE.search(before) and TAKES_AN.match(answer)
    return f"{before[:-1]}n {MASK}{after}" if an else f"{before}{MASK}{after}"


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
