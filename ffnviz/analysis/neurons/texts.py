"""Many texts through an encoder, in batches of equal length, one batch in memory at a time."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

import torch
from torch import Tensor

from ffnviz.analysis.neurons.probes import Probe
from ffnviz.models.network import TokenizerLike

BATCH_TOKENS = 2_048
TEXTS_AT_ONCE = 512
CHARACTERS = 6  # a token, to begin with; English has some four
MARGIN = 8  # tokens
AHEAD = 256  # characters; of a word of more than 100 WordPiece makes one [UNK]


@dataclass(frozen=True)
class TextBatch:
    """Texts of equal length."""

    probes: tuple[Probe, ...]  # the texts
    numbers: tuple[int, ...]  # their places among all texts, from 0
    ids: Tensor  # (B, T)


def batches(
    texts: Iterable[Probe],
    tokenizer: TokenizerLike,
    max_tokens: int,
    batch_tokens: int = BATCH_TOKENS,
) -> Iterator[TextBatch]:
    """All texts, those of one length together; the encoder needs no padding then.

    Longer ones are cut into pieces of at most max_tokens. What waits for a full batch is at most
    batch_tokens for each length, however many texts there are.
    """
    waiting: dict[int, list[tuple[int, Probe, list[int]]]] = defaultdict(list)
    for number, (probe, ids) in enumerate(_pieces(texts, tokenizer, max_tokens)):
        same = waiting[len(ids)]
        same.append((number, probe, ids))
        if (len(same) + 1) * len(ids) > batch_tokens:
            yield _batch(waiting.pop(len(ids)))
    for length in sorted(waiting):
        yield _batch(waiting[length])


def _batch(texts: list[tuple[int, Probe, list[int]]]) -> TextBatch:
    numbers, probes, ids = zip(*texts, strict=True)
    return TextBatch(probes, numbers, torch.tensor(ids))


def _pieces(
    texts: Iterable[Probe], tokenizer: TokenizerLike, max_tokens: int
) -> Iterator[tuple[Probe, list[int]]]:
    stream = iter(texts)
    while chunk := list(islice(stream, TEXTS_AT_ONCE)):
        for probe, ids in zip(chunk, tokenizer.encode_many([p.text for p in chunk]), strict=True):
            if 0 < len(ids) <= max_tokens:
                yield probe, ids
            elif ids:
                yield from _cut(probe, tokenizer, max_tokens)


def _cut(
    probe: Probe, tokenizer: TokenizerLike, max_tokens: int
) -> Iterator[tuple[Probe, list[int]]]:
    text, at = probe.text, 0
    while at < len(text):
        end = at + _length(text, at, tokenizer, max_tokens)
        if end == at:
            return  # what is left is no text to this tokenizer
        piece = text[at:end]
        # A piece is a text of its own: cut off, its last word may be split in another way.
        yield Probe(piece, probe.tags), tokenizer.encode(piece, max_tokens).ids
        at = end
        while at < len(text) and text[at].isspace():
            at += 1


def _length(text: str, at: int, tokenizer: TokenizerLike, max_tokens: int) -> int:
    """How many characters the first max_tokens tokens of text[at:] take.

    Found without all that follows, or a long text would be read again for each of its pieces. How
    a text is split depends on what follows in the same word at most, so it is read as far as
    between two words and some tokens too many. Where no word ends, as in Chinese, it is read twice
    as far, until that changes nothing.
    """
    size, before = CHARACTERS * max_tokens, None
    while True:
        stop, between_words = _stop(text, at + size // 2, at + size)
        encoding = tokenizer.encode(text[at:stop], max_tokens)
        ends = [(token.id, token.end) for token in encoding.tokens]
        length = ends[-1][1] if ends else 0
        sure = between_words or (ends == before and stop - at - length >= AHEAD)
        if stop == len(text) or (sure and encoding.n_left_out >= MARGIN):
            return length
        before = ends
        size *= 2


def _stop(text: str, first: int, last: int) -> tuple[int, bool]:
    """The last place in a stretch that is between two words, and whether there is any."""
    if last >= len(text):
        return len(text), True
    place = text.rfind(" ", first, last)
    while place > first and (text[place - 1].isspace() or text[place + 1].isspace()):
        place = text.rfind(" ", first, place)
    return (place, True) if place > first else (last, False)
