"""What Python packs is what the browser will read, byte by byte."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from ffnviz.pictures.payload import as_order, pack
from tests.unpacked import unpacked

SHAPES = hnp.array_shapes(max_dims=2, max_side=9)
ARRAYS = st.dictionaries(
    st.text(min_size=1, max_size=8),
    st.one_of(
        hnp.arrays(st.sampled_from([np.uint8, np.uint16, np.int32]), SHAPES),
        hnp.arrays(np.float32, SHAPES, elements=st.floats(-1e9, 1e9, width=32)),
        hnp.arrays(np.float16, SHAPES, elements=st.floats(-100, 100, width=16)),
    ),
    max_size=4,
)
HALVES = hnp.arrays(
    np.float16,
    st.tuples(st.integers(16, 40), st.sampled_from([61, 64, 127])),
    elements=st.one_of(st.just(0.0), st.floats(-100, 100, width=16)),
    fill=st.just(0.0),
)


@given(arrays=ARRAYS, text=st.text())
def test_a_packed_payload_holds_what_went_in(arrays: dict[str, NDArray[Any]], text: str) -> None:
    packed = pack({"text": text, "n": 3}, arrays)
    start = 4 + int.from_bytes(packed[:4], "little")
    places = json.loads(packed[4:start])["arrays"].values()
    # A typed array in a browser must be aligned.
    assert all((start + place["offset"]) % 4 == 0 for place in places)
    header, found = unpacked(packed)
    assert header == {"text": text, "n": 3}
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)


@given(array=HALVES)
def test_zeros_that_are_left_out_are_there_again(array: NDArray[np.float16]) -> None:
    _, found = unpacked(pack({}, {"before": np.ones(3, np.uint8), "": array}))
    np.testing.assert_array_equal(found[""], array)


def test_a_hidden_layer_that_mostly_sleeps_is_short_and_other_types_are_refused() -> None:
    hidden = np.zeros((24, 2_048), np.float16)
    hidden[:, :100] = 1 / 3
    awake = 24 * 100
    assert len(pack({}, {"": hidden})) < hidden.size / 8 + 2 * awake + 200
    assert len(pack({}, {"": hidden + 1})) >= hidden.nbytes
    with pytest.raises(ValueError, match=r"hidden is float64: it must be one of float32"):
        pack({}, {"hidden": np.ones(3, np.float64)})


@pytest.mark.parametrize("d_ff", [8, 65_536, 65_537, 131_072])
def test_an_order_of_any_layer_arrives_as_it_is(d_ff: int) -> None:
    order = np.arange(d_ff)[::-1]
    _, found = unpacked(pack({}, {"order": as_order(order)}))
    np.testing.assert_array_equal(found["order"], order)
