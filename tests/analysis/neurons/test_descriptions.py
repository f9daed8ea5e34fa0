"""Descriptions by others: files as Neuronpedia exports them, and whatever else a file may hold."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ffnviz
from ffnviz import Description, Descriptions
from ffnviz.analysis.neurons import descriptions
from ffnviz.analysis.neurons.descriptions import (
    DescriptionsError,
    Score,
    as_descriptions,
    as_names,
    descriptions_in,
    to_lines,
)
from ffnviz.analysis.neurons.index_file import INDEXES
from ffnviz.analysis.neurons.names import Name
from ffnviz.analysis.neurons.neuron_index import described
from ffnviz.models.card import NetworkSize

# As the exporter writes a row of its table Explanation, and the feature's page its scores.
ROW = {
    "id": "clx0", "modelId": "gpt2-small", "layer": "6", "index": "204", "authorId": "clk",
    "description": " time-related  phrases", "embedding": "[0.0, 1.0]",
    "typeName": "oai_token-act-pair", "explanationModelName": "gpt-4o-mini",
    "umap_x": 0.5, "umap_y": 0.5, "umap_cluster": 3, "umap_log_feature_sparsity": -2.1,
}  # fmt: skip
SCORES = [
    {"value": 0.25, "explanationScoreTypeName": "recall_alt", "explanationScoreModelName": "o3"},
    {"value": 0.75, "explanationScoreTypeName": "eleuther_fuzz", "jsonDetails": "[]"},
    {"value": None}, {"value": "high"}, 7,
]  # fmt: skip


def lines(*rows: object) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_a_line_of_an_export_is_read_as_it_is(tmp_path: Path) -> None:
    scored = ROW | {"description": "numbers", "scores": SCORES}
    sae = ROW | {"layer": "6-res-jb", "index": 3}
    (tmp_path / "batch-0.jsonl.gz").write_bytes(gzip.compress(lines(ROW, scored).encode()))
    (tmp_path / "batch-1.jsonl").write_text(lines(sae))
    (tmp_path / "model.txt").write_text("not this")
    read = ffnviz.read_descriptions(tmp_path)
    assert read.n_left_out == 0
    best, plain = read.of(6, 204)
    assert (plain.text, plain.model, plain.block) == ("time-related phrases", "gpt2-small", 6)
    assert plain.who == "gpt-4o-mini (oai_token-act-pair)"
    assert plain.best is None
    assert best.text == "numbers"
    assert best.scores == (Score(0.25, "recall_alt", "o3"), Score(0.75, "eleuther_fuzz"))
    assert best.best == Score(0.75, "eleuther_fuzz")
    (feature,) = read.in_layer("6-res-jb", 3)
    assert feature.block is None
    assert read.of(6, 3) == ()


def test_what_its_interface_gives_is_read_too(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps([ROW, {"layer": 1}, ROW], indent=1))
    read = ffnviz.read_descriptions(tmp_path / "a.json")
    assert len(read.of(6, 204)) == 2
    assert read.left_out == ("a.json, entry 2: it has no index and no description.",)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "it is not JSON"),
        ("[" * 5_000, "it is not JSON"),
        ("7", "it is not an object"),
        (lines(ROW | {"description": ""}), "it has no description"),
        (lines(ROW | {"description": ["x"]}), "its description is not a text"),
        (lines({"description": "x"}), "it has no layer and no index"),
        (lines(ROW | {"index": "-3"}), "its index is not the number"),
        (lines(ROW | {"index": "٣"}), "its index is not the number"),
        (lines(ROW | {"index": 1.5}), "its index is not the number"),
        (lines(ROW | {"index": "9" * 5_000}), "its index is not the number"),
        (json.dumps("x" * 2**20), "it is too long"),
    ],
)
def test_a_bad_line_is_named_by_its_number_and_the_rest_is_read(
    line: str, why: str, tmp_path: Path
) -> None:
    path = tmp_path / "some.jsonl"
    path.write_text(f"{lines(ROW)}\n{line.strip()}\n{lines(ROW)}", encoding="utf-8")
    read = ffnviz.read_descriptions(path)
    assert len(read.rows) == 2
    assert read.n_left_out == 1
    assert read.left_out[0].startswith(f"some.jsonl, line 3: {why}")


def test_a_file_without_any_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.jsonl").write_text("{}\n")
    with pytest.raises(ValueError, match="has no descriptions of neurons"):
        ffnviz.read_descriptions(tmp_path / "a.jsonl")
    (tmp_path / "a.jsonl.gz").write_text("no gzip")
    with pytest.raises(DescriptionsError, match="cannot be decompressed"):
        ffnviz.read_descriptions(tmp_path / "a.jsonl.gz")
    with pytest.raises(OSError, match="missing"):
        ffnviz.read_descriptions(tmp_path / "missing.jsonl")
    monkeypatch.setattr(descriptions, "MOST", 2)
    with pytest.raises(DescriptionsError, match="more than 2 descriptions"):
        descriptions_in("It", lines(ROW, ROW, ROW))


def test_texts_are_bounded_and_are_data() -> None:
    row = ROW | {"description": "<b>\ud800" + "x" * 5_000, "explanationModelName": "m" * 500}
    (read,) = descriptions_in("It", "\ufeff" + lines(row)).rows
    assert read.text.startswith("<b>\ufffdxx")
    assert (len(read.text), len(read.by)) == (1_000, 120)
    assert read.text.endswith("…")


TEXT = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=20)
NUMBERS = st.floats(-1, 1)


@given(st.lists(st.builds(
    Description, st.integers(0, 99).map(str) | st.just("6-res-jb"), st.integers(0, 10**6), TEXT,
    TEXT, TEXT, method=TEXT,
    scores=st.lists(st.builds(Score, NUMBERS, TEXT, TEXT), max_size=3).map(tuple),
), min_size=1, max_size=5))  # fmt: skip
def test_what_is_written_is_read(rows: list[Description]) -> None:
    text = to_lines(rows)
    assert descriptions_in("It", text).rows == tuple(rows)
    for line in text.splitlines():
        told: dict[str, Any] = json.loads(line)
        assert {"modelId", "layer", "index", "description"} <= set(told) <= set(ROW) | {"scores"}
        assert isinstance(told["index"], str)


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_a_file_that_is_written_is_read(name: str, tmp_path: Path) -> None:
    rows = [Description("0", 5, "numbers"), Description("1", 7, "verbs", scores=(Score(0.5),))]
    assert ffnviz.write_descriptions(rows, tmp_path / name) == 2
    read = ffnviz.read_descriptions(tmp_path / name)
    assert read.rows == tuple(rows)
    assert ffnviz.write_descriptions(read, str(tmp_path / name)) == 2


def test_names_become_descriptions_and_back() -> None:
    networks = {"relu": NetworkSize(2, 10)}
    names = (
        Name("relu", 2, 5, "verbs"),
        Name("relu", 1, 3, "numbers", by="gpt-4o (oai)", score="0.5 recall_alt"),
    )
    written = descriptions_in("It", to_lines(as_descriptions(names)))
    assert written.of(0, 3)[0].scores == (Score(0.5, "recall_alt"),)
    assert (written.of(0, 3)[0].by, written.of(0, 3)[0].method) == ("gpt-4o", "oai")
    assert as_names(written, networks, "relu").names == names
    more = descriptions_in("It", lines(
        ROW | {"layer": "1", "index": 4}, ROW, ROW | {"layer": "6-res-jb"},
        ROW | {"layer": "1", "index": 4, "description": "better", "scores": SCORES},
        {"nothing": 1},
    ))  # fmt: skip
    read = as_names(more, networks, "relu")
    assert [name.name for name in read.names] == ["better"]
    assert [reason.split(":")[0] for reason in read.left_out] == [
        "line 5", "Layer 6, 204", "Layer 6-res-jb, 204",
    ]  # fmt: skip


def test_each_twin_gets_its_own_name_back() -> None:
    networks = {"relu": NetworkSize(2, 10), "gelu": NetworkSize(2, 10)}
    names = (Name("relu", 1, 3, "numbers"), Name("gelu", 1, 3, "verbs"))
    written = descriptions_in("It", to_lines(as_descriptions(names)))
    assert as_names(written, networks, "relu").names == names


def test_ours_say_the_tag_its_f1_and_the_words() -> None:
    model, index = ffnviz.load("relu"), ffnviz.read_index(INDEXES / "relu.npz")
    rows = Descriptions(tuple(described(index, model)))
    table = index.to_pandas()
    (row,) = rows.of(1, 469)
    assert row.scores[0].value == pytest.approx(table.tag_f1[1, 469])
    assert table.tag[1, 469] in row.text
    assert "words: " in row.text
    fired = {(block, neuron) for (block, neuron), n in table.tokens.items() if n}
    assert {(row.block, row.index) for row in rows.rows} == fired
