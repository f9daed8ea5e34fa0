"""Sets of neurons and names as people write them: any text is read or refused in plain words."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ffnviz.analysis.names import (
    LONGEST_FILE,
    Name,
    NamesError,
    read_names,
    to_file,
    to_line,
    with_name,
)
from ffnviz.analysis.neuron_set import NeuronSetError, read_set, written_set

SETS = st.dictionaries(
    st.integers(0, 2), st.sets(st.integers(0, 31), min_size=1).map(lambda s: tuple(sorted(s)))
)
NAMES = st.builds(
    Name,
    st.sampled_from(["relu", "gelu"]),
    st.integers(1, 2),
    st.integers(0, 2_047),
    st.text(max_size=40),
    st.text(max_size=20),
    st.text(max_size=20),
)


@given(SETS)
def test_a_written_set_is_read_again(neurons: dict[int, tuple[int, ...]]) -> None:
    assert read_set(written_set(neurons), n_blocks=3, d_ff=32, block=0) == neurons


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("17", {1: (17,)}),
        (" 17 , 3;17\n2:5 ", {1: (3, 5, 17)}),
        ("1:4-6, 3:0", {0: (4, 5, 6), 2: (0,)}),
        ("4\N{EN DASH}5", {1: (4, 5)}),
        ("", {}),
        (" ,; ", {}),
    ],
)
def test_a_set_is_read_as_a_person_means_it(
    text: str, expected: dict[int, tuple[int, ...]]
) -> None:
    assert read_set(text, n_blocks=3, d_ff=32, block=1) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seven", "“seven” names no neuron. Write 17"),
        ("4:1", "“4:1”: the blocks are 1 to 3"),
        ("0:1", "the blocks are 1 to 3"),
        ("32", "“32”: a block's neurons are 0 to 31"),
        ("1:30-99", "neurons are 0 to 31"),
        ("9-3", "the first of a range comes before the last"),
        ("1,-2", "“-2” names no neuron"),
        ("٣", "names no neuron"),
        ("9" * 5_000, "names no neuron"),
    ],
)
def test_what_is_no_set_is_refused_with_the_piece_that_is_none(text: str, message: str) -> None:
    with pytest.raises(NeuronSetError, match=message):
        read_set(text, n_blocks=3, d_ff=32, block=1)


@given(st.text(max_size=60))
def test_no_text_raises_anything_else(text: str) -> None:
    try:
        found = read_set(text, n_blocks=2, d_ff=8, block=0)
    except NeuronSetError:
        pass
    else:
        assert all(0 <= n < 8 for block, ns in found.items() for n in ns if block in (0, 1))


@given(st.lists(NAMES, max_size=6))
def test_names_are_the_same_after_a_file_and_after_a_url(names: list[Name]) -> None:
    kept: tuple[Name, ...] = ()
    for name in names:
        kept = with_name(kept, name)
    assert len({name.of for name in kept}) == len(kept)
    assert read_names(to_file(kept)) == kept
    assert read_names(to_line(kept)) == kept


def test_a_new_name_takes_the_place_of_the_old_one() -> None:
    old, other = Name("relu", 1, 5, "old"), Name("gelu", 1, 5, "other")
    new = Name("relu", 1, 5, "new", tag="past")
    assert with_name((old, other), new) == (other, new)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ("[" * 9_000, "not JSON"),
        ("3", "not a list"),
        ("[3]", "Entry 1 is not a name"),
        ('[["relu", 1]]', "Entry 1 is not a name"),
        ('[["relu", "1", 5, "x"]]', "Entry 1: block cannot be '1'"),
        ('[["relu", true, 5, "x"]]', "block cannot be True"),
        ('[{"twin": "relu", "colour": "red"}]', "Entry 1 is not a name"),
        (json.dumps([["relu", 1, 5, "x" * 5_000]]), "name is too long"),
        ("x" * (LONGEST_FILE + 1), "longer than"),
    ],
)
def test_a_file_that_holds_no_names_is_refused_in_plain_words(text: str, message: str) -> None:
    with pytest.raises(NamesError, match=message):
        read_names(text)


@given(st.one_of(st.text(max_size=50), st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
).map(json.dumps)))  # fmt: skip
def test_no_file_raises_anything_else(text: str) -> None:
    with suppress(NamesError):
        read_names(text)
