"""The words that a person has hidden, so that each can be put back where it was."""

import re
from collections.abc import Mapping

from ffnviz.models.encoder.tokenizer import MASK

MOST = 256  # places that are remembered
_MASKS = re.compile(re.escape(MASK), re.IGNORECASE)

# What stands before a hidden word, or after it, with a sign for which → the word.
Hidden = Mapping[tuple[str, str], str]


def remembered(hidden: Hidden, sentence: str, start: int, end: int, by: str) -> Hidden:
    """The same once a stretch of the sentence is replaced: a word by a mask, or back."""
    after = sentence[:start] + by + sentence[end:]
    words: dict[tuple[str, str], str] = {}
    for mask in _MASKS.finditer(sentence):  # those that were there go on hiding what they hid
        moved = len(by) - (end - start) if mask.start() >= end else 0
        word = word_behind(hidden, sentence, mask.end())
        if word and not start <= mask.start() < end:
            words |= dict.fromkeys(_places(after, mask.start() + moved, mask.end() + moved), word)
    if by == MASK:
        words |= dict.fromkeys(_places(after, start, start + len(by)), sentence[start:end])
    return dict([*hidden.items(), *words.items()][-MOST:])


def word_behind(hidden: Hidden, sentence: str, end: int) -> str:
    """The word that the mask, which ends there, has hidden; "" if nobody knows.

    It is known as long as all before the mask, or all behind it, is as it was.
    """
    start = end - len(MASK)
    if start < 0 or sentence[start:end].upper() != MASK:
        return ""
    return next((hidden[place] for place in _places(sentence, start, end) if place in hidden), "")


def _places(sentence: str, start: int, end: int) -> list[tuple[str, str]]:
    around = [("before", sentence[:start]), ("after", sentence[end:])]
    return [(side, text) for side, text in around if any(map(str.isalnum, text))]
