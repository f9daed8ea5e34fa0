"""The arithmetic: each number as a sum, with a file and a snippet that give it again."""

import base64
from pathlib import Path
from typing import Any

import pytest

from ffnviz.state.actions import ChooseNeuron, Set
from tests.parts.sheets import Drawn, drawn, words

SENTENCE = "It cost forty pounds."
NUMBERS = ("neuron", "output", "logit")


def shown(number: str, twin: str = "relu", component: str = "7") -> Drawn:
    return drawn("neurons", "working", text=SENTENCE, twin=twin, token="3", neuron=f"{twin}-40",
                 number=number, component=component, logit_word="2")  # fmt: skip


@pytest.mark.parametrize("twin", ["relu", "gelu"])
@pytest.mark.parametrize("number", NUMBERS)
def test_the_snippet_and_the_file_give_the_number_again(
    twin: str, number: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sheet = shown(number, twin)
    assert list(sheet.cells) == ["working", "working-code"]
    (download,) = (each for each in sheet.controls.values() if each["kind"] == "download")
    file = download["file"]
    name = file["name"]
    assert download["label"] == f"Download {name}"
    (tmp_path / name).write_bytes(base64.b64decode(file["base64"]))
    monkeypatch.chdir(tmp_path)
    ran: dict[str, Any] = {}
    exec(sheet.cells["working-code"].data["code"], ran)  # what a student would paste
    trace = sheet.run.trace
    ffn = trace.blocks[1].ffn
    expected = {
        "neuron": float(ffn.pre_activation[2, 40]),
        "output": float(ffn.output[2, 7]),
        "logit": float(trace.logits[2].topk(3).values[2]),
    }[number]
    assert ran["z"] == pytest.approx(expected, abs=1e-4)
    if number == "neuron":
        assert ran["h"] == pytest.approx(float(ffn.hidden[2, 40]), abs=1e-4)
    assert f"{expected:.4f}".replace("-", "−") in words(sheet.cells["working"])
    assert "the network said" in sheet.said


def test_which_number_a_component_and_a_word_are_chosen() -> None:
    output, logit = shown("output"), shown("logit")
    assert set(shown("neuron").controls).isdisjoint({"Component", "Word"})
    assert output.controls["Component"]["text"] == "7"
    assert output.moved("Component", "3") == (Set({"component": "3"}), True)
    assert output.moved("Component", "9999") == (Set({"component": "511"}), True)
    assert output.moved("number", 2) == (Set({"number": "logit"}), True)
    assert output.moved("Neuron", "12") == (ChooseNeuron(output.run.neuron(12)), True)
    word = logit.controls["Word"]
    assert word["stop"] == 2
    assert len(word["options"]) == 10
    assert f"The logit of {word['options'][2]} at" in logit.said
    assert logit.moved("logit_word", 4) == (Set({"logit_word": "4"}), True)


def test_what_a_link_asks_beyond_the_network_becomes_what_it_has() -> None:
    output = shown("output", component="99999")
    assert output.controls["Component"]["text"] == "511"
    assert "Component 511 of" in output.said


@pytest.mark.parametrize("garbage", [None, "", "x", -1, 10, 1.5, True, [2], {}])
def test_garbage_asks_for_nothing(garbage: Any) -> None:
    assert shown("output").moved("Component", garbage) is None
    assert shown("logit").moved("logit_word", garbage) is None
    assert shown("neuron").moved("number", garbage) is None
