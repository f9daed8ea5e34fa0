"""Hiding a word: the characters of the sentence that a [MASK] replaces."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from ffnviz.analysis.needs import Capability
from ffnviz.models.encoder.tokenizer import MASK, Token
from ffnviz.models.spelling import SINGLE_QUOTES, UNSEEN

NEEDS = (Capability.MASK,)
# A mask, a word with its apostrophes, or a single punctuation mark.
_WITHIN = f"'{SINGLE_QUOTES}{UNSEEN}"
_PIECES = re.compile(rf"(?P<mask>{re.escape(MASK)})|\w+(?:[{_WITHIN}]+\w+)*|[^\w\s]", re.IGNORECASE)


@dataclass(frozen=True)
class Word:
    """A word of the sentence."""

    text: str  # as typed
    start: int  # its first character in the sentence
    end: int  # after its last character
    token: int  # the first of its tokens


def words_of(sentence: str, tokens: Sequence[Token]) -> list[Word | None]:
    """For each token the whole word, of one or more tokens, that it is part of.

    None where there is nothing to hide: at a mask, or at a space.
    """
    pieces = list(_PIECES.finditer(sentence))
    starts, ends = [piece.start() for piece in pieces], [token.end for token in tokens]
    words: list[Word | None] = []
    for token in tokens:
        at = max(token.start, token.end - len(token.text.lstrip()))
        if token.start == token.end:
            at -= 1  # it is within the character before, like the later bytes of an emoji
        piece = pieces[bisect_right(starts, at) - 1] if pieces and at >= starts[0] else None
        if piece is None or piece["mask"] or at >= min(piece.end(), token.end):
            words.append(None)
        else:
            first = bisect_right(ends, piece.start())
            words.append(Word(piece[0], piece.start(), piece.end(), first))
    return words
