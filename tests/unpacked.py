"""What loading.js reads of a payload, read in Python."""

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ffnviz.pictures.payload import ALIGNMENT


def unpacked(packed: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The header of what `pack` made, without its arrays; and these."""
    start = 4 + int.from_bytes(packed[:4], "little")
    header = json.loads(packed[4:start])
    places = header.pop("arrays")
    return header, {name: _array(packed, start, place) for name, place in places.items()}


def _array(packed: bytes, start: int, place: Mapping[str, Any]) -> NDArray[Any]:
    shape, at = place["shape"], start + place["offset"]
    size = math.prod(shape)
    dtype = np.dtype(place["dtype"]).newbyteorder("<")
    if "kept" not in place:
        return np.frombuffer(packed, dtype, size, at).reshape(shape)
    bits = np.frombuffer(packed, np.uint8, -(-size // 8), at)
    whole = np.zeros(size, dtype)
    filled = np.unpackbits(bits, count=size, bitorder="little").astype(bool)
    values = at + len(bits) + -len(bits) % ALIGNMENT
    whole[filled] = np.frombuffer(packed, dtype, place["kept"], values)
    return whole.reshape(shape)
