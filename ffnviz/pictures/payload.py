"""Plain values and number arrays as one piece of bytes, unpacked by payload.js.

Streamlit hands raw bytes to a component as they are; as JSON the same numbers would be many times
larger and slower.
"""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

ALIGNMENT = 4
TYPES = ("float32", "int32", "float16", "uint16", "uint8")


def as_order(order: NDArray[np.integer]) -> NDArray[Any]:
    """The same order, (n,), in the smallest of TYPES that holds a number as large as n - 1."""
    return as_numbers(order, len(order))


def as_numbers(numbers: NDArray[np.integer], n: int) -> NDArray[Any]:
    """The same numbers, of any shape, in the smallest of TYPES that holds n - 1."""
    return numbers.astype(np.uint16 if n <= 2**16 else np.int32)


def pack(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Length of the header (uint32), the header as JSON, then the arrays, each 4-byte aligned.

    Args:
        header: JSON values; "arrays" is added: name to dtype, shape and byte offset.
        arrays: of one of TYPES.

    Raises:
        ValueError: on an array of another type.
    """
    places: dict[str, Any] = {}
    body = bytearray()
    for name, array in arrays.items():
        if array.dtype.name not in TYPES:
            raise ValueError(f"{name} is {array.dtype}: it must be one of {', '.join(TYPES)}.")
        places[name] = {
            "dtype": array.dtype.name,
            "shape": list(array.shape),
            "offset": len(body),
        }
        body += np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes()
        body += bytes(-len(body) % ALIGNMENT)
    text = json.dumps({**header, "arrays": places}).encode()
    text += b" " * (-len(text) % ALIGNMENT)
    return len(text).to_bytes(4, "little") + text + bytes(body)


def unpacked(packed: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The header of what `pack` made, and its arrays as they lie there."""
    length = int.from_bytes(packed[:4], "little")
    header = json.loads(packed[4 : 4 + length])
    places = sorted(header["arrays"].items(), key=lambda each: each[1]["offset"])
    ends = [*(place["offset"] for _, place in places[1:]), len(packed) - 4 - length][: len(places)]
    start = 4 + length
    return header, {
        name: packed[start + place["offset"] : start + end]
        for (name, place), end in zip(places, ends, strict=True)
    }
