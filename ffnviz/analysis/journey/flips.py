"""Sentences whose hidden word is predicted with the last FFN, and another word without it."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ffnviz.analysis.needs import Capability, masked_id, require
from ffnviz.analysis.prediction import Prediction, predict, predict_without_ffn
from ffnviz.analysis.spread import Progress
from ffnviz.models.encoder.tokenizer import MASK
from ffnviz.models.network import Network

NEEDS = (Capability.WORD_HEAD, Capability.MASK)
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True)
class Flip:
    """One sentence with a hidden word."""

    sentence: str  # with [MASK] in the word's place
    word: str  # the hidden one, in lower case, which wins with the FFN
    with_ffn: tuple[Prediction, ...]  # one a network
    without: tuple[Prediction, ...]  # one a network, without the last block's FFN

    @property
    def least(self) -> float:
        """The word's smallest probability in any network."""
        return min(float(each.probabilities[0]) for each in self.with_ffn)


def hidden_words(sentence: str) -> Iterator[tuple[str, str]]:
    """The sentence with each of its words hidden in turn, and the word in lower case."""
    for word in _WORD.finditer(sentence):
        yield sentence[: word.start()] + MASK + sentence[word.end() :], word[0].lower()


def find_flips(
    networks: Sequence[Network],
    sentences: Iterable[str],
    least: float = 0.25,
    progress: Progress = lambda _: None,
) -> list[Flip]:
    """The hidden words that the last block's FFN decides in all networks, the surest first.

    Args:
        networks: with a mask and a word head.
        sentences: each is tried with every word of it hidden.
        least: the hidden word must have at least this probability, from 0 to 1.
        progress: told the share of the sentences that are done.

    Raises:
        NotForThisNetwork: if one has no mask or no word head.
    """
    for network in networks:
        require(network, NEEDS)
    flips, sentences = [], list(sentences)
    for n_done, sentence in enumerate(sentences, start=1):
        for masked, word in hidden_words(sentence):
            flip = _flip_of(networks, masked, word, least)
            if flip is not None:
                flips.append(flip)
        progress(n_done / len(sentences))
    return sorted(flips, key=lambda flip: -flip.least)


def _flip_of(networks: Sequence[Network], masked: str, word: str, least: float) -> Flip | None:
    with_ffn, without_ffn = [], []
    for network in networks:
        trace = network.trace(masked)
        ids = [token.id for token in trace.tokens]
        if masked_id(network) not in ids:
            return None  # the mask is beyond what the network reads
        token = ids.index(masked_id(network))
        best = predict(network, trace, token, 3)
        if best.words[0] != word or best.probabilities[0] < least:
            return None
        without = predict_without_ffn(network, trace, len(trace.blocks) - 1, token, 3)
        if without.ids[0] == best.ids[0]:
            return None
        with_ffn.append(best)
        without_ffn.append(without)
    return Flip(masked, word, tuple(with_ffn), tuple(without_ffn))
