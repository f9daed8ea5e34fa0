"""One picture on a sheet: what the browser gets of it, and what a click on it asks for."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from ffnviz.pictures.payload import pack


@dataclass(frozen=True)
class Cell:
    """The data of one picture of shell.js, which draws it in the browser."""

    picture: str  # its name in shell.js
    key: str  # unique on its sheet
    data: Mapping[str, Any]  # JSON values
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)  # that go with them
    # what a person can do with it, by name: a function of what the browser sent, which may be
    # anything, to the action that it asks for, or to None if our pictures send no such value
    events: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)

    def packed(self) -> dict[str, tuple[str, bytes]]:
        """The digest and the bytes of each array, as the browser gets it."""
        packed = {name: pack({}, {"": array}) for name, array in self.arrays.items()}
        return {name: (digest_of(content), content) for name, content in packed.items()}


def digest_of(content: bytes) -> str:
    """A short digest, the same for the same bytes."""
    return hashlib.blake2b(content, digest_size=9).hexdigest()
