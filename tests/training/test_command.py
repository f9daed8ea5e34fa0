"""`ffnviz train`: one real step at full size, and every mistake answered in words."""

import itertools
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from click.testing import Result

from ffnviz.models.activations import ACTIVATIONS
from ffnviz.models.encoder.model import load
from ffnviz.training.masking import Recipe
from tests.commands import assert_refused, done, run

SYLLABLES = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]


@pytest.fixture(autouse=True)
def _same_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Books with words enough for a vocabulary of 8,192."""
    folder = tmp_path_factory.mktemp("library")
    words = ["".join(parts) for parts in itertools.product(SYLLABLES, repeat=3)]
    chosen = words[:: len(words) // 9_000]
    lines = [" ".join(chosen[i : i + 8]) + "." for i in range(0, len(chosen), 8)]
    (folder / "seen.txt").write_text("\n".join(lines + lines), encoding="utf-8")
    (folder / "unseen.txt").write_text("\n".join(lines[:200]), encoding="utf-8")
    return folder


def train(*arguments: object) -> Result:
    return run("train", *arguments)


@pytest.fixture
def corpus(library: Path) -> list[object]:
    return ["--corpus", library, "--hold-out", "unseen", "--steps", 1, "--threads", 1]


def test_a_step_at_full_size_writes_a_model(corpus: list[object], tmp_path: Path) -> None:
    places = ["--out", tmp_path / "gelu", "--work", tmp_path / "work"]
    # In a process of its own: the step takes half a gigabyte, and this one has a lot already.
    command = [sys.executable, "-m", "ffnviz", "train", "--activation", "gelu"]
    asked = [*command, *map(str, corpus + places)]
    told = subprocess.run(asked, capture_output=True, text=True, timeout=300)
    assert told.returncode == 0, told.stderr
    assert "on " in told.stdout
    assert "masked tokens of unseen books" in told.stdout
    model = load(tmp_path / "gelu")
    assert model.encoder.config.activation == "gelu"
    assert model.trace("bababa [MASK]").logits.shape == (2, 8_192)


SMALL = ("--d-model", 24, "--d-ff", 40, "--blocks", 3, "--heads", 3, "--vocabulary", 500)


def test_the_sizes_are_those_asked_for_and_a_second_run_finds_the_first(
    corpus: list[object], tmp_path: Path
) -> None:
    places = ["--out", tmp_path / "small", "--work", tmp_path / "work"]
    done("train", *corpus, *places, *SMALL)
    config = load(tmp_path / "small").encoder.config
    told = (config.d_model, config.d_ff, config.n_blocks, config.n_heads, config.vocab_size)
    assert told == (24, 40, 3, 3, 500)
    assert load(tmp_path / "small").trace("bababa").logits.shape[1] == 500
    weights = (tmp_path / "small" / "weights.safetensors").read_bytes()
    shutil.rmtree(tmp_path / "small")
    done("train", *corpus, *places, *SMALL)
    assert (tmp_path / "small" / "weights.safetensors").read_bytes() == weights
    # The checkpoint is one of this seed.
    other_seed = train(*corpus, *places, *SMALL, "--seed", 1)
    assert_refused(other_seed, "relu.checkpoint", "Remove it")
    other = train(*corpus, *places, *SMALL, "--blocks", 2)
    assert_refused(other, "relu.checkpoint", "another configuration")
    assert_refused(train(*corpus, *places, "--heads", 7), "n_heads = 7", "divisor of d_model")
    more = train(*corpus, *places[2:], "--out", tmp_path / "more", "--from", tmp_path / "small",
                 "--d-ff", 80)  # fmt: skip
    assert_refused(more, "With --from the sizes are those")


def test_a_run_goes_on_from_a_folder_with_sentences(
    library: Path, corpus: list[object], tmp_path: Path
) -> None:
    lines = (library / "unseen.txt").read_text(encoding="utf-8")
    (tmp_path / "said.txt").write_text(lines, encoding="utf-8")
    places = ["--out", tmp_path / "first", "--work", tmp_path / "work"]
    done("train", *corpus, *places, *SMALL, "--activation", "gelu")
    second = done(
        *("train", *corpus, "--from", tmp_path / "first", "--sentences", tmp_path / "said.txt"),
        *("--out", tmp_path / "second", "--work", tmp_path / "more", "--points", 2),
        *("--sentence-share", 1, "--learning-rate", 5e-4, "--warmup-steps", 0),
    )
    assert " sentences." in second.output
    record = json.loads((tmp_path / "second" / "training.json").read_text(encoding="utf-8"))
    assert record["config"]["activation"] == "gelu"
    (further,) = record["further"]
    recipe = Recipe(
        steps=1, sentence_share=1, learning_rate=5e-4, warmup_steps=0, points=2,
        held_out=("unseen",),
    )  # fmt: skip
    assert further["recipe"] == recipe.to_dict()
    assert [point["step"] for point in record["points"]] == [0, 1, 2]
    assert not (tmp_path / "more" / "tokenizer.json").exists()


def test_a_folder_to_go_on_from_that_is_no_model_is_named(library: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    arguments = ["--corpus", library, "--work", tmp_path, "--from", tmp_path / "empty"]
    assert_refused(train(*arguments, "--out", tmp_path / "out"), "empty", "the file is missing")
    assert_refused(train(*arguments), "--from needs --out")
    assert_refused(train(*arguments, "--out", tmp_path / "empty"), "--from needs --out")
    alone = ["--corpus", library, "--work", tmp_path, "--keep", "0.5"]
    assert_refused(train(*alone), "--keep needs --from")


def test_what_cannot_be_trained_on_is_named(tmp_path: Path, library: Path) -> None:
    assert_refused(train("--corpus", tmp_path / "nowhere"), "nowhere", "does not exist")
    told = train("--corpus", library, "--work", tmp_path)
    missing = "held-out books not in the corpus: black-beauty, little-men, the-time-machine"
    assert_refused(told, missing, "--hold-out")


def test_an_option_out_of_range_is_named_and_the_help_lists_every_activation(
    library: Path, tmp_path: Path
) -> None:
    wrong = [("--activation", "sine"), ("--steps", 0), ("--threads", 0)]
    for option, value in [*wrong, ("--device", "abacus"), ("--device", "cuda:99")]:
        result = train("--corpus", library, "--work", tmp_path, option, value)
        assert_refused(result, option, str(value))
    assert "|".join(ACTIVATIONS) in "".join(done("train", "--help").output.split())
