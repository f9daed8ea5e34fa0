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


def packed(folder: Path, *names: str) -> bytes:
    file = io.BytesIO()
    with ZipFile(file, "w") as zipped:
        for name in names or ("relu",):
            for path in folder.iterdir():
                zipped.write(path, f"learned-{name}-seed-0-step-10/{path.name}")
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
    colours = here.card.colour, there.card.colour
    assert colours in {("learned", "relu"), ("learned_other", "gelu")}, "an accent of its own"
    both = keep_learned(packed(model_folder, "relu", "gelu"))  # the networks of a bet
    assert [name.rpartition("-")[0] for name in both] == ["learned-gelu", "learned-relu"]
    assert sorted(each.name for each in place.iterdir()) == sorted([name, *both])


def test_no_other_folder_is_reached_by_an_id_and_none_that_is_gone(
    place: Path, model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place.parent / "x").mkdir()
    for name in ("", "relu", "..", "learned-../x", "/etc", "learned-none-1"):
        assert learned_folder(name) is None, name
    monkeypatch.setattr(learned, "MOST", 1)
    (name,) = keep_learned(packed(model_folder))
    with pytest.raises(NoRoomError, match="1 trained networks already"):
        keep_learned(packed(model_folder, "gelu"))
    shutil.rmtree(place / name)
    assert learned_folder(name) is None
    use(replace(config(), learned=None))  # as in a notebook
    with pytest.raises(RuntimeError, match="ffnviz app"):
        keep_learned(packed(model_folder))


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
