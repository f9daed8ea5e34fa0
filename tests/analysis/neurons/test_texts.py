"""A long text is cut into the same pieces as if all of it were read for each, with less work."""

import random
from collections.abc import Iterator

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as some
from tokenizers import Tokenizer as Fast
from tokenizers import models, normalizers

from ffnviz.analysis.neurons import gathering
from ffnviz.analysis.neurons.gathering import CHARACTERS, _cut
from ffnviz.analysis.neurons.probes import Probe
from ffnviz.models.encoder.model import load
from ffnviz.models.encoder.tokenizer import Encoding
from ffnviz.models.external.tokenizer import ExternalTokenizer
from ffnviz.models.network import TokenizerLike
from tests.models.external.tokenizers import byte_level, metaspace, word_piece

WORDS = [
    *(
        "the",
        "dog",
        "ran",
        "home",
        "It",
        "was",
        "late",
        "[MASK]",
        "Größe",
        "🙂",
        "don't",
        "1,234.5",
    ),
    *("e\u0301", "\x00", "東京は日本の首都", "a", "", "x" * 120),
]
LETTERS = "ab aé東1.\n🙂"


class Backend:
    """What a GuestTokenizer takes of transformers' fast tokenizers."""

    def __init__(self, fast: Fast) -> None:
        self.backend_tokenizer = fast
        self.mask_token = self.mask_token_id = None
        self.added_tokens_decoder = fast.get_added_tokens_decoder()


def one_word() -> TokenizerLike:
    """As Llama 2's: no words at all, so that any pair of neighbours may become one token."""
    letters = sorted({*"".join(WORDS), *LETTERS, "▁"})
    merges = [
        ("a", "b"),
        ("▁", "a"),
        ("ab", "a"),
        ("t", "h"),
        ("▁", "th"),
        ("▁th", "e"),
        ("a", "a"),
    ]
    vocab = {name: n for n, name in enumerate([*letters, *dict.fromkeys(a + b for a, b in merges)])}
    fast = Fast(models.BPE(vocab, merges, unk_token=None))
    fast.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    return ExternalTokenizer(Backend(fast), len(vocab))


KINDS = (word_piece, byte_level, metaspace)
TOKENIZERS: dict[str, TokenizerLike] = {
    "ours": load("relu").tokenizer,
    "one word": one_word(),
    **{kind.__name__: ExternalTokenizer(kind(), 97) for kind in KINDS},
}


def naive(
    probe: Probe, tokenizer: TokenizerLike, max_tokens: int
) -> Iterator[tuple[Probe, list[int]]]:
    """All that is left is read for each piece."""
    rest = probe.text
    while rest:
        encoding = tokenizer.encode(rest, max_tokens)
        piece = rest[: encoding.tokens[-1].end] if encoding.tokens else ""
        if not piece:
            return
        n = len(piece)
        spaces = [
            place for place in range(n // 2 + 1, n + 1)
            if n < len(rest) and (rest[place].isspace() or rest[place - 1].isspace())
        ]  # fmt: skip
        piece = rest[: max(spaces, default=n)]
        yield Probe(piece, probe.tags), tokenizer.encode(piece, max_tokens).ids
        rest = rest[len(piece) :].lstrip()


TEXTS = some.lists(some.sampled_from(WORDS), max_size=150).map(" ".join) | some.text(
    LETTERS, max_size=400
)


@settings(max_examples=150, deadline=None)
@given(TEXTS, some.integers(3, 12), some.sampled_from(list(TOKENIZERS)))
@example("ab" * 400 + "a", 3, "one word")
@example("東京は日本の首都" * 60, 5, "ours")
@example("dog " * 3 + "x" * 300 + " dog" * 80, 4, "word_piece")
@example("dog  " * 90, 4, "one word")
def test_the_pieces_are_those_of_reading_all_that_is_left(
    text: str, max_tokens: int, name: str
) -> None:
    tokenizer = TOKENIZERS[name]
    probe = Probe(text, ("tag",))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gathering, "CHARACTERS", 2)  # so that it has to look further, too
        found = list(_cut(probe, tokenizer, max_tokens))
    assert found == list(naive(probe, tokenizer, max_tokens))
    assert found == list(_cut(probe, tokenizer, max_tokens))


class Counting:
    """A tokenizer that adds up the characters it is given."""

    def __init__(self, tokenizer: TokenizerLike) -> None:
        self._tokenizer, self.n_characters = tokenizer, 0

    def encode(self, text: str, max_tokens: int | None = None) -> Encoding:
        self.n_characters += len(text)
        return self._tokenizer.encode(text, max_tokens)

    def __getattr__(self, name: str) -> object:
        return getattr(self._tokenizer, name)


@pytest.mark.parametrize("name", list(TOKENIZERS))
@pytest.mark.parametrize("between", [" ", ""])
def test_a_text_ten_times_as_long_is_ten_times_the_work(name: str, between: str) -> None:
    draw = random.Random(0)
    most = 64

    def work(n_words: int) -> tuple[int, int]:
        words = draw.choices(["the", "dog", "ran", "home", "東京は"], k=n_words)
        text = between.join(words)
        counting = Counting(TOKENIZERS[name])
        pieces = list(_cut(Probe(text, ()), counting, most))  # type: ignore[arg-type]
        return counting.n_characters, len(pieces)

    (little, _), (much, n_pieces) = work(800), work(8_000)
    assert n_pieces > 50
    assert much < 12 * little
    assert much < n_pieces * 8 * CHARACTERS * most
