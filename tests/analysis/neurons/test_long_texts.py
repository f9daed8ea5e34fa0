"""Long texts: cut as if all were read for each piece, indexed, and drawn by position."""

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from click.testing import CliRunner
from hypothesis import example, given, settings
from hypothesis import strategies as some
from numpy.testing import assert_allclose, assert_array_equal
from tokenizers import Tokenizer as Fast
from tokenizers import models, normalizers
from torch import Tensor

from ffnviz.analysis.neurons import gathering
from ffnviz.analysis.neurons.gathering import CHARACTERS, Gatherer, _cut
from ffnviz.analysis.neurons.index_file import read_index
from ffnviz.analysis.neurons.neuron_index import build_index, finish
from ffnviz.analysis.neurons.probes import Probe
from ffnviz.cli import main
from ffnviz.models.encoder.model import load
from ffnviz.models.encoder.tokenizer import Encoding
from ffnviz.models.external.opening import from_module
from ffnviz.models.external.tokenizer import ExternalTokenizer
from ffnviz.models.network import TokenizerLike
from ffnviz.parts.neurons.activations import at_which_positions
from tests.models.external.families import GPT2, build
from tests.models.external.tokenizers import byte_level, metaspace, word_piece
from tests.parts.sheets import words
from tests.run_factory import run_of

WORDS = ["the", "dog", "ran", "home", "It", "was", "late", "[MASK]", "Größe", "🙂", "don't"]
WORDS += ["1,234.5", "e\u0301", "\x00", "東京は日本の首都", "a", "", "x" * 120]

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
    pairs = ("a b", "▁ a", "ab a", "t h", "▁ th", "▁th e", "a a")
    merges = [(left, right) for left, right in map(str.split, pairs)]
    vocab = {name: n for n, name in enumerate([*letters, *dict.fromkeys(a + b for a, b in merges)])}
    fast = Fast(models.BPE(vocab, merges, unk_token=None))
    words = [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    fast.normalizer = normalizers.Sequence(words)
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


TEXTS = some.lists(some.sampled_from(WORDS), max_size=40).map(" ".join) | some.text(
    LETTERS, max_size=120
)


@settings(max_examples=50)
@given(TEXTS, some.integers(3, 12), some.sampled_from(list(TOKENIZERS)))
@example("ab" * 100 + "a", 3, "one word")
@example("東京は日本の首都" * 20, 5, "ours")
@example("dog " * 3 + "x" * 100 + " dog" * 30, 4, "word_piece")
@example("dog  " * 30, 4, "one word")
@example("\x00" * 3, 3, "word_piece")  # which makes no token of it
def test_the_pieces_are_those_of_reading_all(text: str, max_tokens: int, name: str) -> None:
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


@pytest.mark.parametrize(
    ("name", "between"), [("ours", " "), ("word_piece", " "), ("metaspace", ""), ("one word", "")]
)
def test_a_text_five_times_as_long_is_five_times_the_work(name: str, between: str) -> None:
    draw, most = random.Random(0), 32

    def work(n_words: int) -> tuple[int, int]:
        words = draw.choices(["the", "dog", "ran", "home", "東京は"], k=n_words)
        counting = Counting(TOKENIZERS[name])
        pieces = list(_cut(Probe(between.join(words), ()), counting, most))  # type: ignore[arg-type]
        return counting.n_characters, len(pieces)

    (little, _), (much, n_pieces) = work(150), work(750)
    assert n_pieces > 12
    assert much < 9 * little  # not 25 times, as if all that is left were read
    assert much < n_pieces * 8 * CHARACTERS * most


SENTENCES = "the cat sat on the mat and the dog ran out at the door " * 6
LONG, READS = 2 * SENTENCES, 300


def network() -> transformers.GPT2LMHeadModel:
    sizes = transformers.GPT2Config(**{**GPT2, "n_positions": READS})
    return build(lambda: transformers.GPT2LMHeadModel(sizes))


def test_what_is_counted_at_each_position_is_what_hooks_see() -> None:
    tokenizer, model = byte_level(), network()
    external = from_module(model, tokenizer, "long")
    gatherer = Gatherer(external, (), longest=250)
    index = finish(gatherer.gather([Probe(SENTENCES, ())], 0), "one text", (), gatherer)
    ids = external.tokenizer.encode(SENTENCES, READS + 500).ids
    assert len(ids) > 250
    assert index.n_texts == -(-len(ids) // 250)  # the rest are texts of their own
    first, seen = torch.tensor([ids[:250]]), dict[int, Tensor]()
    plain = network()
    for number, block in enumerate(plain.transformer.h):
        block.mlp.c_proj.register_forward_pre_hook(
            lambda _, args, number=number: seen.update({number: args[0][0].clone()})
        )
    with torch.inference_mode():
        plain(input_ids=first)
    alone = int((index.at_position > 1).sum())  # behind them stands the first piece alone
    assert alone < 200 < len(index.at_position) == 250
    for number, block in enumerate(index.blocks):
        fired = (seen[number].abs() > index.threshold).numpy()
        assert_array_equal(block.by_position[alone:], fired[alone:])
    usual = build_index(external, [Probe(SENTENCES, ())], (), "one text")
    assert len(usual.at_position) == 128


def test_the_command_counts_them_and_announces_the_memory(tmp_path: Path) -> None:
    network().save_pretrained(tmp_path / "long")
    byte_level().save_pretrained(tmp_path / "long")
    (tmp_path / "a.txt").write_text(LONG + "\n", encoding="utf-8")
    said = []
    for longest in ("128", "9999"):
        told = CliRunner().invoke(main, [
            "index", "--model", str(tmp_path / "long"), "--corpus", str(tmp_path / "a.txt"),
            "--longest", longest, "--out", str(tmp_path / longest),
        ])  # fmt: skip
        assert told.exit_code == 0, told.output
        said.append(told.output)
        (path,) = (tmp_path / longest).glob("*.npz")
        # The last word that fits is the end of a piece, and a word has a few tokens.
        most = min(int(longest), READS)
        assert most - 4 < len(read_index(path, GPT2["n_embd"] * 4, 2).at_position) <= most
    assert all("of counts" in each for each in said)


def test_positions_are_pooled_and_the_picture_says_so() -> None:
    run = run_of(load("relu"), "The cat sat.")
    few = build_index(run.model, [Probe("The cat sat.", ())], (), "one")
    random = np.random.default_rng(0)
    counts = np.sort(random.integers(30, 90, 300))[::-1]
    fired = random.binomial(counts[:, None], 0.3, (300, run.model.sizes.d_ff))
    blocks = tuple(replace(each, by_position=fired) for each in few.blocks)
    index = replace(few, at_position=counts, blocks=blocks)
    cell = at_which_positions(run, index, 7)
    (bars,) = cell.data["figure"]["data"]
    y = cell.arrays[bars["y"]["array"]]
    assert len(y) == 100  # three positions each: 300 are more than 128
    assert_allclose(y[4], 100 * fired[12:15, 7].sum() / counts[12:15].sum(), rtol=1e-5)
    assert "Each bar stands for 3 positions." in words(cell)
    most = int(y.argmax())
    assert f"at positions {3 * most + 1} to {3 * most + 3}" in words(cell)
