"""Many texts in batches of equal length, of which one is in memory at a time."""

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
CHARACTERS = 6  # per token, as a first estimate; English has about four
MARGIN = 8  # tokens
AHEAD = 256  # characters; WordPiece makes one [UNK] of a word of more than 100


@dataclass(frozen=True)
class TextBatch:
    """Texts of equal length."""

    probes: tuple[Probe, ...]
    numbers: tuple[int, ...]  # their numbers among all texts, from 0
    ids: Tensor  # (B, T)


def batches(
    texts: Iterable[Probe],
    tokenizer: TokenizerLike,
    max_tokens: int,
    batch_tokens: int = BATCH_TOKENS,
) -> Iterator[TextBatch]:
    """Batches of texts of one length, so that no padding is needed.

    Longer texts are cut between words into pieces of at most max_tokens. At most
    batch_tokens of each length wait for a full batch, however many texts there are.
    """
    waiting: dict[int, list[tuple[int, Probe, list[int]]]] = defaultdict(list)
    for number, (probe, ids) in enumerate(_pieces(texts, tokenizer, max_tokens)):
        of_length = waiting[len(ids)]
        of_length.append((number, probe, ids))
        if (len(of_length) + 1) * len(ids) > batch_tokens:
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
            return  # the tokenizer makes no token of the rest
        end = _between_words(text, at, end)
        piece = text[at:end]
        # A piece is tokenized anew: cut off, its last word may be split differently.
        yield Probe(piece, probe.tags), tokenizer.encode(piece, max_tokens).ids
        at = end
        while at < len(text) and text[at].isspace():
            at += 1


def _between_words(text: str, at: int, end: int) -> int:
    """The end of the last whole word before a place; the place, where no word ends near it."""
    place = end
    while place > at + (end - at) // 2 and place < len(text):
        if text[place].isspace() or text[place - 1].isspace():
            return place
        place -= 1
    return end


def _length(text: str, at: int, tokenizer: TokenizerLike, max_tokens: int) -> int:
    """The number of characters in the first max_tokens tokens of text[at:].

    Only a stretch is tokenized, or a long text would be tokenized again for each of its pieces. How
    a text is split depends at most on the rest of the same word, so the stretch ends between words,
    some tokens later than needed. Where no word ends, as in Chinese, its length is doubled until
    that changes nothing.
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
    """The last place between two words in a stretch, or else its end, and whether there is one."""
    if last >= len(text):
        return len(text), True
    place = text.rfind(" ", first, last)
    while place > first and (text[place - 1].isspace() or text[place + 1].isspace()):
        place = text.rfind(" ", first, place)
    return (place, True) if place > first else (last, False)
