"""What a server is given besides networks: another index, features, what others say of neurons."""

import base64
import json
import os
import pickle
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ffnviz
from ffnviz.analysis.neurons.descriptions import Score
from ffnviz.analysis.neurons.index_file import read_index, write_index
from ffnviz.analysis.neurons.neuron_index import build_index
from ffnviz.analysis.neurons.probes import Probe, read_probes
from ffnviz.cli.app_checks import look_at_descriptions, look_at_sae, opened_index, opened_paths
from ffnviz.models.config import Config, use
from ffnviz.models.encoder.model import load
from ffnviz.models.sae import SaeError
from ffnviz.parts.neurons import features
from ffnviz.parts.sheet import Measured
from ffnviz.state import run_factory
from ffnviz.state.actions import ChooseBlock, ChooseToken, Set
from tests.analysis.features.folders import drawn as weights
from tests.analysis.features.folders import encoded, saved
from tests.analysis.neurons.test_index import of_version_2
from tests.commands import assert_refused
from tests.commands import run as command
from tests.parts.sheets import Drawn, drawn, words
from tests.parts.visits import TEXT

SENTENCES = tuple(f"The {w} had {n} dogs." for n in range(4) for w in ("cat", "sea", "man"))


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("index") / "mine.npz"
    texts = [Probe(text, ("dogs",)) for text in SENTENCES]
    write_index(build_index(load("relu"), texts, ("dogs",), "<b>my dogs</b>"), path)
    return path


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    """A server is told once, before it opens a network; here others have opened it."""
    run_factory.forget_networks()
    run_factory.CACHE.clear()
    yield
    run_factory.forget_networks()
    run_factory.CACHE.clear()


def test_an_index_is_shown_for_its_network_and_for_no_other(mine: Path) -> None:
    said = opened_index(mine)
    assert said.startswith("ReLU: index ")
    assert said.endswith("tokens of <b>my dogs</b>.")
    use(Config(indexes=(mine,)))
    os.utime(mine, (0, datetime(2025, 3, 9, 12).timestamp()))
    n_tokens = read_index(mine, 2_048, 2).n_tokens
    all_of_it = drawn("neurons", "browse", twin="relu").said
    assert f"{n_tokens} tokens of <b>my dogs</b> (file of 2025-03-09); a token" in all_of_it
    assert "of our probe set" in drawn("neurons", "browse", twin="gelu").said


@pytest.fixture(scope="module")
def second_block_only(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As `ffnviz index --blocks 2` makes it of one file, which is not a tag."""
    path = tmp_path_factory.mktemp("index") / "half.npz"
    texts = [Probe(text, ()) for text in SENTENCES]
    write_index(build_index(load("relu"), texts, (), "my dogs", blocks=(1,)), path)
    return path


@pytest.mark.parametrize("part", ["wakes", "probes", "values", "browse", "name"])
def test_a_sheet_of_some_blocks_leads_to_them(second_block_only: Path, part: str) -> None:
    use(Config(indexes=(second_block_only,)))
    assert "no-index" not in drawn("neurons", part, twin="relu", block="2").cells
    assert "half.npz, block 2 of 2, " in opened_index(second_block_only)
    away = drawn("neurons", part, twin="relu", block="1")
    assert "This index has block 2 of 2; block 1 is not in it." in away.said
    assert away.pressed("Go to block 2") == ChooseBlock(1)
    assert away.pressed("Go to block 3") is None


@pytest.mark.parametrize(("twin", "says"), [("relu", 0), ("gelu", 1)])
def test_an_older_file_says_what_it_misses_where_values_may_be_negative(
    tmp_path: Path, twin: str, says: int
) -> None:
    path = tmp_path / "old.npz"
    write_index(build_index(load(twin), [Probe(text, ()) for text in SENTENCES], (), "dogs"), path)
    of_version_2(path)
    use(Config(indexes=(path,)))
    for part in ("wakes", "values", "browse"):
        assert ("old-index" in drawn("neurons", part, twin=twin).cells) == bool(says)


def test_what_is_no_index_is_refused(mine: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.npz"
    damaged.write_bytes(mine.read_bytes()[:5_000])
    told = command("app", "--port", 9161, "--index", damaged)
    assert_refused(told, "is not an index", "ReLU, GELU")
    assert_refused(command("app", "--index", tmp_path / "none.npz"), "does not exist")


TOLD: dict[str, Any] = {"architecture": "topk", "k": 5}


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    both = [
        saved(tmp_path / "mlp-50", weights("topk", 512, 50), "blocks.1.hook_mlp_out", **TOLD),
        saved(tmp_path / "res-60", weights("topk", 512, 60), "blocks.1.hook_resid_post", **TOLD),
    ]
    use(Config(saes=tuple(("relu", folder) for folder in both)))
    return both


def test_a_dictionary_behind_a_token_of_its_own_says_so(tmp_path: Path) -> None:
    folder = saved(tmp_path / "behind", weights("topk", 512, 50), "blocks.1.hook_mlp_out", **TOLD,
                   prepend_bos=True)  # fmt: skip
    use(Config(saes=(("relu", folder),)))
    assert "behind was trained on texts that begin with a special token" in features_shown().said


def features_shown(**query: Any) -> Drawn:
    return drawn("neurons", "wakes", activations_view="features", text=TEXT, block="2", **query)


def test_the_tokens_strongest_features_are_drawn(folders: list[Path]) -> None:
    view = features_shown()
    x = load("relu").trace(TEXT).blocks[1].ffn.output.double().numpy()
    values, reconstruction = encoded(x, weights("topk", 512, 50), TOLD)
    token = view.run.token
    best = np.argsort(-values[token])[:5]
    panel = view.cells["strongest-features"].data["panels"][0]
    assert panel["ids"] == best.tolist()
    np.testing.assert_allclose(panel["values"], values[token][best], rtol=1e-4)
    assert "5 of 50 features of mlp-50 are active" in words(view.cells["strongest-features"])
    click = view.cells["strongest-features"].events["point"]
    assert click(int(best[2])) == Set({"feature": str(best[2])})
    assert click(50) is None
    feature = int(best[0])
    fires = values[:, feature] > 0
    said = words(view.cells["feature-values"])
    assert f"Feature {feature} is active on {fires.sum()} of {len(fires)} tokens" in said
    assert view.cells["feature-values"].events["point"](1) == ChooseToken(1)
    missed = np.linalg.norm(x - reconstruction, axis=1) / np.linalg.norm(x, axis=1)
    assert f"misses {missed[token]:.0%} of x" in words(view.cells["missed"])
    model = load("relu")
    told = ffnviz.sae_error(model, TEXT, ffnviz.read_sae(folders[0]), token=token)
    assert f"{told.unexplained:.0%} of the variance" in words(view.cells["missed"])
    assert f"{told.divergence:.3g} nats" in words(view.cells["missed"])
    assert f"it would move by {told.without:.3g}" in words(view.cells["missed"])


def test_a_feature_and_a_dictionary_can_be_chosen(folders: list[Path]) -> None:
    view = features_shown(dictionary="res-60", feature="7")
    assert "of res-60 are active" in view.said
    promoted, suppressed = ffnviz.sae_words(
        load("relu"), ffnviz.read_sae(folders[1]), 7, features.WORDS
    )
    panels = view.cells["feature-words"].data["panels"]
    assert panels[0]["names"] == list(promoted.words)
    assert panels[1]["names"] == list(suppressed.words)
    assert view.controls["Feature"]["text"] == "7"
    assert view.controls["Dictionary"]["stop"] == 1
    far = features_shown(dictionary="gone", feature="60")
    assert "of mlp-50 are active" in far.said


def test_its_strongest_examples_come_when_asked_for(
    folders: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    read = [probe for probe in read_probes() if len(probe.text) < 30][:20]
    monkeypatch.setattr(features, "read_probes", lambda: read)
    run = features_shown().run
    told: list[float] = []
    measurement = features.its_examples(run, folders[0], 3)
    order = (measurement.work, measurement.args)
    assert pickle.loads(pickle.dumps(order)) == order, "another process computes it"
    result = measurement.work(run, told.append, *measurement.args)
    assert told[-1] == 1
    (cell,) = measurement.after(Measured(measurement.setup, result, "", ""))
    model, best = load("relu"), {}
    for probe in read:
        x = model.trace(probe.text).blocks[1].ffn.output.double().numpy()
        best[probe.text] = encoded(x, weights("topk", 512, 50), TOLD)[0][:, 3].max()
    ranked = sorted((text for text in best if best[text] > 0), key=best.__getitem__, reverse=True)
    shown = [(value, "".join(parts)) for value, *parts in cell.data["rows"]]
    assert shown == [(f"{best[text]:.2f}", text) for text in ranked[:12]]


def test_without_a_dictionary_there_is_no_such_view() -> None:
    view = features_shown()
    why = "“features” cannot be shown for this network. There is no feature dictionary"
    assert why in view.said
    assert not re.search("features", str(view.controls["Show"]["options"]))


def test_another_block_leads_to_the_dictionarys(folders: list[Path]) -> None:
    view = drawn("neurons", "wakes", activations_view="features", text=TEXT, block="1")
    assert "no feature dictionary for block 1" in view.said
    assert view.pressed("Go to block 2") == ChooseBlock(1)
    (folders[0] / "cfg.json").unlink()
    features._opened.cache_clear()
    assert "cannot be read" in features_shown().said


def test_the_command_says_which_features_are_in_a_folder(folders: list[Path]) -> None:
    found, (line,) = opened_paths("--sae", (f"gelu={folders[0]}",), look_at_sae)
    assert found == (("gelu", folders[0]),)
    assert "50 features in" in line
    assert "(topk), of what the FFN writes, block 2" in line


@pytest.mark.parametrize(
    ("network", "d_in", "why"),
    [("", 512, "fits relu, gelu. Say which is meant: --sae relu="), ("gpt2=", 512, "no “gpt2”"),
     ("", 64, "vectors of 64 components"), ("gelu=", 64, "vectors of 64 components")],
)  # fmt: skip
def test_the_command_refuses_features_that_it_cannot_show(
    network: str, d_in: int, why: str, tmp_path: Path
) -> None:
    folder = saved(tmp_path / "a", weights("standard", d_in, 9), "blocks.1.hook_mlp_out")
    told = command("app", "--port", 8694, "--sae", f"{network}{folder}")
    assert told.exit_code == 1
    assert why in " ".join(told.output.split())
    with pytest.raises(SaeError):
        ffnviz.read_sae(tmp_path)


SAID = [
    ffnviz.Description("1", 469, "<img src=x>", "relu", "gpt-4o-mini",
                       method="oai_token-act-pair"),
    ffnviz.Description("1", 469, "verbs of being " + "x" * 200, "relu", "me",
                       scores=(Score(0.5, "recall_alt", "o3"), Score(0.25))),
]  # fmt: skip


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "said.jsonl"
    ffnviz.write_descriptions(SAID, path)
    use(Config(descriptions=(("relu", path),)))
    return path


@pytest.mark.parametrize("part", ["wakes", "name"])
def test_who_said_what_stands_beside_the_neuron(part: str, file: Path) -> None:
    cell = drawn("neurons", part, neuron="relu-469", block="2").cells["others"]
    assert words(cell).startswith(f"2 descriptions of this neuron in {file.name}.")
    assert cell.data["rows"] == [
        [SAID[1].text, "me", "0.50 (recall_alt, o3)"],
        ["<img src=x>", "gpt-4o-mini (oai_token-act-pair)", ""],
    ]
    nothing = drawn("neurons", part, neuron="relu-468", block="2").cells["others"]
    assert words(nothing) == f"{file.name} says nothing of this neuron."
    assert "others" not in drawn("neurons", part, neuron="gelu-469", twin="gelu").cells


@pytest.mark.usefixtures("file")
def test_what_others_say_can_be_taken_as_a_name() -> None:
    cell = drawn("neurons", "name", neuron="relu-469", block="2").cells["others"]
    assert cell.events["row"](0) == Set({"called": SAID[1].text[:120]})
    called = drawn("neurons", "name", neuron="relu-469", block="2", called="<img src=x>")
    (row,) = json.loads(called.pressed("Keep this name").settings["names"])
    assert row[6:] == ["gpt-4o-mini (oai_token-act-pair)"]
    mine = drawn("neurons", "name", neuron="relu-469", block="2", called="mine")
    assert "gpt" not in mine.pressed("Keep this name").settings["names"]


def test_a_file_of_descriptions_that_was_spoilt_or_removed_after_the_start_is_said(
    file: Path,
) -> None:
    file.write_bytes(b"\x00\xff<script>")
    shown = drawn("neurons", "wakes", neuron="relu-469", block="2")
    said = words(shown.cells["others"])
    assert "The descriptions of neurons cannot be read." in said
    assert "said.jsonl has no descriptions of neurons. said.jsonl, line 1: it is not JSON." in said
    assert "Neuron 2:469 fires on" in shown.said
    file.unlink()
    said = words(drawn("neurons", "wakes", neuron="relu-469", block="2").cells["others"])
    assert "cannot be read" in said
    assert "No such file" in said


def test_a_file_of_descriptions_is_imported_as_names_with_their_sources() -> None:
    shown = drawn("neurons", "name", neuron="relu-469", block="2")
    lines = "".join(
        json.dumps({"modelId": "gpt2-small", "layer": layer, "index": 469, "description": said,
                    "explanationModelName": "o3", "scores": [{"value": 0.5}]}) + "\n"
        for layer, said in (("1", "verbs"), ("6-res-jb", "x"))
    )  # fmt: skip
    sent = {"control": "Import names", "name": "batch-0.jsonl", "text": lines}
    answer: Any = shown.asked("file", sent)
    kept = '[["relu",2,469,"verbs","","","o3","0.5"]]'
    assert answer.action == Set({"names": kept})
    assert "1 name imported; 1 left out" in words(answer.note)
    shown = drawn("neurons", "name", neuron="relu-12", names=kept)
    assert shown.cells["names-table"].data["rows"] == [["relu 2:469", "verbs", "", "o3", "0.5"]]
    exported = shown.controls["Export for Neuronpedia"]["file"]
    told = json.loads(base64.b64decode(exported["base64"]))
    assert (told["modelId"], told["layer"], told["index"]) == ("relu", "1", "469")
    assert (told["description"], told["scores"][0]["value"]) == ("verbs", 0.5)
    answer = shown.asked("file", {**sent, "text": "{}"})
    assert answer.action is None
    assert "line 1: it has no layer" in words(answer.note)


def test_the_command_says_what_is_in_a_file_and_for_which_network(tmp_path: Path) -> None:
    path = tmp_path / "said.jsonl"
    ffnviz.write_descriptions(SAID, path)
    path.write_text(path.read_text() + "{}\n")
    network, line = look_at_descriptions("", path)
    assert network == "relu"
    assert "descriptions of 1 neurons" in line
    assert "Left out: 1 (said.jsonl, line 3: it has no layer" in line
    (there,), (line,) = opened_paths("--descriptions", (f"gelu={path}",), look_at_descriptions)
    assert there == ("gelu", path)
    assert line.startswith("GELU")


@pytest.mark.parametrize(
    ("layer", "model", "network", "why"),
    [("1", "gpt2-small", "", "describes “gpt2-small”; the networks here are"),
     ("1", "relu", "gpt2=", "there is no “gpt2”"), ("2", "relu", "", "describes no neuron of")],
)  # fmt: skip
def test_the_command_refuses_what_it_cannot_show(
    layer: str, model: str, network: str, why: str, tmp_path: Path
) -> None:
    path = tmp_path / "said.jsonl"
    ffnviz.write_descriptions([ffnviz.Description(layer, 0, "x", model)], path)
    assert_refused(command("app", "--port", 8693, "--descriptions", f"{network}{path}"), why)
