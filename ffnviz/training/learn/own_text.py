"""Sentences for a small network from a person's own text."""

import re

from ffnviz.analysis.everyday import is_held_out
from ffnviz.models.spelling import as_read

LONGEST = 500_000  # characters: some hundred pages, read in a few seconds
FEWEST = 200  # sentences
MOST_WORDS = 16  # of a sentence; of a longer one each such stretch is one
ENDS = re.compile(r"(?<=[.!?…])[\"'”’)»]*\s+")


class OwnTextError(ValueError):
    """A text that a small network cannot be trained on; the message says why, and what helps."""


def sentences_in(text: str) -> list[str]:
    """The sentences of a text: cut at lines, at full stops, and where they are too long.

    Raises:
        OwnTextError: if it is too long, no text, or has too few sentences.
    """
    if len(text) > LONGEST:
        raise OwnTextError(f"The file has more than {LONGEST:,} characters: take a part of it.")
    if "\0" in text or text.count("\ufffd") > len(text) / 100:
        raise OwnTextError("The file is no text in UTF-8: save it as plain text (.txt, UTF-8).")
    sentences: list[str] = []
    for line in as_read(text).splitlines():
        for sentence in ENDS.split(line):
            words = sentence.split()
            firsts = range(0, len(words), MOST_WORDS)
            sentences += [" ".join(words[first : first + MOST_WORDS]) for first in firsts]
    sentences = [each for each in dict.fromkeys(sentences) if any(map(str.isalpha, each))]
    if len(sentences) < FEWEST or not any(map(is_held_out, sentences)):
        raise OwnTextError(
            f"The file has {len(sentences)} different sentences, and it takes {FEWEST}: "
            "take a longer one."
        )
    return sentences
