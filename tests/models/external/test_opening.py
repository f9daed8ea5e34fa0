"""A network from a folder or a name: sized, loaded and proved, or a sentence that says why not."""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import huggingface_hub
import pytest
import torch
from huggingface_hub import errors

from ffnviz.models import registry
from ffnviz.models.config import Config, NetworkRequest, install, use
from ffnviz.models.external import memory, opening
from ffnviz.models.external.loading import LoadRequest
from ffnviz.models.external.opening import open_external
from ffnviz.models.external.refusal import CannotOpenError
from tests.models.external.families import FAMILIES, build
from tests.models.external.folders import BROKEN, save


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    place = tmp_path_factory.mktemp("networks")

    def one(family: str) -> Path:
        folder: Path = place / family
        return folder if folder.is_dir() else save(family, folder)

    return one


def refused(name: str | Path, **wanted: Any) -> str:
    with pytest.raises(CannotOpenError) as caught:
        open_external(LoadRequest(str(name), **wanted))
    said = str(caught.value)
    assert said.startswith(f"{name}: ")
    assert "Traceback" not in said
    return said


def test_two_networks_in_folders_of_one_name_are_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "_OPENED", {})
    folders = [save("GPT-2", tmp_path / step / "net") for step in ("first", "second")]
    use(Config(tuple(NetworkRequest(str(folder)) for folder in folders), twins=False))
    cards = [registry.open_network(name, "cpu").card for name in registry.available_networks()]
    assert [card.label for card in cards] == ["first/net", "second/net"]
    assert len({card.id for card in cards}) == len({card.colour for card in cards}) == 2


def test_no_two_networks_have_one_colour() -> None:
    colours = [registry.colour_of(place) for place in range(40)]
    assert len(set(colours)) == 40
    assert all(re.fullmatch("#[0-9a-f]{6}", colour) for colour in colours)


@pytest.mark.parametrize("family", ["BERT", "GPT-2", "Llama", "BERT without a head"])
def test_a_saved_network_opens_and_says_what_it_is(
    family: str, folders: Callable[[str], Path]
) -> None:
    said: list[str] = []
    network = open_external(LoadRequest(str(folders(family))), say=said.append)
    assert "parameters" in said[0]
    assert "float32" in said[0]
    assert [line[:2] for line in said[1:]] == ["E1", "E2", "E3", "E4", "E5"]
    assert network.label == family
    bare = build(FAMILIES[family])
    trace = network.trace("the cat sat")
    with torch.inference_mode():
        told: Any = bare(input_ids=trace.ids[None], output_hidden_states=True)
    assert torch.allclose(trace.embedding, told.hidden_states[0], atol=1e-6)
    if network.card.has_word_head:
        assert torch.allclose(trace.logits, told.logits[0], atol=2e-5)


@pytest.mark.parametrize("fault", BROKEN)
def test_what_is_wrong_with_a_folder_is_said(
    fault: str, folders: Callable[[str], Path], tmp_path: Path
) -> None:
    breaks, said = BROKEN[fault]
    folder = tmp_path / "mine"
    shutil.copytree(folders("GPT-2"), folder)
    breaks(folder)
    with pytest.raises(CannotOpenError, match=said):
        open_external(LoadRequest(str(folder)))


def test_a_word_head_that_is_missing_is_left_out(
    folders: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = tmp_path / "mine"
    shutil.copytree(folders("BERT without a head"), folder)
    config = (folder / "config.json").read_text()
    (folder / "config.json").write_text(config.replace('"BertModel"', '"BertForMaskedLM"'))
    network = open_external(LoadRequest(str(folder)))
    assert network.head is None
    assert not network.card.has_word_head


def test_no_such_folder(tmp_path: Path) -> None:
    assert "no such folder" in refused(tmp_path / "nowhere")
    (tmp_path / "a.txt").write_text("x")
    assert "Give the folder" in refused(tmp_path / "a.txt")
    (tmp_path / "a.gguf").write_text("GGUF")
    assert "GGUF" in refused(tmp_path / "a.gguf")


def _answer(code: int) -> Any:
    return SimpleNamespace(status_code=code, request=None, headers={})


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (errors.GatedRepoError("no", response=_answer(403)), "accept terms first"),
        (errors.RepositoryNotFoundError("no", response=_answer(404)), "Check the spelling"),
        (errors.RevisionNotFoundError("no", response=_answer(404)), "no such revision: “abc”"),
        (errors.LocalEntryNotFoundError("no"), "cannot be reached"),
        (errors.OfflineModeIsEnabled("no"), "cannot be reached"),
        (errors.HfHubHTTPError("no", response=_answer(500)), "could not be fetched"),
        (errors.HTTPError("no"), "could not be fetched"),
    ],
)
def test_what_the_hub_says_is_passed_on(
    error: Exception, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def download(*_: object, **asked: object) -> str:
        assert asked["revision"] == "abc"
        raise error

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    assert said in refused("somebody/something", revision="abc")


def test_offline_is_honoured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    assert "cannot be reached" in refused("gpt2")
    assert "neither a folder nor a name" in refused("not a name")


def test_what_does_not_fit_is_not_loaded(
    folders: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "free_bytes", lambda _: memory.RESERVED_BYTES + 70_000)
    monkeypatch.setattr(opening, "loaded", pytest.fail)
    said = refused(folders("GPT-2"))
    assert "--dtype bfloat16" in said
    monkeypatch.setattr(opening, "free_bytes", lambda _: memory.RESERVED_BYTES + 20_000)
    assert "10,000 parameters would fit" in refused(folders("GPT-2"))


def test_out_of_memory_on_the_way(
    folders: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise MemoryError

    import transformers

    monkeypatch.setattr(transformers.AutoModelForCausalLM, "from_pretrained", full)
    assert "memory ran out" in refused(folders("GPT-2"))


def test_without_a_gpu(folders: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert "--device cpu" in refused(folders("GPT-2"), device=torch.device("cuda"))


def test_without_transformers(
    folders: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    assert install("hf") in refused(folders("GPT-2"))


def test_a_large_network_is_sized_by_its_shapes_and_takes_half_precision() -> None:
    import transformers

    config = transformers.LlamaConfig(
        hidden_size=4096, intermediate_size=14_336, num_hidden_layers=32, num_attention_heads=32,
        num_key_value_heads=8, vocab_size=128_256,
    )  # fmt: skip
    cpu = torch.device("cpu")
    size = memory.footprint(
        lambda: transformers.AutoModelForCausalLM.from_config(config), cpu, None
    )
    assert size.n_parameters == 8_030_261_248  # as Meta counts Llama 3 8B
    assert size.in_words == "8.03B parameters, 16.1 GB in bfloat16"
    small = memory.footprint(lambda: torch.nn.Linear(4, 4), cpu, None)
    assert small.dtype == torch.float32
    assert memory.free_bytes(cpu) > 0
    assert memory.too_large(size, cpu, 2 * size.n_bytes) is None


def test_transformers_is_imported_only_when_asked_for() -> None:
    code = (
        "import sys, ffnviz.app.main, ffnviz.cli, ffnviz.models.external.opening;"
        "sys.exit('transformers' in sys.modules or 'huggingface_hub' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
