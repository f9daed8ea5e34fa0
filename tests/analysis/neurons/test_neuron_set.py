"""Sets of neurons as people write them: any text is read or refused in plain words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ffnviz.analysis.neurons.names import NeuronSetError, read_set, written_set

SETS = st.dictionaries(
    st.integers(0, 2), st.sets(st.integers(0, 31), min_size=1).map(lambda s: tuple(sorted(s)))
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
