"""Plain values and number arrays as one piece of bytes, unpacked by loading.js."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

ALIGNMENT = 4
TYPES = ("float32", "int32", "float16", "uint16", "uint8")
MANY = 1_024  # entries, of which zeros may be left out
SHARE = 0.25  # of them, from which on they are


def as_order(order: NDArray[np.integer]) -> NDArray[Any]:
    """The same order, (n,), in the smallest of TYPES that holds a number as large as n - 1."""
    return as_numbers(order, len(order))


def as_numbers(numbers: NDArray[np.integer], n: int) -> NDArray[Any]:
    """The same numbers, of any shape, in the smallest of TYPES that holds n - 1."""
    return numbers.astype(np.uint16 if n <= 2**16 else np.int32)


def pack(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Length of the header (uint32), the header as JSON, then the arrays, each 4-byte aligned.

    A long array of half precision that is zero in many places, as ReLU's hidden values are, has a
    bit for each entry, the lowest first, and then the values of those that are not. The header gets
    "arrays": name to dtype, shape, byte offset, and "kept", how many entries are not zero, where
    the others are left out.

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
        if array.dtype == np.float16 and array.size >= MANY:
            # What is not zero has a bit besides its sign's: NumPy compares halves ten times slower.
            filled = (np.ascontiguousarray(array).view(np.uint16) & 0x7FFF) != 0
            kept = int(np.count_nonzero(filled))
            if kept <= (1 - SHARE) * array.size:
                places[name]["kept"] = kept
                body += np.packbits(filled, bitorder="little").tobytes()
                body += bytes(-len(body) % ALIGNMENT)
                array = np.compress(filled.ravel(), array.ravel())
        body += np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes()
        body += bytes(-len(body) % ALIGNMENT)
    text = json.dumps({**header, "arrays": places}).encode()
    text += b" " * (-len(text) % ALIGNMENT)
    return len(text).to_bytes(4, "little") + text + bytes(body)
