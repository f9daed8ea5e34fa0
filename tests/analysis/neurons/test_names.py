"""Names kept for neurons: read back as written, and anything else is left out with a reason."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ffnviz.analysis.neurons.names import (
    LONGEST_FILE,
    LONGEST_NAME,
    LONGEST_WORDS,
    Name,
    NamesError,
    Reading,
    read_names,
    to_file,
    to_line,
    with_name,
)
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
        (["relu", 3, 5, "x"], "block is 3"),
        (["gelu", 2, 5, "x"], "block is 2; it must be from 1 to 1"),
        (["relu", 2, -1, "x"], "neuron is -1; it must be from 0 to 2047"),
        (["relu", 2, 2_048, "x"], "neuron is 2048"),
        (["relu", 2, 10**400, "x"], "neuron is 1000"),
        (["relu", 2, 5.0, "x"], "neuron is 5.0"),
        (["relu", 2, True, "x"], "neuron is True"),
        (["relu", 2, "5", "x"], "neuron is '5'"),
        (["relu", 2, None, "x"], "neuron is None"),
        (["relu", [2], 5, "x"], "block is [2]"),
        ([["relu"], 2, 5, "x"], "twin is ['relu'], which is not a text"),
        (["relu", 2, 5, 7], "name is 7, which is not a text"),
        (["relu", 2, 5, "a" * 121], "name has 121 characters; 120 are allowed"),
        (["relu", 2, 5, "x", "", "a" * 481], "words has 481 characters"),
        (["relu", 2, 5], "a name has twin, block, neuron, name"),
        (["relu", 2, 5, "x", "", "", "", "", ""], "a name has twin, block, neuron, name"),
        ({"twin": "relu", "block": 1, "neuron": 0}, "a name has twin, block, neuron, name"),
        (
            {"twin": "relu", "block": 1, "neuron": 0, "name": "x", "of": 1},
            "a name has twin, block, neuron, name",
        ),
        ("relu", "a name has twin, block, neuron, name"),
        (None, "a name has twin, block, neuron, name"),
    ],
)
def test_a_bad_entry_is_left_out_with_its_number_and_the_good_ones_are_read(
    row: object, why: str
) -> None:
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


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "line 1, column 2"),
        ('["relu"', "line 1"),
        ("[" * 100_000, "not a list"),
        ("[" + "9" * 5_000 + "]", "not a list"),
        ('{"relu": 1}', "not a list"),
        ("7", "not a list"),
        (" " * (LONGEST_FILE + 1), "longer than 200,000"),
    ],
)
def test_what_is_no_list_of_names_says_why(text: str, why: str) -> None:
    with pytest.raises(NamesError, match=why):
        read_names(text, NETWORKS)


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("\ud800", "\ufffd"),
        ("a\udfffb", "a\ufffdb"),
        ("\x00", "\x00"),
        ("\ufffe", "\ufffe"),
        ("\u202egnp.exe", "\u202egnp.exe"),
        ("e" + "\u0301" * 100, "e" + "\u0301" * 100),
    ],
)
def test_any_sign_may_stand_in_a_name_but_half_of_one(name: str, read: str) -> None:
    found = read_names(json.dumps([["relu", 2, 5, name]]), NETWORKS)
    assert [kept.name for kept in found.names] == [read]
    assert read_names(to_line(found.names), NETWORKS) == found
