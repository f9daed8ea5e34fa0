"""Which token of one network reads the characters that a token of another reads."""

from bisect import bisect_right
from collections.abc import Sequence

from ffnviz.models.encoder.tokenizer import Token


def aligned_tokens(tokens: Sequence[Token], others: Sequence[Token]) -> list[int]:
    """For each token the place of the other token that reads its last character.

    A token without characters, such as [CLS] or a later byte of one character, takes the other
    at the same position: the first, the last, or that of the token before it.

    Args:
        tokens: of a text.
        others: of the same text by another tokenizer.
    """
    with_text = [place for place, other in enumerate(others) if other.text]
    ends = [others[place].end for place in with_text]
    places: list[int] = []
    for place, token in enumerate(tokens):
        if token.text and with_text:
            at = bisect_right(ends, token.end - 1)
            places.append(with_text[min(at, len(with_text) - 1)])
        elif place == 0:
            places.append(0)
        elif place == len(tokens) - 1:
            places.append(len(others) - 1)
        else:
            places.append(min(places[-1], len(others) - 1))
    return places
