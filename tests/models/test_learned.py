"""Networks that were trained on a server: kept, found by their ids, and not without an end."""

import io
import shutil
from dataclasses import replace
from pathlib import Path
from zipfile import ZipFile

import pytest
import torch

from ffnviz.models import learned
from ffnviz.models.config import Config, NetworkRequest, config, use
from ffnviz.models.encoder.model import load as load_ours
from ffnviz.models.learned import NoRoomError, keep_learned, learned_folder
from ffnviz.models.registry import open_network


@pytest.fixture
def place(tmp_path: Path) -> Path:
    kept = tmp_path / "kept"
    kept.mkdir()
    use(replace(config(), learned=kept))
    return kept


def packed(folder: Path, name: str = "learned-relu-seed-0-step-10") -> bytes:
    file = io.BytesIO()
    with ZipFile(file, "w") as zipped:
        for path in folder.iterdir():
            zipped.write(path, f"{name}/{path.name}")
    return file.getvalue()


def test_what_is_kept_is_the_network_that_was_trained(place: Path, model_folder: Path) -> None:
    content = packed(model_folder)
    (name,) = keep_learned(content)
    assert name.startswith("learned-relu-")
    assert keep_learned(content) == [name], "the same is kept once"
    assert [each.name for each in place.iterdir()] == [name]
    here, there = open_network(name, "cpu"), load_ours(str(model_folder))
    assert here.card.id == name
    assert torch.equal(here.trace("the cat").logits, there.trace("the cat").logits)


def test_both_networks_of_a_bet_are_kept(place: Path, model_folder: Path) -> None:
    both = io.BytesIO(packed(model_folder))
    with ZipFile(both, "a") as zipped:
        for path in model_folder.iterdir():
            zipped.write(path, f"learned-gelu-seed-0-step-10/{path.name}")
    names = keep_learned(both.getvalue())
    assert [name.rpartition("-")[0] for name in names] == ["learned-gelu", "learned-relu"]
    assert sorted(each.name for each in place.iterdir()) == names


@pytest.mark.parametrize("name", ["", "relu", "..", "learned-../x", "/etc", "learned-none-1"])
def test_no_other_folder_is_reached_by_an_id(place: Path, name: str) -> None:
    (place.parent / "x").mkdir()
    assert learned_folder(name) is None


def test_there_is_an_end_to_it(
    place: Path, model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learned, "MOST", 1)
    (name,) = keep_learned(packed(model_folder))
    with pytest.raises(NoRoomError, match="1 trained networks already"):
        keep_learned(packed(model_folder, "learned-gelu-seed-0-step-10"))
    shutil.rmtree(place / name)
    assert learned_folder(name) is None


def test_a_notebook_keeps_none(model_folder: Path) -> None:
    use(replace(config(), learned=None))
    with pytest.raises(RuntimeError, match="ffnviz app"):
        keep_learned(packed(model_folder))


@pytest.mark.usefixtures("place")
def test_a_trained_network_has_an_accent_of_its_own(model_folder: Path) -> None:
    (name,) = keep_learned(packed(model_folder))
    colour, usual = (each.card.colour for each in (open_network(name, "cpu"),
                                                   load_ours(str(model_folder))))  # fmt: skip
    assert (colour, usual) in {("learned", "relu"), ("learned_other", "gelu")}


def test_a_folder_of_ours_is_shown_beside_the_twins(model_folder: Path, tmp_path: Path) -> None:
    """As `ffnviz app --model` asks for it: with an id, a label and a colour of its own."""
    folders = [shutil.copytree(model_folder, tmp_path / each / "My net") for each in "ab"]
    use(Config(tuple(NetworkRequest(str(folder), "bfloat16") for folder in folders)))
    told: list[str] = []
    networks = [open_network(name, "cpu", told.append) for name in ("my-net", "my-net-2")]
    assert [each.card.id for each in networks] == ["my-net", "my-net-2"]
    assert [each.card.label for each in networks] == ["a/My net", "b/My net"]
    assert len({*(each.card.colour for each in networks), "relu", "gelu"}) == 4
    assert [line.partition(": one of ours")[0] for line in told] == ["a/My net", "b/My net"]
    there = load_ours(str(model_folder)).trace("the cat").logits
    assert torch.equal(networks[0].trace("the cat").logits, there)
