"""A language small enough to learn in seconds: people counting from one to twelve and on."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.models.encoder.tokenizer import Tokenizer
from ffnviz.training.corpus import Corpus, Sentences, read_sentences
from ffnviz.training.loop import Progress
from ffnviz.training.masking import Recipe
from ffnviz.training.twin import prepare

NUMBERS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
NUMBERS += ["eleven", "twelve"]
VOCAB_SIZE = 290


def silent(_: Progress) -> None:
    """Report nothing."""


def counting(seed: int, n_lines: int) -> str:
    """A book: on each line somebody counts on from some number. Any number tells its neighbours."""
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(n_lines):
        first, length = rng.integers(12), rng.integers(5, 12)
        words = [NUMBERS[(first + i) % 12] for i in range(length)]
        lines.append(" ".join(words).capitalize() + ".")
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="session")
def books(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of three books, one of them, `unseen`, to hold out."""
    folder = tmp_path_factory.mktemp("books")
    for seed, name in enumerate(["first", "second", "unseen"]):
        (folder / f"{name}.txt").write_text(counting(seed, n_lines=300), encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def recipe() -> Recipe:
    """Seven small steps."""
    return Recipe(
        seed=5,
        steps=7,
        batch_tokens=256,
        usual_length=16,
        warmup_steps=2,
        held_out=("unseen",),
        points=4,
        point_tokens=512,
    )


@pytest.fixture(scope="session")
def config() -> EncoderConfig:
    """A tiny encoder, with dropout, so that its random numbers are tested too."""
    return EncoderConfig(
        vocab_size=VOCAB_SIZE,
        max_tokens=32,
        d_model=16,
        n_heads=2,
        d_ff=32,
        n_blocks=2,
        dropout=0.1,
    )


@pytest.fixture(scope="session")
def prepared(
    books: Path, recipe: Recipe, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Tokenizer, Corpus]:
    """The tokenizer and the encoded books."""
    return prepare(books, recipe, VOCAB_SIZE, tmp_path_factory.mktemp("work"))


@pytest.fixture(scope="session")
def tokenizer(prepared: tuple[Tokenizer, Corpus]) -> Tokenizer:
    """Trained on the two books that are not held out."""
    return prepared[0]


@pytest.fixture(scope="session")
def corpus(prepared: tuple[Tokenizer, Corpus]) -> Corpus:
    """The books as ids."""
    return prepared[1]


@pytest.fixture(scope="session")
def sentence_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Counting in single sentences of many lengths, no two alike."""
    path = tmp_path_factory.mktemp("sentences") / "counted.txt"
    rng = np.random.default_rng(9)
    lines = {
        " ".join(NUMBERS[i] for i in rng.integers(12, size=rng.integers(2, 9))) + ".": None
        for _ in range(600)
    }
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def sentences(sentence_file: Path, tokenizer: Tokenizer, config: EncoderConfig) -> Sentences:
    """The sentences as ids."""
    return read_sentences(sentence_file, tokenizer, config.max_tokens)


@pytest.fixture(scope="session")
def both(corpus: Corpus, sentences: Sentences) -> Corpus:
    """The books and the sentences."""
    return replace(corpus, sentences=sentences)


@pytest.fixture(scope="session")
def half_sentences(recipe: Recipe) -> Recipe:
    """Half the steps of sentences."""
    return replace(recipe, sentence_share=0.5)
