"""A model folder is replaced as a whole, or not at all; one that cannot be read is told so."""

import itertools
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ffnviz.models.encoder.encoder import Encoder, initial_encoder
from ffnviz.models.encoder.folder import ModelFolderError, check_place, read_folder, write_folder
from ffnviz.models.encoder.tokenizer import Tokenizer
from tests.models.broken_off import broken, full_disk, hidden

FILES = {"config.json", "tokenizer.json", "token_counts.json", "weights.safetensors"}
TEXTS = {"training.json", "MODEL_CARD.md"}


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_disk_that_is_full_at_any_moment_leaves_the_old_model_whole(
    tmp_path: Path, tokenizer: Tokenizer, tiny_encoder: Encoder
) -> None:
    place = tmp_path / "model"

    def put(seed: int) -> None:
        texts = dict.fromkeys(TEXTS, f"{seed}")
        encoder = initial_encoder(tiny_encoder.config, seed)
        write_folder(place, encoder, tokenizer, [seed] * 300, lambda _: texts)

    put(1)
    old = content(place)
    assert old.keys() == FILES | TEXTS
    for at in itertools.count(1):
        failed = None
        with broken(at, full_disk) as calls:
            try:
                put(2)
            except OSError as error:
                failed = error
        if len(calls) < at:
            break
        assert hidden(tmp_path) == []
        if failed is None:  # only the last waiting for the disk: the new one is there
            assert calls[at - 1] == "fsync"
            put(1)
        else:
            assert failed.filename in (str(place), str(tmp_path))
        assert content(place) == old
    assert at > 20
    new = content(place)
    assert new.keys() == old.keys()
    assert new["training.json"] == b"2"
    assert read_folder(place)[2].tolist() == [2] * 300


def test_what_describes_the_old_model_does_not_stay_beside_a_new_one(
    tmp_path: Path, tokenizer: Tokenizer, tiny_encoder: Encoder
) -> None:
    write_folder(
        tmp_path / "m", tiny_encoder, tokenizer, [0] * 300, lambda _: dict.fromkeys(TEXTS, "")
    )
    write_folder(tmp_path / "m", tiny_encoder, tokenizer, [0] * 300)
    assert content(tmp_path / "m").keys() == FILES


def test_a_folder_with_anything_else_in_it_is_left_alone(
    tmp_path: Path, tokenizer: Tokenizer, tiny_encoder: Encoder
) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(ModelFolderError, match=r"'notes\.txt', which is not part"):
        write_folder(tmp_path, tiny_encoder, tokenizer, [0] * 300)
    assert content(tmp_path) == {"notes.txt": b"mine"}
    with pytest.raises(ModelFolderError, match="it is a file: choose a folder"):
        check_place(tmp_path / "notes.txt")


def test_a_swap_that_was_broken_off_is_named(model_folder: Path, tmp_path: Path) -> None:
    (tmp_path / ".ffnviz-tiny.old").symlink_to(model_folder)
    with pytest.raises(ModelFolderError, match=r"cut short.*\.ffnviz-tiny\.old"):
        read_folder(tmp_path / "tiny")


@pytest.fixture
def private(tokenizer: Tokenizer, tiny_encoder: Encoder) -> Iterator[Path]:
    """A model folder, looked at by a user who is not root, even where the tests run as root."""
    with tempfile.TemporaryDirectory() as outer:
        Path(outer).chmod(0o755)
        folder = Path(outer) / "model"
        write_folder(folder, tiny_encoder, tokenizer, [0] * 300)
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


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_file_one_may_not_read_is_not_called_damaged(private: Path, name: str) -> None:
    read_folder(private)
    as_owner(private / name, 0)
    with pytest.raises(ModelFolderError) as caught:
        read_folder(private)
    assert caught.value.path == private / name
    assert caught.value.why == "it cannot be read (Permission denied)"


@pytest.mark.parametrize("within", ["", "deeper"])
def test_a_folder_one_may_not_enter_is_not_called_missing(private: Path, within: str) -> None:
    as_owner(private, 0)
    with pytest.raises(ModelFolderError, match=r"it cannot be read \(Permission denied\)"):
        read_folder(private / within)


def test_a_folder_one_may_not_write_to_is_noticed_before_there_is_a_model(private: Path) -> None:
    as_owner(private, 0o555)
    as_owner(private.parent, 0o555)
    with pytest.raises(PermissionError) as caught:
        check_place(private)
    assert caught.value.filename == str(private)
    as_owner(private.parent, 0o755)


def test_a_disk_that_is_mounted_there_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os.path, "ismount", lambda path: path == tmp_path)
    with pytest.raises(ModelFolderError, match="a disk is mounted here"):
        check_place(tmp_path)


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_folder_in_place_of_a_file_is_called_so(
    tmp_path: Path, tokenizer: Tokenizer, tiny_encoder: Encoder, name: str
) -> None:
    write_folder(tmp_path, tiny_encoder, tokenizer, [0] * 300)
    (tmp_path / name).unlink()
    (tmp_path / name).mkdir()
    with pytest.raises(ModelFolderError, match="it is a folder, not a file"):
        read_folder(tmp_path)


def test_a_name_too_long_for_a_folder_is_refused() -> None:
    with pytest.raises(ModelFolderError, match="File name too long"):
        read_folder(Path("x" * 5_000))
