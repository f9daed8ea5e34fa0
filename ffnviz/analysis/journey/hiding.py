"""Hiding a word: which stretch of the sentence a [MASK] takes the place of."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ffnviz.analysis.needs import Need
from ffnviz.model.tokenizer import MASK, Token

NEEDS = (Need.MASK,)
# A mask, a word with its apostrophes, or a single sign.
_PIECES = re.compile(rf"(?P<mask>{re.escape(MASK)})|\w+(?:['’]\w+)*|[^\w\s]", re.IGNORECASE)


@dataclass(frozen=True)
class Word:
    """A word of the sentence.

    Attributes:
        text: as typed.
        start, end: its character positions in the sentence.
        token: the first of its tokens.
    """

    text: str
    start: int
    end: int
    token: int


def word_at(sentence: str, tokens: Sequence[Token], token: int) -> Word | None:
    """The whole word, of whatever number of tokens, that a token is part of.

    None where there is nothing to hide: at a mask, or at a blank.
    """
    here = tokens[token]
    at = max(here.start, here.end - len(here.text.lstrip()))
    if here.start == here.end:
        at -= 1  # it goes on with the character before it, as the later bytes of an emoji do
    for piece in _PIECES.finditer(sentence):
        if piece.start() <= at < piece.end():
            if piece["mask"]:
                return None
            first = next((i for i, each in enumerate(tokens) if each.end > piece.start()), None)
            if first is None:
                return None  # a blank at the end of what is read, before a word that is not
            return Word(piece[0], piece.start(), piece.end(), first)
    return None
