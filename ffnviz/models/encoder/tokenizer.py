"""Text to token ids and back, each token with its span of the typed text.

Byte-level BPE (Sennrich et al. 2016; on bytes: Radford et al. 2019), lower-cased, so no text is
unknown. A text is read in the spelling of the books that it was trained on (spelling.py). A space
is put before it: its first word is then the same token as in mid-sentence.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from tokenizers import Tokenizer as BytePairTokenizer

from ffnviz.models.arguments import most_tokens, place_of, places_of, texts_of
from ffnviz.models.spelling import as_read, as_read_with_ends

MASK = "[MASK]"
LONGEST_MESSAGE = 300  # characters of the library's message on a file that is not a tokenizer


def _bytes_of_symbols() -> dict[str, int]:
    """The byte that each symbol of byte-level BPE stands for (Radford et al. 2019)."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(0x100) if byte not in printable]
    symbols = {chr(byte): byte for byte in printable}
    return symbols | {chr(0x100 + place): byte for place, byte in enumerate(others)}


BYTE_OF = _bytes_of_symbols()


@dataclass(frozen=True)
class Token:
    """One token and the stretch of the typed text it stands for.

    Attributes:
        id: its row in the embedding matrix.
        text: ``typed[start:end]``. Together, a sentence's tokens are the sentence. Where one
            character takes several tokens, the first has it and the others are empty. So is a first
            token that is only the space put before the text.
        start, end: character positions in the typed text.
        special: the name of a token that the tokenizer added, such as [CLS]; else "".

    Examples:
        >>> trace = ffnviz.load("relu").trace("How [MASK] they know?")
        >>> token = trace.tokens[1]
        >>> token.text, token.start, token.end, trace.text[token.start : token.end]
        (' [MASK]', 3, 10, ' [MASK]')
    """

    id: int
    text: str
    start: int
    end: int
    special: str = ""


@dataclass(frozen=True)
class Encoding:
    """A text as tokens.

    Attributes:
        text: the text as typed.
        tokens: at most as many as asked for.
        n_left_out: how many tokens were beyond that.

    Examples:
        >>> encoding = ffnviz.load("relu").tokenizer.encode("It was late.", max_tokens=3)
        >>> len(encoding.ids), encoding.n_left_out, encoding.left_out
        (3, 1, '.')
    """

    text: str
    tokens: tuple[Token, ...]
    n_left_out: int

    @property
    def ids(self) -> list[int]:
        """The token ids, in order."""
        return [token.id for token in self.tokens]

    @property
    def spans(self) -> list[tuple[int, int]]:
        """The (start, end) of each token in the typed text."""
        return [(token.start, token.end) for token in self.tokens]

    @property
    def left_out(self) -> str:
        """The end of the text that the tokens do not reach."""
        return self.text[self.tokens[-1].end if self.tokens else 0 :] if self.n_left_out else ""


class Tokenizer:
    """A trained byte-level BPE tokenizer with one special token, [MASK].

    Examples:
        >>> model = ffnviz.load("relu")
        >>> ids = model.tokenizer.encode("It was late.").ids
        >>> model.tokenizer.decode(ids), model.tokenizer.vocab_size
        ('it was late.', 8192)
    """

    def __init__(self, bpe: BytePairTokenizer) -> None:
        mask_id = bpe.token_to_id(MASK)
        if mask_id is None:
            raise ValueError(f"the vocabulary has no {MASK} token")
        if sorted(bpe.get_vocab().values()) != list(range(bpe.get_vocab_size())):
            raise ValueError("the ids of the vocabulary do not count up from 0 without a gap")
        self._bpe = bpe
        self.mask_id: int = mask_id
        self.special_ids = frozenset({mask_id})
        self.vocab_size: int = bpe.get_vocab_size()
        self._words = [bpe.decode([i], skip_special_tokens=False) for i in range(self.vocab_size)]
        self._words[mask_id] = MASK
        self._labels = [self._labelled(entry) for entry in range(self.vocab_size)]

    @classmethod
    def from_json(cls, content: bytes) -> "Tokenizer":
        """The tokenizer in the content of a tokenizer.json.

        Raises:
            ValueError: if it is not a tokenizer, or has no [MASK].
        """
        try:
            bpe = BytePairTokenizer.from_str(content.decode())
        except Exception as error:  # the library raises bare Exception
            raise ValueError(f"it is not a tokenizer ({str(error)[:LONGEST_MESSAGE]})") from error
        return cls(bpe)

    def to_json(self) -> bytes:
        """The content of tokenizer.json, one entry a line."""
        values = json.loads(self._bpe.to_str())
        return (json.dumps(values, ensure_ascii=False, indent=0) + "\n").encode()

    def encode(self, text: str, max_tokens: int | None = None) -> Encoding:
        """The tokens of any text, read as spelling.py says; [MASK], in any case, is the mask token.

        A character that is not read belongs to the next token; at the end, to the last.

        Raises:
            TypeError: if the text is not a str.
            ValueError: if max_tokens is below 0.
        """
        max_tokens = most_tokens(text, max_tokens)
        if not text:
            return Encoding(text, (), 0)
        read, ends = as_read_with_ends(text)
        raw = self._bpe.encode(" " + read, add_special_tokens=False)
        kept = slice(max_tokens)
        tokens = []
        position = 0
        for id_, (_, raw_end) in zip(raw.ids[kept], raw.offsets[kept], strict=True):
            end = max(position, ends[raw_end - 1])  # -1: the space that was put before the text
            tokens.append(Token(id_, text[position:end], position, end))
            position = end
        return Encoding(text, tuple(tokens), len(raw.ids) - len(tokens))

    def encode_many(self, lines: Sequence[str]) -> list[list[int]]:
        """The ids alone of many texts at once, on all cores.

        Raises:
            TypeError: if one text is given, or one is not a str.
        """
        read = [" " + as_read(line) for line in texts_of("lines", lines)]
        raw = self._bpe.encode_batch_fast(read, add_special_tokens=False)
        return [encoding.ids for encoding in raw]

    def decode(self, ids: list[int]) -> str:
        """The lower-cased text of a sequence of ids, without the space put before it.

        Raises:
            ValueError: if one is not in the vocabulary.
        """
        ids = places_of("id", ids, self.vocab_size, from_end=False)
        return self._bpe.decode(ids, skip_special_tokens=False).removeprefix(" ")

    def word(self, id_: int) -> str:
        """The text of one entry of the vocabulary, with its leading space if it has one.

        Raises:
            ValueError: if there is no such entry.
        """
        return self._words[place_of("entry", id_, self.vocab_size, from_end=False)]

    def label(self, id_: int) -> str:
        """One entry of the vocabulary as a list for people shows it.

        A word without its space, a piece that continues a word after a hyphen, a bare space as ␣,
        bytes that are not whole character in hexadecimal.

        Raises:
            ValueError: if there is no such entry.
        """
        return self._labels[place_of("entry", id_, self.vocab_size, from_end=False)]

    def _labelled(self, entry: int) -> str:
        word = self._words[entry]
        if "\ufffd" in word or not word.strip(" \n\t").isprintable():
            return bytes_of(self._bpe.id_to_token(entry) or "")
        return listed(word)


def bytes_of(name: str) -> str:
    """The bytes that a byte-level entry's name stands for, in hexadecimal."""
    return "bytes " + " ".join(f"{BYTE_OF[symbol]:02x}" for symbol in name)


def listed(word: str) -> str:
    """A word without its space, a piece after a hyphen, and white space as signs."""
    if not word.strip():
        return word.replace(" ", "␣").replace("\n", "↵").replace("\t", "⇥") or "␣"
    return f"-{word}" if word[0].isalnum() else word.strip()
