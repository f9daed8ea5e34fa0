"""The word that a text has at a token."""

from collections.abc import Callable
from functools import cache

from ffnviz.models.network import Network


def words_at(network: Network) -> Callable[[str, int], str]:
    """What gives the word that a text has at a token, in lower case."""

    @cache
    def words(text: str) -> list[str]:
        tokens = network.tokenizer.encode(text, network.sizes.max_tokens).tokens
        return [token.text.strip().lower() for token in tokens]

    return lambda text, token: words(text)[min(token, len(words(text)) - 1)]
