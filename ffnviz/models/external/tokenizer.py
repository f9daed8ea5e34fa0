"""Any fast tokenizer of transformers, with every token tied to the person's own characters."""

import re
import unicodedata
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from ffnviz.models.arguments import most_tokens, place_of, places_of, texts_of
from ffnviz.models.encoder.tokenizer import BYTE_OF, MASK, Encoding, Token, bytes_of, listed
from ffnviz.models.network import UnreadableTextError

_MASK = re.compile(re.escape(MASK), re.IGNORECASE)
_SURROGATE = re.compile("[\ud800-\udfff]")


class ExternalTokenizer:
    """Text to ids and spans, and back; special tokens are put where the network expects them.

    Examples:
        >>> model = ffnviz.from_module(gpt2, tokenizer)
        >>> model.tokenizer.decode(model.tokenizer.encode("the cat").ids), model.tokenizer.mask_id
        ('the cat', None)
    """

    def __init__(self, fast: Any, vocab_size: int) -> None:
        """Wrap a PreTrainedTokenizerFast, for a network with that many embedding rows."""
        self._fast: Any = fast.backend_tokenizer
        self._fast.no_truncation()
        self._fast.no_padding()
        self.vocab_size = vocab_size
        has_mask = fast.mask_token_id is not None and fast.mask_token_id < vocab_size
        self.mask: str | None = fast.mask_token if has_mask else None
        self.mask_id: int | None = fast.mask_token_id if has_mask else None
        added = fast.added_tokens_decoder.items()
        special = {int(id_): str(token.content) for id_, token in added if token.special}
        self._special = {id_: name for id_, name in special.items() if id_ < vocab_size}
        # Embedding rows that no token has are not text either.
        unused = frozenset(range(vocab_size)) - frozenset(self._fast.get_vocab().values())
        self.special_ids = frozenset(self._special) | unused
        self._words: dict[int, str] = {}

    def encode(self, text: str, max_tokens: int | None = None) -> Encoding:
        """The tokens of any text; of a long one the first, with the special ones at its end.

        Special tokens that were not typed have an empty span. Characters that are not Unicode
        scalar values (lone surrogates) are read as U+FFFD.

        Raises:
            UnreadableTextError: if the network has no vector for one of them.
            TypeError: if the text is not a str.
            ValueError: if max_tokens is below 0.
        """
        max_tokens = most_tokens(text, max_tokens)
        if not text:
            return Encoding(text, (), 0)
        written, places = self._with_own_mask(text)
        raw = self._fast.encode(written)
        self._check(raw.ids)
        # Whether the tokenizer added the token; a mask that was typed stands for a word.
        added = [
            bool(special) and start == end
            for special, (start, end) in zip(raw.special_tokens_mask, raw.offsets, strict=True)
        ]
        at_end = next((n for n, flag in enumerate(reversed(added)) if not flag), 0)
        n = len(raw.ids)
        n_kept = n if max_tokens is None else min(n, max_tokens)
        kept = [*range(n_kept - at_end), *range(n - at_end, n)] if n_kept < n else list(range(n))
        tokens, position = [], 0
        words = [i for i in range(n) if not added[i]]
        # Where the word behind each begins; a word that is cut off keeps its characters, too.
        spans = [(places[raw.offsets[i][0]], places[raw.offsets[i][1]]) for i in words]
        begins = [*(start for start, _ in spans), len(text)][1:]
        ends = {
            i: self._end(raw.ids[i], text, end, begin)
            for i, (_, end), begin in zip(words, spans, begins, strict=True)
        }
        if n_kept == n and words:
            # Characters that the tokenizer skips at the end belong to the last word.
            ends[words[-1]] = len(text)
        for i in kept:
            end = max(position, ends.get(i, 0))
            name = self._special.get(raw.ids[i], "") if added[i] else ""
            tokens.append(Token(raw.ids[i], text[position:end], position, end, name))
            position = end
        return Encoding(text, tuple(tokens), n - len(tokens))

    def _end(self, id_: int, text: str, end: int, begin: int) -> int:
        """Where a token's characters end, by the tokenizer's end and the next token's beginning.

        A space that the tokenizer writes by itself has the offsets of the letter behind it, which
        is the next token's. An accent that it takes away belongs to the letter before it.
        """
        if begin < end and not self.word(id_).strip():
            return begin
        while end < begin and unicodedata.category(text[end]).startswith("M"):
            end += 1
        return end

    def encode_many(self, lines: Sequence[str]) -> list[list[int]]:
        """The ids alone of many texts, computed at once on all cores.

        Raises:
            TypeError: if one text is given, or one is not a str.
        """
        texts = [self._with_own_mask(line)[0] for line in texts_of("lines", lines)]
        raw = self._fast.encode_batch(texts)
        for encoding in raw:
            self._check(encoding.ids)
        return [encoding.ids for encoding in raw]

    def _check(self, ids: list[int]) -> None:
        behind = next((id_ for id_ in ids if id_ >= self.vocab_size), None)
        if behind is not None:
            raise UnreadableTextError(
                f"The tokenizer knows “{self._fast.id_to_token(behind)}”, and the network has no "
                "vector for it. Leave it out of the text."
            )

    def decode(self, ids: list[int]) -> str:
        """The text of a sequence of ids, special tokens included.

        Raises:
            ValueError: if one is not in the vocabulary.
        """
        ids = places_of("id", ids, self.vocab_size, from_end=False)
        text: str = self._fast.decode(ids, skip_special_tokens=False)
        return text.removeprefix(" ")

    def word(self, id_: int) -> str:
        """What one entry reads as, with its leading space if it has one.

        Raises:
            ValueError: if there is no such entry.
        """
        if id_ not in self._words:
            id_ = place_of("entry", id_, self.vocab_size, from_end=False)
            word = self._special.get(id_)
            if not word:
                # Many decoders strip a first token's leading space: it is decoded behind another.
                before = self._fast.decode([self._anchor], skip_special_tokens=False)
                both: str = self._fast.decode([self._anchor, id_], skip_special_tokens=False)
                word = both[len(before) :]
            self._words[id_] = word
        return self._words[id_]

    def label(self, id_: int) -> str:
        """One entry as a list for people shows it.

        A word without its space, a piece that continues a word after a hyphen, a special token
        by its name, bytes that are not whole character in hexadecimal.

        Raises:
            ValueError: if there is no such entry.
        """
        if id_ in self._special:
            return self._special[id_]
        word, name = self.word(id_), self._fast.id_to_token(id_)
        if name is None:
            return f"#{id_}"  # an embedding row that no token has
        if not word or "\ufffd" in word or not word.strip(" \n\t").isprintable():
            if name and all(symbol in BYTE_OF for symbol in name):
                return bytes_of(name)
            return str(name)
        return listed(word)

    @cached_property
    def _anchor(self) -> int:
        ids: list[int] = self._fast.encode("a", add_special_tokens=False).ids
        return ids[-1]

    def _with_own_mask(self, text: str) -> tuple[str, Sequence[int]]:
        """The text with [MASK] as the tokenizer writes it, and where its characters were typed."""
        clean = _SURROGATE.sub("\ufffd", text)
        if self.mask is None:
            return clean, range(len(clean) + 1)
        pieces, places, at = [], [], 0
        for match in _MASK.finditer(clean):
            pieces += [clean[at : match.start()], self.mask]
            places += [*range(at, match.start()), *[match.start()] * len(self.mask)]
            at = match.end()
        pieces.append(clean[at:])
        places += range(at, len(clean) + 1)
        return "".join(pieces), places
