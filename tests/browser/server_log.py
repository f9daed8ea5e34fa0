"""What a server says while tests use it: an exception there fails them, seen on a page or not."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

import pytest

SHOWN = 4_000  # characters from the first exception on


@dataclass
class ServerLog:
    """Where servers write their errors to, one after the other.

    Attributes:
        path, file: what they write to.
        said: by those that were stopped, until then. What a server that is killed says of its jobs
            is not a fault.
    """

    path: Path
    file: BinaryIO
    said: str = ""
    _read: int = 0

    def starts(self) -> None:
        """A server is about to be started."""
        self._read = self.path.stat().st_size

    def stops(self) -> None:
        """It is about to be stopped."""
        self.said += self.path.read_bytes()[self._read :].decode("utf-8", "replace")


@contextmanager
def server_log() -> Iterator[ServerLog]:
    """A log that is looked through at the end."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "log"
        with path.open("ab") as file:
            log = ServerLog(path, file)
            yield log
    before, exception, after = log.said.partition("Traceback (most recent call last)")
    if exception:
        said = f"{before[-SHOWN // 4 :]}{exception}{after[:SHOWN]}"
        pytest.fail(f"an exception on the server:\n{said}", pytrace=False)
