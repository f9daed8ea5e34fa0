"""What others say of a neuron, on its parts: who said it, how that was scored, and nothing else."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import ffnviz
from ffnviz.analysis.neurons.descriptions import Score
from ffnviz.cli import main
from ffnviz.cli.app_checks import look_at_descriptions, opened_paths
from ffnviz.models.config import Config, use
from ffnviz.state.actions import Set
from tests.parts.sheets import drawn, words

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
    assert cell.data["columns"] == ["description", "said by", "score"]
    assert cell.data["rows"] == [
        [SAID[1].text, "me", "0.50 (recall_alt, o3)"],
        ["<img src=x>", "gpt-4o-mini (oai_token-act-pair)", ""],
    ]
    nothing = drawn("neurons", part, neuron="relu-468", block="2").cells["others"]
    assert words(nothing) == f"{file.name} says nothing of this neuron."
    assert "others" not in drawn("neurons", part, neuron="gelu-469", twin="gelu").cells


def test_what_others_say_can_be_taken_as_a_name(file: Path) -> None:
    cell = drawn("neurons", "name", neuron="relu-469", block="2").cells["others"]
    assert cell.events["row"](0) == Set({"called": SAID[0 + 1].text[:120]})
    assert file.exists()
    called = drawn("neurons", "name", neuron="relu-469", block="2", called="<img src=x>")
    (row,) = json.loads(called.pressed("Keep this name").settings["names"])
    assert row[6:] == ["gpt-4o-mini (oai_token-act-pair)"]
    mine = drawn("neurons", "name", neuron="relu-469", block="2", called="mine")
    assert "gpt" not in mine.pressed("Keep this name").settings["names"]


def test_a_file_that_went_is_said(file: Path) -> None:
    gone = file.with_name("gone.jsonl")
    use(Config(descriptions=(("relu", gone),)))
    cell = drawn("neurons", "wakes", neuron="relu-469").cells["others"]
    assert "cannot be read" in words(cell)
    assert "gone.jsonl" in words(cell)


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
    table = shown.cells["names-table"].data
    assert table["columns"] == ["neuron", "name", "guess", "said by", "score"]
    assert table["rows"] == [["relu 2:469", "verbs", "", "o3", "0.5"]]
    exported = shown.controls["Export for Neuronpedia"]["file"]
    told = json.loads(base64.b64decode(exported["base64"]))
    assert told["modelId"] == "relu"
    assert (told["layer"], told["index"], told["description"]) == ("1", "469", "verbs")
    assert told["scores"][0]["value"] == 0.5
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
    assert "by gpt-4o-mini (oai_token-act-pair), me." in line
    assert "Left out: 1 (said.jsonl, line 3: it has no layer" in line
    (there,), (line,) = opened_paths("--descriptions", (f"gelu={path}",), look_at_descriptions)
    assert there == ("gelu", path)
    assert line.startswith("GELU")


@pytest.mark.parametrize(
    ("layer", "model", "network", "why"),
    [
        ("1", "gpt2-small", "", "describes “gpt2-small”; the networks here are"),
        ("1", "relu", "gpt2=", "there is no “gpt2”"),
        ("6-res-jb", "relu", "", "describes no neuron of"),
        ("2", "relu", "", "describes no neuron of"),
    ],
)
def test_the_command_refuses_what_it_cannot_show(
    layer: str, model: str, network: str, why: str, tmp_path: Path
) -> None:
    path = tmp_path / "said.jsonl"
    ffnviz.write_descriptions([ffnviz.Description(layer, 0, "x", model)], path)
    asked = ["app", "--port", "8693", "--descriptions", f"{network}{path}"]
    done = CliRunner().invoke(main, asked)
    assert done.exit_code == 1
    assert why in done.output
