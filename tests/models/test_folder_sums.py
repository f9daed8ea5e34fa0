"""config.json knows the other files: one that is damaged, or of another model, is found out."""

import hashlib
import json
import shutil
from functools import partial
from pathlib import Path

import pytest

from ffnviz.models.encoder.encoder import Encoder, initial_encoder
from ffnviz.models.encoder.folder import ModelFolderError, read_folder, write_folder
from ffnviz.models.encoder.model import MODELS, TWINS, load
from ffnviz.models.encoder.tokenizer import Tokenizer

PARTS = ["tokenizer.json", "token_counts.json", "weights.safetensors"]


@pytest.fixture
def two(tmp_path: Path, tokenizer: Tokenizer, tiny_encoder: Encoder) -> tuple[Path, Path]:
    """Two models alike in every shape, each with a training record and a card."""
    folders = tmp_path / "one", tmp_path / "other"
    for seed, folder in enumerate(folders):
        texts = {"training.json": f'{{"seed": {seed}}}\n', "MODEL_CARD.md": f"# {seed}\n"}
        encoder = initial_encoder(tiny_encoder.config, seed)
        words = sorted(range(300), key=lambda i: (i + seed) % 300)
        write_folder(folder, encoder, tokenizer, words, partial(described, texts))
    values = json.loads(tokenizer.to_json())
    values["normalizer"] = None  # reads upper case otherwise, and is of the same size
    (folders[1] / PARTS[0]).write_text(json.dumps(values), encoding="utf-8")
    resum(folders[1])
    return folders


def described(texts: dict[str, str], _: Encoder) -> dict[str, str]:
    return texts


def resum(folder: Path) -> None:
    """Write the checksums anew."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    for name in config["sha256"]:
        config["sha256"][name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")


def is_whole(folder: Path, tokenizer: Tokenizer) -> bool:
    _, read, counts = read_folder(folder)
    return read.vocab_size == len(counts) == tokenizer.vocab_size


def test_both_models_are_whole(two: tuple[Path, Path], tokenizer: Tokenizer) -> None:
    assert all(is_whole(folder, tokenizer) for folder in two)


@pytest.mark.parametrize("part", [*PARTS, "training.json"])
def test_a_part_of_another_model_is_refused_by_name(two: tuple[Path, Path], part: str) -> None:
    one, other = two
    shutil.copy(other / part, one / part)
    with pytest.raises(ModelFolderError, match="or of another model") as caught:
        read_folder(one)
    assert caught.value.path == one / part


@pytest.mark.parametrize("part", PARTS)
def test_one_bit_that_flipped_is_found(two: tuple[Path, Path], part: str) -> None:
    content = bytearray((two[0] / part).read_bytes())
    content[-2] ^= 1
    (two[0] / part).write_bytes(content)
    with pytest.raises(ModelFolderError, match="damaged") as caught:
        read_folder(two[0])
    assert caught.value.path == two[0] / part


def test_a_card_may_be_improved_and_a_training_record_left_out(
    two: tuple[Path, Path], tokenizer: Tokenizer
) -> None:
    (two[0] / "MODEL_CARD.md").write_text("# Better words\n", encoding="utf-8")
    (two[0] / "training.json").unlink()
    assert is_whole(two[0], tokenizer)


def test_a_folder_made_before_there_were_checksums_still_loads(
    two: tuple[Path, Path], tokenizer: Tokenizer
) -> None:
    one, other = two
    config = json.loads((one / "config.json").read_text(encoding="utf-8"))
    del config["sha256"]
    (one / "config.json").write_text(json.dumps(config), encoding="utf-8")
    shutil.copy(other / "weights.safetensors", one)  # nobody can know
    assert is_whole(one, tokenizer)


@pytest.mark.parametrize("sums", [None, [], "abc", {"tokenizer.json": 3}], ids=repr)
def test_checksums_that_are_none_are_refused(two: tuple[Path, Path], sums: object) -> None:
    config = json.loads((two[0] / "config.json").read_text(encoding="utf-8"))
    (two[0] / "config.json").write_text(json.dumps({**config, "sha256": sums}), encoding="utf-8")
    with pytest.raises(ModelFolderError, match="must name files with their SHA-256"):
        read_folder(two[0])


@pytest.mark.parametrize("twin", TWINS)
def test_the_shipped_twins_have_checksums_of_all_parts_and_load(twin: str) -> None:
    config = json.loads((MODELS / twin / "config.json").read_text(encoding="utf-8"))
    assert sorted(config["sha256"]) == sorted([*PARTS, "training.json"])
    assert config["sha256"]["training.json"] == (
        hashlib.sha256((MODELS / twin / "training.json").read_bytes()).hexdigest()
    )
    load(twin)
