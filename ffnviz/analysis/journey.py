"""One token's way through one FFN, which words it decides, and orders of its neurons."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ffnviz.analysis.measuring import Progress
from ffnviz.analysis.needs import Capability, masked_id, require
from ffnviz.analysis.prediction import Prediction, predict, predict_without_ffn
from ffnviz.models.activations import Activation
from ffnviz.models.encoder.feed_forward import GatedFeedForwardRecord
from ffnviz.models.encoder.tokenizer import MASK, Token
from ffnviz.models.network import Network
from ffnviz.models.spelling import SINGLE_QUOTES, UNSEEN
from ffnviz.models.trace import ForwardPass

FLIP_NEEDS = (Capability.WORD_HEAD, Capability.MASK)
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

    Every word is hidden in turn; with the FFN it must have at least the probability `least`.
    """
    for network in networks:
        require(network, FLIP_NEEDS)
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
    """For each token the whole word that it is part of; None at a mask or a space."""
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


ORDERS = ("token", "strength", "index")


def neuron_order(hidden: NDArray[np.floating], by: str) -> NDArray[np.int64]:
    """A permutation of the neurons of hidden, (T, d_ff): the one to draw at each place, (d_ff,).

    "token": by the token on which a neuron is strongest, the strongest first, and those that are
    zero everywhere last; "strength": by the largest |hidden|; "index": as they are numbered.
    """
    if by == "index":
        return np.arange(hidden.shape[1])
    magnitude = np.abs(hidden)
    strongest = magnitude.max(axis=0)
    if by == "strength":
        return np.argsort(-strongest, kind="stable")
    if by == "token":
        token = np.where(strongest > 0, magnitude.argmax(axis=0), len(hidden))
        return np.lexsort((-strongest, token))
    raise ValueError(f"by = {by!r} must be one of {', '.join(ORDERS)}.")


Vector = NDArray[np.float32]


@dataclass(frozen=True)
class FfnPath:
    """The FFN's input, its stages, and the stream that its output is added to."""

    input: Vector  # (d_model,)
    pre_activation: Vector  # (d_ff,)
    hidden: Vector  # (d_ff,)
    output: Vector  # (d_model,)
    stream: Vector  # before the FFN, (d_model,)
    new_stream: Vector  # behind the FFN, (d_model,)
    gate: Vector | None = None  # φ(pre_activation) of a gated FFN, (d_ff,)
    value: Vector | None = None  # what that is multiplied by, (d_ff,)


def ffn_path(trace: ForwardPass, block: int, token: int, phi: Activation | None = None) -> FfnPath:
    """The vectors of one token in one block; of a gated FFN with what φ makes of the gate."""
    record, ffn = trace.blocks[block], trace.blocks[block].ffn
    new = record.output if record.behind_ffn is None else record.behind_ffn
    stages = ffn.input, ffn.pre_activation, ffn.hidden, ffn.output, record.middle, new
    vectors = [stage[token] for stage in stages]
    if isinstance(ffn, GatedFeedForwardRecord) and phi is not None:
        vectors += [phi.function(ffn.pre_activation[token]), ffn.value[token]]
    return FfnPath(*(vector.cpu().numpy() for vector in vectors))
