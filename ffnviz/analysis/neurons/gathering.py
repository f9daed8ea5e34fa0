"""Running a network over texts, and counting batch by batch when its neurons fire."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import islice

import numpy as np
import torch
from torch import Tensor

from ffnviz.analysis.needs import Capability
from ffnviz.analysis.neurons.counting import Batch, IndexPart, Tally, empty
from ffnviz.analysis.neurons.probes import Probe
from ffnviz.analysis.sparsity import threshold_for
from ffnviz.models.network import Network, TokenizerLike

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


Piece = tuple[Probe, list[int]]  # a text, or a part of one, with its ids


def batches(
    texts: Iterable[Probe],
    tokenizer: TokenizerLike,
    max_tokens: int,
    batch_tokens: int = BATCH_TOKENS,
) -> Iterator[TextBatch]:
    """Batches of texts of one length, so that no padding is needed.

    Longer texts are cut between words into pieces of at most max_tokens. At most batch_tokens of
    each length wait for a full batch, however many texts there are.
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


def _pieces(texts: Iterable[Probe], tokenizer: TokenizerLike, max_tokens: int) -> Iterator[Piece]:
    stream = iter(texts)
    while chunk := list(islice(stream, TEXTS_AT_ONCE)):
        for probe, ids in zip(chunk, tokenizer.encode_many([p.text for p in chunk]), strict=True):
            if 0 < len(ids) <= max_tokens:
                yield probe, ids
            elif ids:
                yield from _cut(probe, tokenizer, max_tokens)


def _cut(probe: Probe, tokenizer: TokenizerLike, max_tokens: int) -> Iterator[Piece]:
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


class TokenClass(IntEnum):
    """Kinds of tokens; index files depend on their order."""

    WORD = 0  # begins a word
    REST = 1  # continues one
    NUMBER = 2
    SIGN = 3
    OTHER = 4  # bytes, blanks, special tokens


LABELS = ("starts of words", "ends of words", "numbers", "signs", "other")


def _class_of(word: str) -> TokenClass:
    bare = word.strip()
    if not bare or "\ufffd" in bare or (bare.startswith("[") and bare.endswith("]")):
        return TokenClass.OTHER
    if bare.isnumeric():
        return TokenClass.NUMBER
    if any(map(str.isalpha, bare)):
        return TokenClass.WORD if word[0].isspace() else TokenClass.REST
    return TokenClass.SIGN


NEEDS: tuple[Capability, ...] = ()
LONGEST = 128  # default for the most tokens of a text; a longer one is cut
BATCH_VALUES = 2**24  # hidden values of a batch: 64 MiB as float32


class Gatherer:
    """Counts on texts when the neurons of a network fire."""

    def __init__(
        self,
        model: Network,
        tags: Sequence[str],
        blocks: Sequence[int] | None = None,
        longest: int = LONGEST,
    ) -> None:
        """Count in these blocks, or in all, on texts of at most `longest` tokens."""
        self._model = model
        self._column_of = {tag: column for column, tag in enumerate(tags)}
        words = map(model.tokenizer.word, range(model.tokenizer.vocab_size))
        self._classes = torch.tensor(list(map(_class_of, words)))  # of each entry, (vocab_size,)
        self._max_tokens = min(longest, model.sizes.max_tokens)
        self.threshold = threshold_for(model.card.phi)  # a neuron fires where |hidden| is above
        self.network = model.fingerprint
        # those that are counted, from 0
        self.blocks = tuple(range(model.sizes.n_blocks) if blocks is None else sorted(set(blocks)))

    def empty(self) -> IndexPart:
        """A part without any text."""
        return empty(
            len(self.blocks),
            self._model.sizes.d_ff,
            self._max_tokens,
            len(TokenClass),
            len(self._column_of),
            signed=self._model.card.signed,
        )

    @torch.no_grad()
    def gather(
        self, texts: Iterable[Probe], first: int, progress: Callable[[int], None] = lambda _: None
    ) -> IndexPart:
        """Count on texts, which are read once and in their order.

        The batches, and with them the last bit of every value, follow from these texts alone. So
        the same texts give the same part, wherever and beside whatever they are counted.

        Args:
            texts: longer ones are cut into pieces.
            first: the place of the first piece in the corpus; the others follow.
            progress: called after each batch with the number of tokens done.

        Raises:
            ValueError: if a text has a tag that was not announced.
        """
        tally = Tally(self.empty(), self._model.device, self.threshold)
        d_ff = self._model.sizes.d_ff
        batch_tokens = max(1, min(BATCH_TOKENS, BATCH_VALUES // d_ff))
        for batch in batches(texts, self._model.tokenizer, self._max_tokens, batch_tokens):
            add_block = tally.begin(self._batch(batch, first))
            self._model.show_hidden(batch.ids.to(self._model.device), self.blocks, add_block)
            progress(tally.n_tokens)
        return tally.end()

    def _batch(self, batch: TextBatch, first: int) -> Batch:
        tagged = torch.zeros(len(batch.probes), len(self._column_of))
        for row, probe in enumerate(batch.probes):
            unknown = [tag for tag in probe.tags if tag not in self._column_of]
            if unknown:
                raise ValueError(f"The tag “{unknown[0]}” is not among those announced.")
            tagged[row, [self._column_of[tag] for tag in probe.tags]] = 1
        classes = self._classes[batch.ids].flatten()
        return Batch(
            tuple(probe.text for probe in batch.probes),
            first + np.array(batch.numbers, dtype=np.int64),
            batch.ids.shape[1],
            tagged,
            torch.nn.functional.one_hot(classes, len(TokenClass)).float(),
        )
