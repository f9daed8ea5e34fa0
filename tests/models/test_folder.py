"""A model folder: it comes back as it was, is replaced as a whole, and knows its own files."""

import hashlib
import itertools
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.models.encoder.encoder import Encoder, initial_encoder
from ffnviz.models.encoder.folder import (
    FOLDER,
    ModelFolderError,
    check_place,
    mapped,
    read_folder,
    write_folder,
)
from ffnviz.models.encoder.model import MODELS, TWINS, load
from ffnviz.models.encoder.tokenizer import Tokenizer
from tests.models.reference import randomise
from tests.models.test_atomic import broken, full_disk, hidden

PARTS = ["token_counts.json", "tokenizer.json", "weights.safetensors"]
FILES = ["config.json", *PARTS]
EMBEDDING = "token_embedding.weight"
TEXTS = {"training.json": "{}", "MODEL_CARD.md": "#"}


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# It comes back as it was, its weights rounded to float16.


@pytest.mark.parametrize(("norm", "activation"), [("pre", "relu"), ("post", "swiglu")])
def test_every_weight_comes_back_rounded_to_float16_and_no_further(
    tmp_path: Path, tokenizer: Tokenizer, tiny_config: EncoderConfig, norm: str, activation: str
) -> None:
    config = replace(tiny_config, norm=norm, activation=activation)
    encoder: Encoder = randomise(initial_encoder(config, seed=3))
    write_folder(tmp_path, encoder, tokenizer, [0] * 300)
    read, _, _ = read_folder(tmp_path)
    assert read.config == config
    written = encoder.state_dict()
    fresh: Encoder = randomise(initial_encoder(config, seed=3))  # writing changes nothing
    assert read.state_dict().keys() == written.keys()
    for name, tensor in read.state_dict().items():
        assert tensor.dtype == torch.float32
        assert torch.equal(tensor, written[name].half().float()), name
        assert torch.equal(written[name], fresh.state_dict()[name]), name


def test_what_was_read_is_ready_for_inference_and_is_written_again_to_the_byte(
    model_folder: Path, tmp_path: Path, tokenizer: Tokenizer
) -> None:
    encoder, read, counts = read_folder(model_folder)
    assert not encoder.training
    assert not any(each.requires_grad or each.is_meta for each in encoder.parameters())
    text = "The cat can't [MASK] the 😀."
    assert read.encode(text) == tokenizer.encode(text)
    assert counts.tolist() == list(range(300))
    again = tmp_path / "a" / "new" / "folder"
    write_folder(again, encoder, read, counts.tolist())
    assert content(again) == content(model_folder)
    assert sorted(content(again)) == FILES
    weights = load_file(again / "weights.safetensors")  # as anybody reads them
    assert {tensor.dtype for tensor in weights.values()} == {torch.float16}


# It is replaced as a whole, or not at all; one that cannot be read is told so.


def test_a_disk_that_is_full_at_any_moment_leaves_the_old_model_whole(
    tmp_path: Path, tokenizer: Tokenizer, tiny_encoder: Encoder
) -> None:
    place, new = tmp_path / "model", initial_encoder(tiny_encoder.config, seed=2)
    for at in itertools.count(1):
        write_folder(place, tiny_encoder, tokenizer, [1] * 300, lambda _: TEXTS)
        old = content(place)
        assert sorted(old) == sorted([*FILES, *TEXTS])
        failed: OSError | None = None
        with broken(at, full_disk) as calls:
            try:
                write_folder(place, new, tokenizer, [2] * 300)
            except OSError as error:
                failed = error
        if len(calls) < at:
            break
        assert hidden(tmp_path) == []
        if failed is None:  # only the last waiting for the disk: the new one is there
            assert calls[at - 1] == "fsync"
        else:
            assert failed.filename in (str(place), str(tmp_path))
            assert content(place) == old
    assert at > 20
    assert read_folder(place)[2].tolist() == [2] * 300
    assert sorted(content(place)) == FILES, "what describes the old model does not stay"


def test_a_place_with_anything_else_in_it_is_left_alone(
    tmp_path: Path, model_folder: Path, tokenizer: Tokenizer, tiny_encoder: Encoder
) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(ModelFolderError, match=r"'notes\.txt', which is not part"):
        write_folder(tmp_path, tiny_encoder, tokenizer, [0] * 300)
    assert content(tmp_path) == {"notes.txt": b"mine"}
    with pytest.raises(ModelFolderError, match="it is a file: choose a folder"):
        check_place(tmp_path / "notes.txt")
    (tmp_path / "notes.txt").unlink()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os.path, "ismount", lambda path: path == tmp_path)
        with pytest.raises(ModelFolderError, match="a disk is mounted here"):
            check_place(tmp_path)
    with pytest.raises(ModelFolderError, match="File name too long"):
        read_folder(Path("x" * 5_000))
    (tmp_path / ".ffnviz-tiny.old").symlink_to(model_folder)
    with pytest.raises(ModelFolderError, match=r"cut short.*\.ffnviz-tiny\.old"):
        read_folder(tmp_path / "tiny")


@pytest.fixture
def private(model_folder: Path) -> Iterator[Path]:
    """A model folder, looked at by a user who is not root, even where the tests run as root."""
    with tempfile.TemporaryDirectory() as outer:
        Path(outer).chmod(0o755)
        folder = Path(shutil.copytree(model_folder, Path(outer) / "model"))
        root = os.geteuid() == 0
        if root:
            os.seteuid(65_534)
        try:
            yield folder
        finally:
            if root:
                os.seteuid(0)
            folder.chmod(0o755)


def as_owner(folder: Path, mode: int) -> None:
    """Change the rights, then go on as the user who has none."""
    user = os.geteuid()
    if os.getuid() == 0:
        os.seteuid(0)
    folder.chmod(mode)
    os.seteuid(user)


def test_what_one_may_not_read_or_write_is_called_neither_damaged_nor_missing(
    private: Path,
) -> None:
    read_folder(private)
    weights, config, deeper = (private / n for n in ("weights.safetensors", "config.json", "more"))
    for closed, read, named in (
        (weights, private, weights),
        (private, private, config),
        (private, deeper, deeper),
    ):
        as_owner(closed, 0)
        with pytest.raises(ModelFolderError) as caught:
            read_folder(read)
        assert str(caught.value) == f"{named}: it cannot be read (Permission denied)"
        as_owner(closed, 0o755)
    as_owner(private, 0o555)
    as_owner(private.parent, 0o555)
    with pytest.raises(PermissionError) as refused:
        check_place(private)
    assert refused.value.filename == str(private)
    as_owner(private.parent, 0o755)


# config.json knows the other files: one that is damaged, or of another model, is found out.


def rewrite(folder: Path, **changes: object) -> None:
    """Other values in config.json, and checksums made anew where none are given."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    for name in config["sha256"]:
        config["sha256"][name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    (folder / "config.json").write_text(json.dumps(config | changes), encoding="utf-8")


@pytest.fixture
def two(tmp_path: Path, tokenizer: Tokenizer, tiny_encoder: Encoder) -> tuple[Path, Path]:
    """Two models alike in every shape, each with a training record and a card."""
    folders = tmp_path / "one", tmp_path / "other"
    for seed, folder in enumerate(folders):
        texts = {name: f"{text}{seed}" for name, text in TEXTS.items()}
        encoder = initial_encoder(tiny_encoder.config, seed)
        counts = [(i + seed) % 300 for i in range(300)]
        write_folder(folder, encoder, tokenizer, counts, lambda _, texts=texts: texts)  # type: ignore[misc]
    values = json.loads(tokenizer.to_json())
    values["normalizer"] = None  # reads upper case otherwise, and is of the same size
    (folders[1] / "tokenizer.json").write_text(json.dumps(values), encoding="utf-8")
    rewrite(folders[1])
    for folder in folders:
        read_folder(folder)
    return folders


@pytest.mark.parametrize("part", [*PARTS, "training.json"])
def test_a_damaged_or_exchanged_part_is_refused_by_name(two: tuple[Path, Path], part: str) -> None:
    one, other = two
    own = bytearray((one / part).read_bytes())
    shutil.copy(other / part, one / part)
    with pytest.raises(ModelFolderError, match=r"damaged.*or of another model") as caught:
        read_folder(one)
    assert caught.value.path == one / part
    own[-2] ^= 1
    (one / part).write_bytes(own)
    with pytest.raises(ModelFolderError, match="damaged") as caught:
        read_folder(one)
    assert caught.value.path == one / part


def test_a_card_may_be_improved_and_a_training_record_left_out(two: tuple[Path, Path]) -> None:
    one, other = two
    (one / "MODEL_CARD.md").write_text("# Better words\n", encoding="utf-8")
    (one / "training.json").unlink()
    assert read_folder(one)[1].vocab_size == 300
    no_sums: list[object] = [None, "abc", {"tokenizer.json": 3}]
    for sums in no_sums:
        rewrite(other, sha256=sums)
        with pytest.raises(ModelFolderError, match="must name files with their SHA-256"):
            read_folder(other)
        shutil.copy(one / "config.json", other)
    # A folder made before there were checksums still loads; nobody can know what is in it.
    config = json.loads((one / "config.json").read_text(encoding="utf-8"))
    del config["sha256"]
    (one / "config.json").write_text(json.dumps(config), encoding="utf-8")
    shutil.copy(other / "weights.safetensors", one)
    assert read_folder(one)[1].vocab_size == 300


@pytest.mark.parametrize("twin", TWINS)
def test_the_shipped_twins_have_checksums_of_all_parts_and_load(twin: str) -> None:
    config = json.loads((MODELS / twin / "config.json").read_text(encoding="utf-8"))
    assert sorted(config["sha256"]) == sorted([*PARTS, "training.json"])
    assert config["sha256"]["training.json"] == (
        hashlib.sha256((MODELS / twin / "training.json").read_bytes()).hexdigest()
    )
    load(twin)


# Processes of one server hold a network's weights once, and nothing else is different.


def test_mapped_weights_are_the_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = load("relu").encoder.state_dict()
    monkeypatch.setenv(FOLDER, str(tmp_path))
    for _ in range(2):  # who writes the file, and who finds it
        encoder, *_ = read_folder(MODELS / "relu")
        shared = encoder.state_dict()
        assert all(torch.equal(shared[name], tensor) for name, tensor in own.items())
    monkeypatch.setenv(FOLDER, str(tmp_path / "nowhere"))  # then each process has its own
    assert torch.equal(read_folder(MODELS / "relu")[0].token_embedding.weight, shared[EMBEDDING])
    (file,) = tmp_path.iterdir()
    whole = 4 * sum(tensor.numel() for tensor in own.values())
    assert whole <= file.stat().st_size < whole + 64 * len(own)
    assert all(tensor.data_ptr() % 64 == 0 for tensor in shared.values())
    if sys.platform != "linux":
        return
    # A copy would be anonymous memory; of the file's pages none is this process's own.
    assert replace(load("relu"), encoder=encoder).trace("The cat sat.").logits.isfinite().all()
    seen = Path("/proc/self/smaps").read_text(encoding="utf-8")
    entries = re.findall(rf"{file}\n(.*?)VmFlags", seen, re.DOTALL)
    kept = [{name: int(n) for name, n in re.findall(r"(\w+): +(\d+) kB", each)} for each in entries]
    assert max(each["Rss"] for each in kept) > 30_000
    assert {each["Anonymous"] for each in kept} == {0}


def test_all_are_one_storage_and_what_one_process_changes_no_other_sees(tmp_path: Path) -> None:
    weights = {"a": torch.arange(6.0).view(2, 3), "b": torch.tensor([7.0])}
    here, there = (mapped(weights, tmp_path / "w.f32") for _ in range(2))
    assert here["a"].untyped_storage().data_ptr() == here["b"].untyped_storage().data_ptr()
    here["a"][0, 0] = 9
    assert there["a"][0, 0] == 0
    assert mapped(weights, tmp_path / "w.f32")["a"][0, 0] == 0
