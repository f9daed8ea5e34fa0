"""Our own probe sentences: short, of many themes and forms, each tagged."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ffnviz.models.config import ASSETS

PROBES = ASSETS / "probes.tsv"
HEADER = "sentence\ttags"
HELD_BACK_EVERY = 4


@dataclass(frozen=True)
class Probe:
    """A text with its tags."""

    text: str  # a probe sentence, or a paragraph of a corpus
    tags: tuple[str, ...]  # themes and forms, or the name of the book


class ProbesError(ValueError):
    """A file that holds no probe sentences: says where and why."""


def read_probes(path: Path = PROBES) -> tuple[Probe, ...]:
    """Read a table: a header, then on each line a sentence, a tab, and tags between commas."""
    try:
        header, *lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise ProbesError(f"{path} cannot be read ({error}).") from error
    if header != HEADER:
        raise ProbesError(f"{path}, line 1: it must be “sentence”, a tab, and “tags”.")
    probes = []
    for number, line in enumerate(lines, start=2):
        text, tab, tags = line.partition("\t")
        if not text.strip() or not tab:
            raise ProbesError(f"{path}, line {number}: it needs a sentence, a tab, and its tags.")
        probes.append(Probe(text, tuple(filter(None, map(str.strip, tags.split(","))))))
    return tuple(probes)


def split(probes: Sequence[Probe]) -> tuple[tuple[Probe, ...], tuple[Probe, ...]]:
    """Split sentences into those shown, and every fourth, held back to test guesses.

    Neighbours in the table are alike, so both parts have some of every kind.
    """
    held_back = tuple(probes[HELD_BACK_EVERY - 1 :: HELD_BACK_EVERY])
    return tuple(p for i, p in enumerate(probes, start=1) if i % HELD_BACK_EVERY), held_back
