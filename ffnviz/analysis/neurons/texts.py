"""Many texts through an encoder, in batches of equal length, one batch in memory at a time."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

import torch
from torch import Tensor

from ffnviz.analysis.neurons.probes import Probe
from ffnviz.model.network import TokenizerLike

BATCH_TOKENS = 2_048
TEXTS_AT_ONCE = 512


@dataclass(frozen=True)
class TextBatch:
    """Texts of equal length.

    Attributes:
        probes: the texts.
        numbers: their places among all texts, from 0.
        ids: (B, T).
    """

    probes: tuple[Probe, ...]
    numbers: tuple[int, ...]
    ids: Tensor


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
    rest = probe.text
    while rest:
        encoding = tokenizer.encode(rest, max_tokens)
        piece = rest[: encoding.tokens[-1].end]
        # A piece is a text of its own: cut off, its last word may be split in another way.
        yield Probe(piece, probe.tags), tokenizer.encode(piece, max_tokens).ids
        rest = encoding.left_out.lstrip()
