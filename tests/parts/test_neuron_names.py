"""A name that is kept for a neuron stays its own, and no link or file breaks the page."""

import base64
import json
import re
from typing import Any

import pytest

from ffnviz.analysis.causal.attribution import logit_attribution
from ffnviz.analysis.causal.measure import logit_difference
from ffnviz.analysis.neurons.names import Name, to_line
from ffnviz.models.encoder.model import load
from ffnviz.state.actions import OpenNeuron, Set
from ffnviz.state.state import Neuron
from tests.parts.sheets import Drawn, drawn, words
from tests.parts.visits import TEXT, opened, query

LINE = '[["relu",2,469,"verbs"],["gelu",1,7,"numbers","","two, three"]]'


def box(shown: Drawn, label: str) -> str:
    """What stands in a box whose label begins so, or is chosen there."""
    control = next(each for name, each in shown.controls.items() if name.startswith(label))
    return str(control["options"][control["stop"]] if "options" in control else control["text"])


def table(shown: Drawn) -> list[list[str]]:
    rows: list[list[str]] = shown.cells["names-table"].data["rows"]
    return rows


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (["/etc", 2, 5, "x"], "there is no network '/etc' here"),
        (["relu", 2, -7, "x"], "neuron is -7"),
        (["relu", 99, 7, "x"], "block is 99"),
    ],
)
def test_a_link_to_what_is_not_there_says_so_and_keeps_others(row: list[object], why: str) -> None:
    shown = drawn("neurons", "name", names=json.dumps([row, ["relu", 2, 469, "verbs"]]))
    assert f"cannot be shown.\nEntry 1: {why}" in words(shown.cells["names-link"])
    assert table(shown) == [["relu 2:469", "verbs", ""]]


def test_a_link_with_no_names_says_so_and_long_texts_are_cut() -> None:
    shown = drawn("neurons", "name", names="{{", guess="words of my own", says="two, " * 300)
    assert "It is not JSON" in words(shown.cells["names-link"])
    assert "names-table" not in shown.cells
    assert box(shown, "Words, with commas") == ("two, " * 300)[:480]


@pytest.mark.parametrize("sign", ["\ud800", "\x00", "\ufffe", "\u202eabc", "e" + "\u0301" * 119])
def test_any_sign_can_stand_in_a_kept_name(sign: str) -> None:
    shown = drawn("neurons", "name", names=json.dumps([["relu", 2, 7, sign]]), neuron="relu-7")
    assert table(shown)[0][1] == sign.replace("\ud800", "\ufffd")
    assert all(json.dumps(cell.data).encode() for cell in shown.cells.values())


def test_a_link_to_no_neuron_shows_the_one_that_adds_most_to_the_word() -> None:
    shown = drawn("neurons", "name", text=TEXT, neuron="relu-2048")
    assert shown.run.state.neuron is None
    model = load("relu")
    trace = model.trace(TEXT)
    word = model.tokenizer.label(int(trace.logits[3].argmax()))
    parts = logit_attribution(trace, logit_difference(model, word), token=3, k=9)
    most = next(neuron for block, neuron in parts.neurons.tolist() if block == 1)
    assert box(shown, "Neuron") == str(most)


@pytest.mark.parametrize(
    ("where", "called", "says"),
    [
        ({"neuron": "relu-12"}, "typed for 12", ""),
        ({"neuron": "relu-13"}, "", ""),
        ({"neuron": "relu-469"}, "verbs", ""),
        ({"neuron": "relu-469", "block": "1"}, "", ""),
        ({"neuron": "gelu-7", "block": "1", "twin": "gelu"}, "numbers", "two, three"),
    ],
)
def test_each_neuron_has_its_name_in_the_boxes(
    where: dict[str, str], called: str, says: str
) -> None:
    typed = {"called": "typed for 12", "of": "relu-2-12"}
    shown = drawn("neurons", "name", names=LINE, measure=True, **typed, **where)
    assert box(shown, "Your name for neuron") == called
    assert shown.controls["Keep this name"]["disabled"] == (not called)
    if says:
        assert box(shown, "Words, with commas") == says


def test_a_link_shows_what_was_typed_for_its_neuron_also_one_of_old() -> None:
    typed = {"called": "better", "tag": "question", "of": "relu-2-469", "names": LINE}
    shown = drawn("neurons", "name", neuron="relu-469", measure=True, **typed)
    assert box(shown, "Your name for neuron 2:469") == "better"
    assert box(shown, "Tag") == "question"
    other = drawn("neurons", "name", neuron="relu-12", measure=True, **typed)
    assert box(other, "Your name for neuron 2:12") == ""
    assert box(other, "Tag") == "past"
    old = {"called": "mine", "guess": "words of my own", "says": "two"}
    shown = drawn("neurons", "name", neuron="relu-12", measure=True, **old)
    assert box(shown, "Your name for neuron 2:12") == "mine"
    assert box(shown, "Words, with commas") == "two"
    assert dict(shown.run.state.settings)["of"] == "relu-2-12"


def test_a_name_is_kept_with_its_block_to_which_its_row_leads() -> None:
    shown = drawn("neurons", "name", neuron="relu-12", block="1", called="mine")
    action = shown.pressed("Keep this name")
    assert json.loads(action.settings["names"]) == [["relu", 1, 12, "mine", "past"]]
    full = to_line([Name("relu", 1, n, "x" * 100) for n in range(15)])
    shown = drawn("neurons", "name", neuron="relu-99", called="é" * 120, names=full)
    assert shown.pressed("Keep this name") is None
    assert "no room for another name" in shown.said
    shown = drawn("neurons", "name", neuron="relu-469", block="2", names=LINE)
    click = shown.cells["names-table"].events["row"]
    assert click(1) == OpenNeuron(
        Neuron("gelu", 0, 7), "neurons", "browse", settings={"browse_view": "name"}
    )


def test_the_guess_is_counted_on_sentences_held_back() -> None:
    shown = drawn("neurons", "name", neuron="relu-469", called="<i>verbs</i> | of being",
                  guess="words", says="is, has")  # fmt: skip
    named = words(shown.cells["named"])
    assert named.startswith("“<i>verbs</i> | of being” ")
    (right, guessed), (both, fires) = re.findall(r"(\d+) of the (\d+)", named)
    assert right == both
    assert int(right) <= min(int(guessed), int(fires))
    assert f"{int(fires) - int(both)} missed" in words(shown.cells["mistakes"])


@pytest.mark.parametrize(
    ("page", "part", "old", "new", "value"),
    [("vocabulary", "parts", "word", "parts_word", "3"), ("lab", "hears", "length", "n", "20")],
)
def test_an_old_link_is_understood(page: str, part: str, old: str, new: str, value: str) -> None:
    shown = query(opened(page, part=part, **{old: value}))
    assert shown[new] == value
    assert old not in shown


def test_a_file_is_read_entry_by_entry() -> None:
    """Taken over are its good entries; a byte order mark does no harm."""
    shown = drawn("neurons", "name", names='[["gelu",1,7,"old"]]')
    file = {"control": "Import names", "name": "kept.json"}
    rows = [["relu", 2, 5, "good"], ["/etc", 2, 5, "x"], ["relu", 2, -5, "x"]]
    answer = shown.asked("file", {**file, "text": "\ufeff" + json.dumps(rows)})
    assert answer.action == Set({"names": '[["gelu",1,7,"old"],["relu",2,5,"good"]]'})
    done, *reasons = words(answer.note).split("\n")
    assert done == "1 name imported; 2 left out."
    assert [reason.split(":")[0] for reason in reasons] == ["Entry 2", "Entry 3"]
    many = json.dumps([["relu", 2, n, "x" * 100] for n in range(40)])
    for text, why in (("{", "It is not JSON"), ("x" * 10**6, "longer than"), (many, "no room")):
        answer = shown.asked("file", {**file, "text": text})
        assert answer.action is None
        assert re.search(f"could not be imported.\nkept.json: .*{why}", words(answer.note))
    garbage: list[Any] = [None, [], {}, {"control": "x"}, {**file, "text": 7}, {**file, "name": 0}]
    assert [shown.asked("file", sent) for sent in garbage] == [None] * len(garbage)


def test_what_is_exported_can_be_imported() -> None:
    shown = drawn("neurons", "name", names=LINE)
    file = shown.controls["Export names"]["file"]
    content = base64.b64decode(file["base64"]).decode()
    sent = {"control": "Import names", "name": file["name"], "text": content}
    assert drawn("neurons", "name").asked("file", sent).action == Set({"names": LINE})
    assert "Export names" not in drawn("neurons", "name").controls
