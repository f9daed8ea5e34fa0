"""The kinds of tokens in a vocabulary."""

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from ffnviz.models.network import TokenizerLike


class TokenClass(IntEnum):
    """Kinds of tokens; index files depend on their order."""

    WORD = 0  # begins a word
    REST = 1  # continues one
    NUMBER = 2
    SIGN = 3
    OTHER = 4  # bytes, blanks, special tokens


LABELS = ("starts of words", "rests of words", "numbers", "signs", "other")


def token_classes(tokenizer: TokenizerLike) -> NDArray[np.int64]:
    """The class of every entry of the vocabulary, (vocab_size,)."""
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
