"""What Python packs is what the browser will read, byte by byte."""

import json
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from ffnviz.pictures.head import Head
from ffnviz.pictures.payload import as_order, pack

ARRAYS = st.dictionaries(
    st.text(min_size=1, max_size=8),
    st.one_of(
        hnp.arrays(np.uint8, hnp.array_shapes(max_dims=2, max_side=9)),
        hnp.arrays(np.uint16, hnp.array_shapes(max_dims=2, max_side=9)),
        hnp.arrays(np.int32, hnp.array_shapes(max_dims=2, max_side=9)),
        hnp.arrays(
            np.float32,
            hnp.array_shapes(max_dims=2, max_side=9),
            elements=st.floats(-1e9, 1e9, width=32),
        ),
        hnp.arrays(
            np.float16,
            hnp.array_shapes(max_dims=2, max_side=9),
            elements=st.floats(-100, 100, width=16),
        ),
    ),
    max_size=4,
)


def unpacked(data: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """As payload.js does it."""
    length = int.from_bytes(data[:4], "little")
    header = json.loads(data[4 : 4 + length])
    arrays = {}
    for name, place in header.pop("arrays").items():
        dtype = np.dtype(place["dtype"]).newbyteorder("<")
        start = 4 + length + place["offset"]
        assert start % 4 == 0, "a typed array in a browser must be aligned"
        count = int(np.prod(place["shape"]))
        arrays[name] = np.frombuffer(data, dtype, count, start).reshape(place["shape"])
    return header, arrays


@given(arrays=ARRAYS, text=st.text())
def test_a_packed_payload_holds_what_went_in(arrays: dict[str, NDArray[Any]], text: str) -> None:
    header, found = unpacked(pack({"text": text, "n": 3}, arrays))
    assert header == {"text": text, "n": 3}
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)


def test_an_array_of_another_type_is_refused() -> None:
    with pytest.raises(ValueError, match=r"hidden is float64: it must be one of float32"):
        pack({}, {"hidden": np.ones(3, np.float64)})


@pytest.mark.skipif(sys.byteorder != "little", reason="the arrays would be swapped on the way")
def test_half_precision_keeps_a_relu_zero_exact() -> None:
    values = np.array([0.0, 1e-3, -2.5], np.float32)
    _, found = unpacked(pack({}, {"v": values.astype(np.float16)}))
    assert found["v"][0] == 0
    np.testing.assert_allclose(found["v"], values, rtol=1e-3)


@pytest.mark.parametrize("d_ff", [8, 65_536, 65_537, 131_072])
def test_an_order_of_any_layer_arrives_as_it_is(d_ff: int) -> None:
    order = np.arange(d_ff)[::-1]
    _, found = unpacked(pack({}, {"order": as_order(order)}))
    np.testing.assert_array_equal(found["order"], order)


def test_a_head_tells_plain_text_from_numbers_and_typed_words() -> None:
    head = Head(["a ", ("7%", "number"), (" <b>", "typed")], "ffn", "relu", under=["b"])
    assert head.to_json() == {
        "spans": [["a ", "plain"], ["7%", "number"], [" <b>", "typed"]],
        "note": "ffn",
        "accent": "relu",
        "besides": "",
        "under": [["b", "plain"]],
    }
