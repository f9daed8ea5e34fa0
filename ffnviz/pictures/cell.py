"""One thing that is drawn: what the browser gets of it, and what comes of a click on it."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from ffnviz.pictures.payload import pack


@dataclass(frozen=True)
class Cell:
    """Data for one picture of shell.js; nothing of it is drawn on the server."""

    picture: str  # its name in shell.js
    key: str  # unique on its sheet
    data: Mapping[str, Any]  # JSON values
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)  # that go with them
    # by the name of what a person can do with it: takes what the browser sent, which may be
    # anything, and gives the action that is asked for; None if that was nothing of ours
    events: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)

    def packed(self) -> dict[str, tuple[str, bytes]]:
        """Each array as the browser gets it, after a digest by which it is known again."""
        packed = {name: pack({}, {"": array}) for name, array in self.arrays.items()}
        return {name: (digest_of(each), each) for name, each in packed.items()}


def digest_of(packed: bytes) -> str:
    """What tells some bytes from all others."""
    return hashlib.blake2b(packed, digest_size=9).hexdigest()
