"""Neurons' parts as functions: their pictures and numbers, and what a click asks for."""

import base64
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from ffnviz.analysis.neurons.index_file import INDEXES, read_index
from ffnviz.analysis.neurons.memory import similar, written_words
from ffnviz.parts.neurons import capacity
from ffnviz.parts.neurons.activations import tag_counts
from ffnviz.parts.neurons.capacity import Capacity, Stored
from ffnviz.parts.neurons.superposition import (
    DIMENSIONS,
    FEATURES,
    PERCENT,
    Packed,
    kept,
    loss_of,
    pack,
    the_counts,
    the_directions,
)
from ffnviz.parts.sheet import Measured, Measurement, cells_of
from ffnviz.state.actions import ChooseNeuron, ChooseToken, OpenNeuron, Set
from ffnviz.state.settings import Values
from tests.parts.sheets import Drawn, drawn, words
from tests.parts.test_sparsity_sheets import percents

POUNDS = "It cost forty pounds."


def test_a_click_meets_a_relative_or_chooses_a_token() -> None:
    similar = drawn("neurons", "writes", neuron="relu-469").cells["similar-neurons"]
    partners = drawn("neurons", "values", neuron="relu-469").cells["partners-of-neuron"]
    for cell in (similar, partners):
        action = cell.events["point"](1_488)
        assert isinstance(action, ChooseNeuron)
        assert action.neuron.index == 1_488
    cell = drawn("neurons", "wakes", neuron="relu-469").cells["neuron-values"]
    assert cell.events["point"](2) == ChooseToken(2)
    assert cell.events["point"](99) is None


def test_its_tags_and_positions_are_counted_on_many_sentences() -> None:
    cells = drawn("neurons", "probes", text=POUNDS, neuron="relu-469").cells
    index = read_index(INDEXES / "relu.npz", 2_048, 2)
    counts = tag_counts(index, 1, 469)
    beyond = [count for count in counts if count.corrected < 0.05]
    tags = words(cells["tags-of-neuron"])
    assert f"with {len(beyond)} of {len(counts)} tags" in tags
    assert beyond[0].tag in tags
    fired = index.blocks[1].by_position[:, 469].sum() / index.n_tokens
    said = percents(words(cells["positions-of-neuron"]))
    assert said[0] == pytest.approx(100 * fired, abs=0.5)


def test_what_it_writes_and_who_is_like_it_are_named() -> None:
    part = drawn("neurons", "writes", text=POUNDS, neuron="relu-469")
    promoted, suppressed = written_words(part.run.model, 1, 469)
    writes = words(part.cells["written-words"])
    assert f"“{promoted.words[0]}” likelier and “{suppressed.words[0]}” less likely" in writes
    by_key, by_value = similar(part.run.model, 1, 469)
    alike = words(part.cells["similar-neurons"])
    assert f"that of neuron 2:{by_key.neurons[0]} " in alike
    assert f"that of neuron 2:{by_value.neurons[0]} (" in alike


def table(sort: str = "often", find: str = "") -> list[list[Any]]:
    shown = drawn("neurons", "browse", sort=sort, find=find)
    rows: list[list[Any]] = shown.cells["all-neurons"].data["rows"]
    return rows


def neurons(sort: str = "often", find: str = "") -> list[int]:
    return [row[0] for row in table(sort, find)]


def test_the_table_is_ordered_and_searched_as_was_chosen() -> None:
    fired = read_index(INDEXES / "relu.npz", 2_048, 2).blocks[1].fired
    often = neurons()
    assert len(often) == 2_048
    assert (fired[often[:-1]] >= fired[often[1:]]).all()
    rare = [n for n in neurons(sort="rare") if fired[n]]
    assert (fired[rare[:-1]] <= fired[rare[1:]]).all()
    assert neurons(sort="number") == list(range(2_048))
    rows = table()
    tag = next(row[4] for row in rows if row[4])
    found = [row for row in rows if tag in row[4].casefold() or tag in row[1].casefold()]
    assert 0 < len(found) < len(rows)
    assert table(find=f" {tag.upper()} ") == found
    assert neurons(find=".*[") == []


def test_it_says_which_index_is_open_and_a_click_on_a_row_meets_its_neuron() -> None:
    every = drawn("neurons", "browse")
    assert "7,787 tokens of 938 sentences of our probe set; a token activates" in every.said
    assert "2,048 of 2,048 neurons, the first 500 in the table." in every.said
    few = drawn("neurons", "browse", find="Negation")
    cell = few.cells["all-neurons"]
    rows = cell.data["rows"]
    assert words(cell).startswith(f"{len(rows)} of 2,048 neurons")
    assert cell.events["row"](0) == OpenNeuron(few.run.neuron(rows[0][0]), "neurons", "wakes")
    assert cell.events["row"](len(rows)) is None


@pytest.mark.parametrize(("twin", "last"), [("relu", "max"), ("gelu", "min")])
def test_its_numbers_are_the_indexs(twin: str, last: str) -> None:
    index = read_index(INDEXES / f"{twin}.npz", 2_048, 2)
    counts = index.blocks[1]
    cell = drawn("neurons", "browse", twin=twin, sort="number").cells["all-neurons"]
    row = dict(zip(cell.data["columns"], cell.data["rows"][469], strict=True))
    assert row["% of tokens"] == pytest.approx(100 * counts.fired[469] / index.n_tokens, abs=0.006)
    assert row["mean"] == pytest.approx(float(counts.mean[469]), abs=0.006)
    assert cell.data["columns"][-1] == last
    of_all = {"max": counts.most, "min": counts.least}[last]
    assert row[last] == pytest.approx(float(of_all[469]), abs=0.006)


NUMBERS = ("neuron", "output", "logit")


def worked(number: str, twin: str = "relu", component: str = "7") -> Drawn:
    return drawn("neurons", "working", text=POUNDS, twin=twin, token="3", neuron=f"{twin}-40",
                 number=number, component=component, logit_word="2")  # fmt: skip


@pytest.mark.parametrize("twin", ["relu", "gelu"])
@pytest.mark.parametrize("number", NUMBERS)
def test_the_snippet_and_the_file_give_the_number_again(
    twin: str, number: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sheet = worked(number, twin)
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


def test_a_number_component_and_word_are_chosen_and_garbage_asks_for_nothing() -> None:
    neuron, output, logit = (worked(number) for number in NUMBERS)
    assert set(neuron.controls).isdisjoint({"Component", "Word"})
    assert output.moved("Component", "3") == (Set({"component": "3"}), True)
    assert output.moved("Component", "9999") == (Set({"component": "511"}), True)
    assert output.moved("number", 2) == (Set({"number": "logit"}), True)
    assert output.moved("Neuron", "12") == (ChooseNeuron(output.run.neuron(12)), True)
    word = logit.controls["Word"]
    assert (word["stop"], len(word["options"])) == (2, 10)
    assert f"The logit of {word['options'][2]} at" in logit.said
    assert logit.moved("logit_word", 4) == (Set({"logit_word": "4"}), True)
    for garbage in (None, "", "x", -1, 10, 1.5, True):
        assert output.moved("Component", garbage) is None
        assert logit.moved("logit_word", garbage) is None
        assert neuron.moved("number", garbage) is None


SENTENCE = "The cat sat on the mat."


def memories(**query: str) -> Drawn:
    return drawn(
        "neurons", "writes", True, text=SENTENCE, token="3", writes_view="memories", **query
    )


def test_the_list_has_both_memories_and_only_the_changed_words_key_moves() -> None:
    table = memories(block="1").cells["memories"]
    lengths = [each[5] for each in table.data["rows"]]
    assert lengths == sorted(lengths, reverse=True)
    assert {each[0] for each in table.data["rows"]} == {"attention", "FFN"}

    part = memories(block="1", changed="2", instead="dog")
    (panel,) = part.cells["keys-moved"].data["panels"]
    moved = panel["values"]
    assert panel["names"] == ["The", "cat", "sat", "on", "the", "mat", ".",
                                      "FFN: 2,048 keys"]  # fmt: skip
    assert moved[1] > 10
    assert max(*moved[:1], *moved[2:]) < 0.01
    later = memories(block="2", changed="2", instead="dog").cells["keys-moved"]
    assert later.data["panels"][0]["values"][2] > 1
    for word in ("", "antidisestablishmentarianism", "<b>&amp;"):
        assert "keys-moved" in memories(changed="2", instead=word).cells

    alone = drawn("neurons", "writes", text="cat", writes_view="memories")
    assert "no other word to change" in alone.said


def test_it_says_how_many_are_found_again_and_up_to_where_outputs_are_exact() -> None:
    part = drawn("neurons", "plant", measure=False, text="The cat sat.", plant_view="many")
    (measurement,) = capacity.sheet(part.run, Values()).rows
    assert isinstance(measurement, Measurement)
    counts = np.array([1, 512, 2048])
    result = Capacity(
        counts,
        Stored(np.array([1, 1, 0.69]), np.array([0, 1e-9, 0.5]), 2040),
        Stored(np.array([1, 0.5, 0.03]), np.array([0, 0.2, 0.7]), 512),
        2048,
    )
    made = measurement.after(Measured(measurement.setup, result, "12:00:00", "a CPU"))
    cells = {cell.key: cell for cell in cells_of(made)}
    assert "With block 2's hidden values, 69% of 2,048 random pairs are found again" in words(
        cells["capacity"]
    )
    assert "Without φ, up to 1: they span 512." in words(cells["capacity-error"])


@pytest.fixture(scope="module")
def packed() -> Packed:
    return pack(lambda _: None, steps=600)


def test_rare_features_share_dimensions_on_the_corners_of_a_pentagon(packed: Packed) -> None:
    counts = [kept(weight).sum() for weight in packed]
    assert counts[0] == DIMENSIONS
    assert counts[-1] == FEATURES
    assert counts == sorted(counts)
    weight = packed[-1]
    angles = np.sort(np.degrees(np.arctan2(weight[1], weight[0])))
    gaps = np.diff([*angles, angles[0] + 360])
    assert gaps == pytest.approx([72] * 5, abs=15)
    run = drawn("neurons", "wakes", measure=False, activations_view="packed").run
    said = words(the_directions(run, packed, PERCENT.index(2)))
    assert said.startswith("Features that are active 2% of the time: 5 of 5 share 2 dimensions.")
    said = words(the_counts(run, packed, 0))
    assert "If always active, 2 fit; if active 2% of the time, 5" in said


def test_the_loss_is_that_of_a_loop() -> None:
    weight, bias = torch.randn(1, DIMENSIONS, FEATURES), torch.randn(1, 1, FEATURES)
    x = torch.rand(1, 3, FEATURES)
    total = 0.0
    for sample in x[0]:
        hidden = weight[0] @ sample
        out = torch.relu(weight[0].T @ hidden + bias[0, 0])
        total += sum(0.9**i * float(sample[i] - out[i]) ** 2 for i in range(FEATURES))
    assert float(loss_of(weight, bias, x)[0]) == pytest.approx(total / 15, rel=1e-5)
