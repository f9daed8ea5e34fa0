"""Which token of one network reads the characters that a token of another reads."""

from bisect import bisect_right
from collections.abc import Sequence

from ffnviz.models.encoder.tokenizer import Token


def aligned_tokens(tokens: Sequence[Token], others: Sequence[Token]) -> list[int]:
    """For each token the place among the others of the one that reads its last character.

    A token without characters, such as [CLS] or a later byte of one character, takes the other
    that stands where it stands: at the beginning, at the end, or with what came just before it.

    Args:
        tokens: of a text.
        others: of the same text by another tokenizer.
    """
    holds = [place for place, other in enumerate(others) if other.text]
    ends = [others[place].end for place in holds]
    places: list[int] = []
    for place, token in enumerate(tokens):
        if token.text and holds:
            places.append(holds[min(bisect_right(ends, token.end - 1), len(holds) - 1)])
        elif place == 0:
            places.append(0)
        elif place == len(tokens) - 1:
            places.append(len(others) - 1)
        else:
            places.append(min(places[-1], len(others) - 1))
    return places
