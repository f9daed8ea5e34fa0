"""One thing that is drawn: what the browser gets of it, and what comes of a click on it."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from ffnviz.pictures.payload import pack


@dataclass(frozen=True)
class Cell:
    """Data for one picture of shell.js; nothing of it is drawn on the server.

    Attributes:
        picture: its name in shell.js.
        key: unique on its sheet.
        data: JSON values.
        arrays: that go with them.
        events: by the name of what a person can do with it: takes what the browser sent, which may
            be anything, and gives the action that is asked for; None if that was nothing of ours.
    """

    picture: str
    key: str
    data: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    events: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)

    def packed(self) -> tuple[str, bytes]:
        """What the browser gets, after a digest by which it is known again."""
        packed = pack({"picture": self.picture, **self.data}, self.arrays)
        return hashlib.blake2b(packed, digest_size=9).hexdigest(), packed
