"""Names, sets and descriptions of neurons: read as written, or left out with a reason."""

import gzip
import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
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
from ffnviz.analysis.neurons.names import (
    LONGEST_FILE,
    LONGEST_NAME,
    LONGEST_WORDS,
    Name,
    NamesError,
    NeuronSetError,
    Reading,
    read_names,
    read_set,
    to_file,
    to_line,
    with_name,
    written_set,
)
from ffnviz.analysis.neurons.neuron_index import described
from ffnviz.models.card import NetworkSize

NETWORKS = {"relu": NetworkSize(2, 2_048), "gelu": NetworkSize(1, 8)}
GOOD = Name("relu", 2, 469, "verbs")
TEXTS = st.characters(exclude_categories=["Cs"])
NAMES = st.lists(
    st.builds(
        Name,
        twin=st.just("relu"),
        block=st.integers(1, 2),
        neuron=st.integers(0, 2_047),
        name=st.text(TEXTS, max_size=LONGEST_NAME),
        tag=st.text(TEXTS, max_size=10),
        words=st.text(TEXTS, max_size=LONGEST_WORDS),
    ),
    max_size=6,
    unique_by=lambda name: name.of,
).map(tuple)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=9),
    lambda inner: st.lists(inner, max_size=7) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=30,
)

ROWS = st.lists(
    st.tuples(
        st.sampled_from(["relu", "gelu", "/etc"]) | JSON,
        st.integers(-1, 4) | JSON,
        st.integers(-2, 9) | JSON,
        st.text(st.characters(), max_size=9) | JSON,
    ),
    max_size=4,
)


@given(NAMES)
def test_what_was_written_is_read_back(names: tuple[Name, ...]) -> None:
    assert read_names(to_line(names), NETWORKS) == Reading(names)
    assert read_names(to_file(names), NETWORKS) == Reading(names)


@settings(max_examples=settings().max_examples // 2)
@given(ROWS | JSON)
def test_any_json_gives_names_of_neurons_there_are_or_says_why_not(value: Any) -> None:
    try:
        found = read_names(json.dumps(value), NETWORKS)
    except NamesError:
        assert not isinstance(value, list)
        return
    for name in found.names:
        size = NETWORKS[name.twin]
        assert 1 <= name.block <= size.n_blocks
        assert 0 <= name.neuron < size.d_ff
    to_line(found.names).encode()  # a lone surrogate raises here
    "".join(found.left_out).encode()
    assert not value or found.names or found.left_out


@given(st.text(st.characters()))
def test_any_text_gives_names_or_says_why_not(text: str) -> None:
    try:
        found = read_names(text, NETWORKS)
    except NamesError as error:
        told = str(error)
    else:
        told = "nothing to read" if not text.strip() else "".join(found.left_out)
        told = told or ("an empty list" if json.loads(text) == [] else f"{found.names}")
    assert told.encode()


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (["/etc", 2, 5, "x"], "no network '/etc' here; there is relu, gelu"),
        ({"twin": "swish", "block": 1, "neuron": 0, "name": "x"}, "no network 'swish'"),
        (["relu", 0, 5, "x"], "block is 0; it must be from 1 to 2"),
        (["gelu", 2, 5, "x"], "block is 2; it must be from 1 to 1"),
        (["relu", 2, -1, "x"], "neuron is -1; it must be from 0 to 2047"),
        (["relu", 2, 2_048, "x"], "neuron is 2048"),
        (["relu", 2, 10**400, "x"], "neuron is 1000"),
        (["relu", 2, 5.0, "x"], "neuron is 5.0"),
        (["relu", 2, True, "x"], "neuron is True"),
        (["relu", 2, "5", "x"], "neuron is '5'"),
        (["relu", [2], 5, "x"], "block is [2]"),
        ([["relu"], 2, 5, "x"], "twin is ['relu'], which is not a text"),
        (["relu", 2, 5, 7], "name is 7, which is not a text"),
        (["relu", 2, 5, "a" * 121], "name has 121 characters; 120 are allowed"),
        (["relu", 2, 5, "x", "", "a" * 481], "words has 481 characters"),
        (["relu", 2, 5], "a name has twin, block, neuron, name"),
        (["relu", 2, 5, "x", "", "", "", "", ""], "a name has twin, block, neuron, name"),
        ({"twin": "relu", "block": 1, "neuron": 0}, "a name has twin, block, neuron, name"),
        (dict.fromkeys(("twin", "block", "neuron", "name", "of"), 1), "a name has twin, block"),
        ("relu", "a name has twin, block, neuron, name"),  # four letters are no four fields
        (None, "a name has twin, block, neuron, name"),
    ],
)
def test_a_bad_entry_is_left_out_and_good_ones_are_read(row: object, why: str) -> None:
    found = read_names(json.dumps([["relu", 2, 469, "verbs"], row]), NETWORKS)
    assert found.names == (GOOD,)
    assert len(found.left_out) == 1
    assert found.left_out[0].startswith("Entry 2: ")
    assert why in found.left_out[0]
    assert len(found.left_out[0]) < 200


def test_of_two_names_for_a_neuron_the_later_counts_in_its_own_place() -> None:
    other = Name("relu", 1, 469, "another block's")
    names = with_name((GOOD, other), Name("relu", 2, 469, "nouns"))
    assert [name.name for name in names] == ["another block's", "nouns"]
    rows = [["relu", 2, 469, "verbs"], ["relu", 1, 469, other.name], ["relu", 2, 469, "nouns"]]
    assert read_names(json.dumps(rows), NETWORKS).names == names


def test_what_is_no_list_of_names_says_why() -> None:
    for text, why in (
        ("{", "line 1, column 2"), ('["relu"', "line 1"), ("[" * 100_000, "not a list"),
        ("[" + "9" * 5_000 + "]", "not a list"), ('{"relu": 1}', "not a list"),
        ("7", "not a list"), (" " * (LONGEST_FILE + 1), "longer than 200,000"),
    ):  # fmt: skip
        with pytest.raises(NamesError, match=why):
            read_names(text, NETWORKS)
    for name in ("\ud800", "a\udfffb", "\x00", "\ufffe", "\u202egnp.exe", "e" + "\u0301" * 100):
        found = read_names(json.dumps([["relu", 2, 5, name]]), NETWORKS)
        whole = re.sub("[\ud800-\udfff]", "\ufffd", name)  # half a sign is none
        assert [kept.name for kept in found.names] == [whole]
        assert read_names(to_line(found.names), NETWORKS) == found


SETS = st.dictionaries(
    st.integers(0, 2), st.sets(st.integers(0, 31), min_size=1).map(lambda s: tuple(sorted(s)))
)


@given(SETS)
def test_a_written_set_is_read_again(neurons: dict[int, tuple[int, ...]]) -> None:
    assert read_set(written_set(neurons), n_blocks=3, d_ff=32, block=0) == neurons


def test_a_set_is_read_as_it_is_meant_or_refused_with_the_piece_that_is_none() -> None:
    read: dict[str, dict[int, tuple[int, ...]]] = {
        "17": {1: (17,)},
        " 17 , 3;17\n2:5 ": {1: (3, 5, 17)},
        "1:4-6, 3:0": {0: (4, 5, 6), 2: (0,)},
        "4\N{EN DASH}5": {1: (4, 5)},
        "": {},
        " ,; ": {},
    }
    for text, expected in read.items():
        assert read_set(text, n_blocks=3, d_ff=32, block=1) == expected
    for text, message in (
        ("seven", "“seven” names no neuron. Write 17"),
        ("4:1", "“4:1”: the blocks are 1 to 3"),
        ("0:1", "the blocks are 1 to 3"),
        ("32", "“32”: a block's neurons are 0 to 31"),
        ("1:30-99", "neurons are 0 to 31"),
        ("9-3", "the first of a range comes before the last"),
        ("1,-2", "“-2” names no neuron"),
        ("٣", "names no neuron"),
        ("9" * 5_000, "names no neuron"),
    ):
        with pytest.raises(NeuronSetError, match=message):
            read_set(text, n_blocks=3, d_ff=32, block=1)


@given(st.text(max_size=60))
def test_no_text_raises_anything_else(text: str) -> None:
    with suppress(NeuronSetError):
        found = read_set(text, n_blocks=2, d_ff=8, block=0)
        assert all(0 <= n < 8 for block, ns in found.items() for n in ns if block in (0, 1))


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
    # What its interface gives is one list.
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
def test_a_bad_line_is_named_and_the_rest_is_read(line: str, why: str, tmp_path: Path) -> None:
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
    row = ROW | {"description": "<b>\ud800" + "x" * 5_000, "explanationModelName": "m" * 500}
    (read,) = descriptions_in("It", "\ufeff" + lines(row)).rows  # bounded, and data
    assert read.text.startswith("<b>\ufffdxx")
    assert (len(read.text), len(read.by)) == (1_000, 120)
    assert read.text.endswith("…")
    monkeypatch.setattr(descriptions, "MOST", 2)
    with pytest.raises(DescriptionsError, match="more than 2 descriptions"):
        descriptions_in("It", lines(ROW, ROW, ROW))


TEXT = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=20)
NUMBERS = st.floats(-1, 1)


@settings(max_examples=40)
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


def test_a_file_that_is_written_is_read(tmp_path: Path) -> None:
    rows = [Description("0", 5, "numbers"), Description("1", 7, "verbs", scores=(Score(0.5),))]
    for path in (tmp_path / "a.jsonl", tmp_path / "a.jsonl.gz"):
        assert ffnviz.write_descriptions(rows, path) == 2
        assert ffnviz.read_descriptions(path).rows == tuple(rows)
        assert ffnviz.write_descriptions(rows, str(path)) == 2


def test_names_become_descriptions_and_back() -> None:
    networks = {"relu": NetworkSize(2, 10), "gelu": NetworkSize(2, 10)}
    names = (
        Name("relu", 2, 5, "verbs"),
        Name("relu", 1, 3, "numbers", by="gpt-4o (oai)", score="0.5 recall_alt"),
    )
    others = Name("gelu", 1, 3, "verbs")
    written = descriptions_in("It", to_lines(as_descriptions((*names, others))))
    assert written.of(0, 3)[0].scores == (Score(0.5, "recall_alt"),)
    assert (written.of(0, 3)[0].by, written.of(0, 3)[0].method) == ("gpt-4o", "oai")
    assert as_names(written, networks, "relu").names == (*names, others)
    more = descriptions_in("It", lines(
        ROW | {"layer": "1", "index": 4}, ROW, ROW | {"layer": "6-res-jb"},
        ROW | {"layer": "1", "index": 4, "description": "better", "scores": SCORES},
        {"nothing": 1},
    ))  # fmt: skip
    read = as_names(more, networks, "relu")
    assert [name.name for name in read.names] == ["better"]
    why = [reason.split(":")[0] for reason in read.left_out]
    assert why == ["line 5", "Layer 6, 204", "Layer 6-res-jb, 204"]


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
