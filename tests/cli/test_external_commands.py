"""`ffnviz check`, and the other commands on a network of somebody else."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

import ffnviz
from ffnviz.analysis.neurons.index_file import read_index
from ffnviz.cli.app_checks import prove_networks, requested_network
from ffnviz.models import registry
from ffnviz.models.config import Config, NetworkRequest, use
from ffnviz.models.external.network import ExternalNetwork
from tests.commands import assert_refused, done, run
from tests.models.external.folders import save


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save("GPT-2", tmp_path_factory.mktemp("networks") / "my-gpt")


def test_check_says_the_size_and_the_proof_also_as_json(folder: Path) -> None:
    lines = done("check", folder).output.splitlines()
    assert "float32" in lines[0]
    assert [line[:2] for line in lines[1:6]] == ["E1", "E2", "E3", "E4", "E5"]
    assert "2 blocks, d_model 32, d_ff 128, GELU (tanh)" in lines[6]
    assert "pre-norm" in lines[7]
    assert "from left to right, and predicts words" in lines[8]

    report = json.loads(run("check", folder, "--json").stdout)
    network = ffnviz.load(folder)
    assert isinstance(network, ExternalNetwork)
    assert (report["d_model"], report["d_ff"], report["n_blocks"]) == (32, 128, 2)
    assert list(report["equations"]) == ["E1", "E2", "E3", "E4", "E5"]
    assert all(0 <= e["error"] <= report["tolerance"] for e in report["equations"].values())
    assert report["fingerprint"] == network.fingerprint
    assert report["causal"]
    assert not report["ours"]
    twin = json.loads(run("check", "relu", "--json").stdout)
    assert twin["ours"]
    assert twin["activation"] == "relu"
    assert "equations" not in twin


def test_check_and_the_app_refuse_in_a_sentence(tmp_path: Path) -> None:
    refused = run("check", tmp_path)
    assert_refused(refused)
    assert refused.output.startswith(f"Error: {tmp_path}: there is no config.json")
    assert "one of ours" in run("check", "relu").output
    nowhere = run("app", "--port", 8690, "--model", tmp_path / "nowhere")
    assert_refused(nowhere, "there is no such folder")
    assert_refused(run("app", "--port", 8690, "--no-twins"), "say what to show")


def test_a_notebook_names_the_precision_as_torch_does_or_is_refused(folder: Path) -> None:
    assert ffnviz.load(folder, dtype=torch.bfloat16).card.label.endswith("(bfloat16)")
    with pytest.raises(ValueError, match="float32 or bfloat16"):
        ffnviz.load(folder, dtype="float8")


def test_its_neurons_are_indexed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "book.txt").write_text("the cat sat on the mat.\nthe door.\n")
    out = tmp_path / "out"
    done("index", "--corpus", tmp_path, "--model", folder, "--out", out)
    index = read_index(out / "my-gpt.npz", 128, 2)
    trace = ffnviz.load(folder).trace("the cat sat on the mat.")
    best = trace.blocks[1].ffn.hidden.max(dim=0).values.numpy()
    fires = best > index.threshold
    assert (index.blocks[1].values[0] >= best - 0.02)[fires].all()
    assert "not both" in run("index", "--model", folder, "--twin", "relu", "--out", out).output


def test_an_index_is_not_for_a_copy_with_another_attention(folder: Path, tmp_path: Path) -> None:
    """The FFNs and the folder's name are the same, and so were the fingerprints once."""
    other = shutil.copytree(folder, tmp_path / "other" / folder.name)
    weights = {name: t.clone() for name, t in load_file(other / "model.safetensors").items()}
    for name in (name for name in weights if "attn" in name):
        weights[name].normal_()
    save_file(weights, other / "model.safetensors", {"format": "pt"})
    (tmp_path / "book.txt").write_text("the cat sat on the mat.\n")
    path = tmp_path / "out" / "my-gpt.npz"
    run("index", "--corpus", tmp_path / "book.txt", "--model", folder, "--out", path.parent)
    use(Config(indexes=(path,)))
    own = ffnviz.load(folder).card.provenance
    assert own is not None
    assert own.index == path
    assert ffnviz.load(other).card.provenance is None
    told = run("app", "--port", 8691, "--no-twins", "--model", other, "--index", path)
    assert_refused(told, "is an index of another network; the networks here are my-gpt")


def test_its_ffns_are_timed(folder: Path) -> None:
    report = json.loads(done("timing", "--model", folder, "--repeats", 2, "--json").stdout)
    assert len(report["ffns_ms"]) == 2
    assert report["ffns_sum_ms"] == pytest.approx(sum(s["median"] for s in report["ffns_ms"]))
    assert "whole pass" in run("timing", "--model", folder, "--repeats", 1).output


def test_the_app_shows_what_it_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(registry, "_OPENED", {})
    use(Config((requested_network(str(folder), None), requested_network(str(folder), "bfloat16"))))
    prove_networks()
    assert "E5" in capsys.readouterr().out
    assert list(registry.available_networks()) == ["my-gpt", "my-gpt-2", "relu", "gelu"]
    first, second = (registry.open_network(name, "cpu") for name in ("my-gpt", "my-gpt-2"))
    assert first.card.colour != second.card.colour
    assert second.card.label.endswith("(bfloat16)")
    assert registry.open_network("my-gpt", "cpu") is first
    use(Config((requested_network(str(folder), None),), twins=False))
    assert list(registry.available_networks()) == ["my-gpt"]
    assert requested_network("google/gemma@main", None) == NetworkRequest(
        "google/gemma", None, "main"
    )
