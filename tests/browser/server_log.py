"""What a server says while tests use it: an exception there fails them, seen on a page or not."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

import pytest

SHOWN = 4_000  # characters from the first exception on


@contextmanager
def server_log() -> Iterator[BinaryIO]:
    """Where a server writes its errors to; looked through once it has ended."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "log"
        with file.open("wb") as log:
            yield log
        text = file.read_text(encoding="utf-8", errors="replace")
        before, exception, after = text.partition("Traceback (most recent call last)")
        if exception:
            said = f"{before[-SHOWN // 4 :]}{exception}{after[:SHOWN]}"
            pytest.fail(f"an exception on the server:\n{said}", pytrace=False)
