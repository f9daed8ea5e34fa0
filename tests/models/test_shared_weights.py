"""Processes of one server hold a network's weights once, and nothing else is different."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from ffnviz.models.encoder.folder import FOLDER, mapped, read_folder
from ffnviz.models.encoder.model import MODELS

FOLDER_OF_ONE = MODELS / "relu"


def test_mapped_weights_are_the_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own, *_ = read_folder(FOLDER_OF_ONE)
    monkeypatch.setenv(FOLDER, str(tmp_path))
    for _ in range(2):  # who writes the file, and who finds it
        shared, *_ = read_folder(FOLDER_OF_ONE)
        for name, tensor in own.state_dict().items():
            assert torch.equal(shared.state_dict()[name], tensor)
    (file,) = tmp_path.iterdir()
    padding = 64 * len(own.state_dict())
    whole = 4 * sum(t.numel() for t in own.state_dict().values())
    assert whole <= file.stat().st_size < whole + padding
    assert all(t.data_ptr() % 64 == 0 for t in shared.state_dict().values())


def test_where_no_file_can_be_written_each_process_has_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path / "nowhere"))
    shared, *_ = read_folder(FOLDER_OF_ONE)
    assert shared.token_embedding.weight.isfinite().all()


def test_all_are_one_storage_and_what_one_process_changes_no_other_sees(tmp_path: Path) -> None:
    weights = {"a": torch.arange(6.0).view(2, 3), "b": torch.tensor([7.0])}
    here, there = (mapped(weights, tmp_path / "w.f32") for _ in range(2))
    assert here["a"].untyped_storage().data_ptr() == here["b"].untyped_storage().data_ptr()
    here["a"][0, 0] = 9
    assert there["a"][0, 0] == 0
    assert mapped(weights, tmp_path / "w.f32")["a"][0, 0] == 0


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_pass_leaves_the_weights_in_the_file_alone(tmp_path: Path) -> None:
    """A copy would be anonymous memory; of the file's pages none is this process's own."""
    code = (
        "import ffnviz; model = ffnviz.load('relu'); model.trace('The cat sat.').logits\n"
        "print(open('/proc/self/smaps').read())"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={**os.environ, FOLDER: str(tmp_path)},
    ).stdout  # fmt: skip
    (entry,) = re.findall(r"\.f32\n(.*?)VmFlags", found, re.DOTALL)
    numbers = {name: int(n) for name, n in re.findall(r"(\w+): +(\d+) kB", entry)}
    assert numbers["Rss"] > 30_000
    assert numbers["Anonymous"] == 0
