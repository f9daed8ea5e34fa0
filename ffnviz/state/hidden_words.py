"""The words that a person has hidden, so that each can be put back where it was."""

from collections.abc import Mapping

from ffnviz.models.encoder.tokenizer import MASK

MOST = 64  # places that are remembered

# What stands before a hidden word, or after it, with a sign for which → the word.
Hidden = Mapping[tuple[str, str], str]


def remembered(hidden: Hidden, sentence: str, start: int, end: int) -> Hidden:
    """The same with one more word: the stretch of the sentence that is hidden now."""
    word, places = sentence[start:end], _places(sentence, start, end)
    return dict([*hidden.items(), *((place, word) for place in places)][-MOST:])


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
