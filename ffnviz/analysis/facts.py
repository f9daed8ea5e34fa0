"""Everyday facts in several wordings: some to train on, the others held out."""

import hashlib
import lzma
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

from ffnviz.models.config import ASSETS
from ffnviz.models.encoder.tokenizer import MASK
from ffnviz.models.text_encoding import read_text

EVERYDAY = ASSETS / "everyday" / "sentences.txt.xz"
HELD_OUT_DIGIT = "1"  # one line in sixteen


def everyday_sentences() -> tuple[str, ...]:
    """All of them."""
    return tuple(lzma.decompress(EVERYDAY.read_bytes()).decode().splitlines())


def is_held_out(line: str) -> bool:
    """Whether no training reads a sentence: its SHA-1 begins with a 1."""
    digest = hashlib.sha1(line.encode(errors="replace"), usedforsecurity=False).hexdigest()
    return digest.startswith(HELD_OUT_DIGIT)


FACTS = ASSETS / "facts" / "facts.toml"
ARTICLE = re.compile(r"\b[Aa] $")
FRAMED = 2  # times that each wording is read in a frame, besides once as it is
TAKES_AN = re.compile("[aeio]|u(?!ni|s)|hour")


class FactsError(ValueError):
    """A file that holds no facts."""


@dataclass(frozen=True)
class Fact:
    """One fact of a kind, in all its wordings."""

    kind: str
    asked: str  # what it is about
    answer: str
    wordings: tuple[str, ...]  # with MASK in place of the answer, to train on
    held_out: tuple[str, ...]  # likewise, never trained on


def read_facts(path: Path = FACTS) -> list[Fact]:
    """The facts of a file."""
    try:
        values = tomllib.loads(read_text(path))
        frames = cycle(values["frames"])
        return [fact for kind in values["kind"] for fact in _facts(kind, frames)]
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise FactsError(f"{path} is not a list of facts in several wordings ({error}).") from error


def _facts(kind: dict[str, Any], frames: Iterator[str]) -> Iterator[Fact]:
    for entry in filter(None, map(str.strip, kind["facts"].split(";"))):
        asked, answer = map(str.strip, " ".join(entry.split()).split(":"))
        parts = kind["wordings"], kind["held_out"]
        wordings, held_out = ([_worded(each, asked, answer) for each in part] for part in parts)
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
