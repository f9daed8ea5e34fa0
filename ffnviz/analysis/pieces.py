"""The typed words and characters that a network has no token for, and so reads in pieces."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ffnviz.analysis.needs import Capability
from ffnviz.models.encoder.tokenizer import Token

NEEDS: tuple[Capability, ...] = ()
_LETTERS = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True)
class Split:
    """A word of several tokens."""

    word: str  # as typed, letters only: don't is two words, as tokenizers split it there anyway
    # the typed characters of each token in it; "" for one within the character before it
    pieces: tuple[str, ...]


def split_words(sentence: str, tokens: Sequence[Token]) -> list[Split]:
    """The words of more than one token in their order, each spelling once.

    Args:
        sentence: as typed.
        tokens: of the sentence, or the first of them.
    """
    typed = [token for token in tokens if not token.special]
    words: dict[str, Split] = {}
    for word in _LETTERS.finditer(sentence):
        start, end = word.span()
        pieces = tuple(
            sentence[max(start, token.start) : min(end, token.end)]
            for token in typed
            if start < token.end and (token.start < end or token.start == token.end == end)
        )
        if len(pieces) > 1:
            words.setdefault(word[0].lower(), Split(word[0], pieces))
    return list(words.values())


def read_in_bytes(tokens: Sequence[Token]) -> list[str]:
    """The typed characters that take several tokens, each once, in their order.

    Args:
        tokens: of a sentence. Of a character's tokens the first has its text, the others have none.
    """
    seen: dict[str, None] = {}
    for before, token in pairwise(token for token in tokens if not token.special):
        if before.text and not token.text:
            seen.setdefault(before.text[-1])
    return list(seen)
