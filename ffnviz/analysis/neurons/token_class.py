"""What kind of token each entry of a vocabulary is."""

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from ffnviz.models.network import TokenizerLike


class TokenClass(IntEnum):
    """The kinds; the order stands in index files."""

    WORD = 0  # begins a word
    REST = 1  # goes on with one
    NUMBER = 2
    SIGN = 3
    OTHER = 4  # neither letters nor digits nor signs: bytes, blanks, tokens with a task


LABELS = ("starts of words", "rests of words", "numbers", "signs", "other")


def token_classes(tokenizer: TokenizerLike) -> NDArray[np.int64]:
    """The class of every entry, (vocab_size,)."""
    return np.array([_class_of(tokenizer.word(id_)) for id_ in range(tokenizer.vocab_size)])


def _class_of(word: str) -> TokenClass:
    bare = word.strip()
    if not bare or "\ufffd" in bare or (bare.startswith("[") and bare.endswith("]")):
        return TokenClass.OTHER
    if bare.isnumeric():
        return TokenClass.NUMBER
    if any(map(str.isalpha, bare)):
        return TokenClass.WORD if word[0].isspace() else TokenClass.REST
    return TokenClass.SIGN
